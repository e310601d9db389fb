"""Workflows in files: loaded by reference, carried on only as they were, or as somebody accepted them."""

import json
import os
from pathlib import Path

import pytest

from runwright import Engine, RecoveryRequiredError, Surroundings
from runwright.engine.errors import NameUnsaved, PreflightError, WorkflowNotFound
from runwright.engine.results import Adopted, Applied

FLOW = '''
"""A flow in a file."""
from runwright import Context, Workflow, JsonObject

flow = Workflow("flow")

@flow.action(recovery="manual")
def send(ctx: Context[JsonObject]) -> int:
    raise ConnectionError

@flow.compute
def add(ctx: Context[JsonObject]) -> int:
    return ctx.output(send) + {addend}

flow.entry(send)
flow.then(send, add)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one flow."""
    folder = tmp_path / "project"
    (folder / ".runwright").mkdir(parents=True)
    (folder / "flow.py").write_text(FLOW.format(addend=1))
    return folder


def parked_run(home: Path, project: Path) -> str:
    """A run that stopped at its first node, with its effect resolved while nobody drives it."""
    with Engine.open(home) as engine:
        outcome = engine.run("flow.py", {}, surroundings=Surroundings(cwd=project))
        assert outcome.status == "ambiguous"
        engine.pause(outcome.run_id)
        (effect,) = engine.effects(outcome.run_id)
        engine.resolve(effect.effect, "done", result=1, reason="asked")
        return outcome.run_id


def test_a_file_is_carried_on_by_another_engine(tmp_path: Path, project: Path) -> None:
    """Whoever resumes a run loads its workflow from the file it was started from."""
    run_id = parked_run(tmp_path / "state", project)
    with Engine.open(tmp_path / "state") as engine:
        assert isinstance(engine.resume(run_id), Applied)
        assert engine.wait(run_id).output == 2


def test_a_changed_file_is_refused_until_accepted(tmp_path: Path, project: Path) -> None:
    """A resume names the files that changed, writes nothing, and goes on with them once they are accepted."""
    run_id = parked_run(tmp_path / "state", project)
    (project / "flow.py").write_text(FLOW.format(addend=10))
    with Engine.open(tmp_path / "state") as engine:
        before = len(engine.events(run_id))
        with pytest.raises(RecoveryRequiredError) as required:
            engine.resume(run_id)
        assert required.value.code == "source_changed"
        assert required.value.evidence["files"] == ["flow.py"]
        assert len(engine.events(run_id)) == before
        engine.resume(run_id, accept_source=True)
        assert engine.wait(run_id).output == 11
        assert [event.type for event in engine.events(run_id, types=["run.source_accepted"])] == ["run.source_accepted"]


def test_a_change_that_drops_the_current_node_is_refused(tmp_path: Path, project: Path) -> None:
    """Accepting does not help where the node that the run stands at is gone."""
    run_id = parked_run(tmp_path / "state", project)
    (project / "flow.py").write_text(FLOW.format(addend=1).replace("def send", "def post").replace("send", "post"))
    with Engine.open(tmp_path / "state") as engine, pytest.raises(RecoveryRequiredError) as required:
        engine.resume(run_id, accept_source=True)
    assert required.value.code == "source_changed"
    assert required.value.evidence["problem"] == "vanished"


def test_a_missing_file_is_a_changed_source(tmp_path: Path, project: Path) -> None:
    """A started run whose file is gone cannot go on, and its reason in the log is not replaced."""
    run_id = parked_run(tmp_path / "state", project)
    (project / "flow.py").unlink()
    with Engine.open(tmp_path / "state") as engine:
        with pytest.raises(RecoveryRequiredError) as required:
            engine.resume(run_id)
        assert required.value.code == "source_changed"
        assert required.value.evidence["files"] == ["flow.py"]


def test_resume_drives_a_queued_run_without_a_command(tmp_path: Path, project: Path) -> None:
    """A queued run that nobody drives is only driven: nothing is written for the resume itself."""
    (project / "flow.py").write_text(FLOW.format(addend=1).replace("raise ConnectionError", "return 1"))
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start("flow.py", {}, surroundings=Surroundings(cwd=project), drive=False)
        assert engine.wait(run_id, until="waiting").status == "queued"
    with Engine.open(tmp_path / "state") as engine:
        assert engine.wait(run_id, until="waiting").status == "queued"
        assert isinstance(engine.resume(run_id), Adopted)
        assert engine.wait(run_id).output == 2
        assert engine.events(run_id, types=["run.resumed"]) == []


def test_a_queued_run_with_another_source_is_refused(tmp_path: Path, project: Path) -> None:
    """Before its start a run whose file has changed is refused by name, and stays queued."""
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.start("flow.py", {}, surroundings=Surroundings(cwd=project), drive=False)
    (project / "flow.py").write_text(FLOW.format(addend=5))
    with Engine.open(tmp_path / "state") as engine:
        with pytest.raises(RecoveryRequiredError) as required:
            engine.resume(run_id)
        assert required.value.code == "source_changed"
        assert engine.status(run_id).status == "queued"
    (project / "flow.py").unlink()
    with Engine.open(tmp_path / "state") as engine:
        with pytest.raises(WorkflowNotFound):
            engine.resume(run_id)
        engine.cancel(run_id)
        assert engine.status(run_id).status == "cancelled"


def test_a_repeat_with_its_key_needs_no_file(tmp_path: Path, project: Path) -> None:
    """What was accepted is known by its receipt, also to the next engine; whatever else is asked is refused."""
    (project / "flow.py").write_text(FLOW.format(addend=1).replace("raise ConnectionError", "return 1"))
    here = Surroundings(cwd=project)
    with Engine.open(tmp_path / "state") as engine:
        first = engine.start("flow.py", {"a": 1}, key="k", surroundings=here)
        assert engine.wait(first).output == 2
        again = engine.restart(first, key="r")
        engine.wait(again)
    (project / "flow.py").unlink()
    with Engine.open(tmp_path / "state") as engine:
        before = engine.reader.head()
        assert engine.start("flow.py", {"a": 1}, key="k", surroundings=here) == first
        assert engine.restart(first, key="r") == again
        with pytest.raises(PreflightError):
            engine.start("flow.py", {"a": 2}, key="k", surroundings=here)
        with pytest.raises(PreflightError):
            engine.start("flow.py", {"a": 1}, key="new", surroundings=here)
        with pytest.raises(PreflightError):
            engine.start("other.py", {"a": 1}, key="k", surroundings=here)
        with pytest.raises(PreflightError):
            engine.restart(again, key="r")
        assert engine.reader.head() == before


def test_broken_files_are_refused_safely(tmp_path: Path, project: Path) -> None:
    """A file that cannot be loaded is refused with where it failed, and nothing of what it said."""
    (project / "bad.py").write_text("raise RuntimeError('password=hunter2')\n")
    with Engine.open(tmp_path / "state") as engine:
        with pytest.raises(PreflightError) as refused:
            engine.start("bad.py", {}, surroundings=Surroundings(cwd=project))
        assert refused.value.code == "workflow_invalid"
        assert "hunter2" not in str(refused.value)
        assert json.loads(engine.events()[-1].data).get("workflow") is None


@pytest.mark.parametrize("where", ["project", "folder"])
def test_a_folder_whose_name_is_no_text_is_named(tmp_path: Path, project: Path, where: str) -> None:
    """No event can hold it: the start is refused in a clear sentence and leaves no trace."""
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff"))
    if where == "project":
        project.rename(odd)
    else:
        odd.mkdir()
    surroundings = Surroundings(cwd=odd) if where == "project" else Surroundings(cwd=odd, project=project)
    with Engine.open(tmp_path / "state") as engine:
        with pytest.raises(
            NameUnsaved, match=rf"The {where} .*odd\\xff cannot be saved: its name is not UTF-8"
        ) as refused:
            engine.start("flow.py" if where == "project" else str(project / "flow.py"), {}, surroundings=surroundings)
        assert refused.value.code == "activation_failed"
        assert not engine.query("runs").items
