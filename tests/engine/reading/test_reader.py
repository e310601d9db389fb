"""What can be asked of a store without its lock."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Engine, JsonObject, NotFound, Uncertain, Workflow
from runwright.engine.errors import AmbiguousId
from runwright.engine.reading.errors import OutputMissing, OutputRedacted
from runwright.engine.reading.reader import Reader
from runwright.eventstore.erasure import plan, redact
from runwright.eventstore.errors import StoreMissing
from runwright.eventstore.log import EventLog
from support.queueing import queue_run

simple: Workflow[JsonObject] = Workflow("simple")


@simple.compute
def count(ctx: Context[JsonObject]) -> int:
    """Count visits."""
    ctx.log.warning("visit %s", ctx.visit)
    return ctx.visit


@simple.compute
def end(ctx: Context[JsonObject]) -> str:
    """The end."""
    ctx.log.info("over")
    return "over"


simple.entry(count)
simple.switch(count, {1: count}, default=end)

stuck: Workflow[JsonObject] = Workflow("stuck")


@stuck.action(recovery="manual")
def send(ctx: Context[JsonObject]) -> int:
    """Nobody can tell."""
    raise Uncertain


stuck.entry(send)

FLOW = """\
from runwright import Context, Workflow

flow = Workflow("flow")


@flow.compute
def one(ctx: Context) -> int:
    return 1


flow.entry(one)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs in several states: the newest is queued."""
    path = tmp_path_factory.mktemp("reading") / "state"
    with Engine.open(path) as engine:
        for _ in range(3):
            engine.run(simple, {"word": "x"})
        engine.run(stuck, {})
        engine.cancel(engine.run(stuck, {}).run_id, reason="no")
        engine.start(simple, {}, drive=False)
    return path


@pytest.fixture
def reader(home: Path) -> Iterator[Reader]:
    """A reader beside nobody."""
    with Reader.open(home) as opened:
        yield opened


def ids(reader: Reader, *statuses: str) -> list[str]:
    """The runs in these statuses, newest first."""
    return [each.run_id for each in reader.runs(statuses=statuses).items]


def test_lists_are_newest_first_and_paged(reader: Reader) -> None:
    """Pages follow one another without gaps or repeats, and the last one says so."""
    whole = ids(reader)
    assert whole == sorted(whole, reverse=True)
    assert len(whole) == 6
    first = reader.runs(limit=4)
    second = reader.runs(limit=4, cursor=first.next)
    assert [each.run_id for each in (*first.items, *second.items)] == whole
    assert second.next is None
    assert first.document()["position"] == reader.head().position


@pytest.mark.parametrize(
    ("statuses", "count"),
    [(("completed",), 3), (("queued",), 1), (("ambiguous",), 1), (("cancelled", "completed"), 4), (("running",), 0)],
)
def test_lists_are_narrowed_by_display_status(reader: Reader, statuses: tuple[str, ...], count: int) -> None:
    """The status that people see is the one that is filtered by."""
    assert len(ids(reader, *statuses)) == count


def test_lists_are_narrowed_by_workflow_and_time(reader: Reader) -> None:
    """Only runs of a workflow, or since a time."""
    assert len(reader.runs(workflow="stuck").items) == 2
    created = reader.query("runs", sort=["-run_id"], limit=1).items[0]["created_at"]
    since = reader.query("runs", where=[f"created_at>={created}"])
    assert len(since.items) == 1


def test_live_runs(reader: Reader) -> None:
    """What has not ended, each with the line to type."""
    live = reader.live().items
    assert {each.status for each in live} == {"queued", "ambiguous"}
    assert all(each.next for each in live)


def test_parts_of_ids(reader: Reader) -> None:
    """The last characters name a run where they are unique; else the candidates are listed."""
    whole = ids(reader)
    assert reader.find_run(whole[2]) == whole[2]
    assert reader.find_run(whole[2][-8:].upper()) == whole[2]
    assert reader.find_run("@last") == whole[0]
    with pytest.raises(NotFound):
        reader.find_run("@last", project="/nowhere")
    for text in ("abc", "zzzz", "%", "*", "", "x" * 100):
        with pytest.raises(NotFound):
            reader.find_run(text)


def test_the_newest_run_of_a_project_or_of_a_folder(tmp_path: Path) -> None:
    """A run belongs to its workflow's project and to the folder it was started in; the newest of either is meant."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    state = tmp_path / "state"
    (there / "flow.py").write_text(FLOW)
    elsewhere = queue_run(state, there, "flow.py")
    with Reader.open(state) as reader:
        assert reader.find_run("@last", project=str(there)) == elsewhere
        with pytest.raises(NotFound):
            reader.find_run("@last", project=str(here), cwd=str(tmp_path))
    started_here = queue_run(state, here, "../there/flow.py")
    with Reader.open(state) as reader:
        for project, cwd in ((here, None), (there, None), (tmp_path, here), (there, tmp_path)):
            found = reader.find_run("@last", project=str(project), cwd=None if cwd is None else str(cwd))
            assert found == started_here
    newest = queue_run(state, there, "flow.py")
    with Reader.open(state) as reader:
        assert reader.find_run("@last", project=str(here), cwd=str(here)) == started_here
        assert reader.find_run("@last", project=str(there), cwd=str(here)) == newest
        assert reader.find_run("@last") == newest


def test_an_ambiguous_part_lists_candidates(tmp_path: Path) -> None:
    """A part that fits several is refused with whole IDs."""
    with Engine.open(tmp_path / "state", random=bytes) as engine:
        # Without randomness only the time in an ID tells runs apart.
        runs = [engine.run(simple, {}).run_id for _ in range(3)]
        with pytest.raises(AmbiguousId) as refused:
            engine.reader.find_run(runs[0][-10:])
        assert set(refused.value.candidates) == set(runs)


def test_outputs(reader: Reader) -> None:
    """The final output, a node's last, and one visit's; what is not there says why."""
    run_id = ids(reader, "completed")[0]
    assert reader.output(run_id) == "over"
    assert reader.output(run_id, "count") == 2
    assert reader.output(run_id, "count", 1) == 1
    for node, visit in (("count", 3), ("nobody", None)):
        with pytest.raises(OutputMissing):
            reader.output(run_id, node, visit)
    with pytest.raises(OutputMissing, match="cancelled"):
        reader.output(ids(reader, "cancelled")[0])
    with pytest.raises(NotFound):
        reader.output("0" * 20)


def test_logs_by_node(reader: Reader) -> None:
    """Every line, or those of one node."""
    run_id = ids(reader, "completed")[0]
    assert [line.rpartition(": ")[2] for line in reader.logs(run_id)] == ["visit 1", "visit 2", "over"]
    assert len(list(reader.logs(run_id, "end"))) == 1
    assert list(reader.logs(ids(reader, "queued")[0])) == []


def test_effects(reader: Reader) -> None:
    """Effects by run and state, and one with its values."""
    (ambiguous,) = [each for each in reader.effects(state="ambiguous") if each.run_id in ids(reader, "ambiguous")]
    assert (ambiguous.type, ambiguous.path, ambiguous.contract) == ("send", "send", "manual")
    values = reader.effect(ambiguous.effect)
    assert (values.request, values.result) == (None, None)
    assert values.document()["state"] == "ambiguous"
    assert reader.find_effect(ambiguous.effect[-12:]) == ambiguous.effect
    assert len(reader.effects(ambiguous.run_id)) == 1


def test_events_by_pattern_and_limit(reader: Reader) -> None:
    """Types by pattern, from a position, no more than asked."""
    run_id = ids(reader, "completed")[0]
    assert {each.type for each in reader.events(run_id, types=["node.*"])} == {"node.started", "node.finished"}
    first = list(reader.events(limit=3))
    assert [each.position for each in first] == [1, 2, 3]
    assert next(reader.events(after=3)).position == 4
    assert len(list(reader.events(types=["run.*"], limit=2))) == 2


def test_replay_by_step_and_position(reader: Reader) -> None:
    """As of a step's end the row says so; a step that never was is not found."""
    run_id = ids(reader, "completed")[0]
    for step, node in ((1, "count"), (2, "count"), (3, "end")):
        rows: Any = reader.replay(run_id, step=step)["rows"]
        (row,) = rows["runs"]
        assert (row["node"], row["steps"]) == (node, step)
    with pytest.raises(NotFound):
        reader.replay(run_id, step=4)


def test_redacted_values_read_as_redacted(tmp_path: Path) -> None:
    """After a redaction status and lists are whole, and the output says that it was erased."""
    with Engine.open(tmp_path / "state") as engine:
        run_id = engine.run(simple, {"word": "x"}).run_id
        log = engine.reader.log
        assert isinstance(log, EventLog)
        planned = plan(log, [run_id])
        log.transact(
            lambda tx: redact(tx, planned, root=run_id, by="me", reason="x", actor="operator", command=None)
        ).result()
        assert engine.status(run_id).status == "completed"
        with pytest.raises(OutputRedacted):
            engine.output(run_id)
        assert engine.reader.history(run_id).path == ("count", "count", "end")
        assert engine.verify().ok


def test_no_store(tmp_path: Path) -> None:
    """Where there is no store nothing is made."""
    with pytest.raises(StoreMissing):
        Reader.open(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
