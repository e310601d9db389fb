"""S65, C54: the `implement` example prepares a workspace itself and through a mounted workflow."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from attrs import frozen

from runwright import Engine, JsonObject, Surroundings
from support.sound import check_sound

EXAMPLES = Path(__file__).parents[2] / "examples"


@frozen
class World:
    """A project with the two workflows, a repository, and a folder for copies."""

    project: Path
    home: Path
    repository: Path

    def input(self, **more: str | float) -> JsonObject:
        """The workflow's input."""
        return {
            "repository": str(self.repository),
            "folder": str(self.project / "copies"),
            "title": "Faster start",
            **more,
        }


@pytest.fixture
def world(project: Path, home: Path) -> World:
    """A world without anything done in it."""
    for name in ("implement.py", "document.py"):
        shutil.copy(EXAMPLES / name, project / name)
    repository = project / "repository"
    repository.mkdir()
    (repository / "README").write_text("hello\n")
    person = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (
        ["init", "-q"],
        ["add", "README"],
        ["-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "-m", "First"],
    ):
        subprocess.run(["git", "-C", str(repository), *arguments], check=True, env=person)
    return World(project, home, repository)


def commits(workspace: Path) -> list[str]:
    """The subjects of a repository's commits, the newest first."""
    command = ["git", "-C", str(workspace), "log", "--format=%s"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_s65_two_workspaces_of_one_run_do_not_collide(world: World) -> None:
    """Direct and nested preparation are two effects of one type, with a folder each; the sources are both files."""
    with Engine.open(world.home) as engine:
        outcome = engine.run("implement.py", world.input(), surroundings=Surroundings(cwd=world.project))
        output = outcome.output
        assert isinstance(output, dict)
        effects = {each.path: each for each in engine.effects()}
        assert set(effects) == {"prepare", "change", "docs/prepare", "docs/write"}
        assert len({each.effect for each in effects.values()}) == 4
        (run,) = engine.query("runs").items
        assert sorted(engine.reader.sources(str(run["sources"])) or ()) == ["document.py", "implement.py"]
    assert output["page"] == "docs/faster-start.md"
    copies = sorted(each.name.partition("-")[2] for each in (world.project / "copies").iterdir())
    assert copies == ["docs-prepare-1", "prepare-1"]
    assert commits(Path(str(output["workspace"]))) == ["Implement: Faster start", "First"]
    assert commits(world.repository) == ["First"]
    check_sound(world.home)


def test_s65_it_fails_after_a_managed_action_and_a_new_run_begins_clean(world: World) -> None:
    """The same input, once the way is free: other folders, other effects, and nothing of the first is touched."""
    blocker = world.project / "blocker"
    blocker.touch()
    value = world.input(blocker=str(blocker))
    here = Surroundings(cwd=world.project)
    with Engine.open(world.home) as engine:
        failed = engine.run("implement.py", value, surroundings=here)
        status = engine.status(failed.run_id)
        assert failed.error is not None
        assert (failed.status, failed.error.code, status.node) == ("failed", "node_failed", "check")
        blocker.unlink()
        assert engine.run("implement.py", value, surroundings=here).status == "completed"
        effects = engine.effects()
    assert [each.state for each in effects] == ["applied"] * 5
    assert len({each.effect for each in effects}) == 5
    check_sound(world.home)


def test_s65_c54_the_child_pauses_the_run_and_a_cancel_ends_both(world: World) -> None:
    """The run shows the full path that it waits at; pause, resume and cancel are of the one run there is."""
    with Engine.open(world.home) as engine:
        value = world.input(pause=3600.0)
        run_id = engine.start("implement.py", value, surroundings=Surroundings(cwd=world.project))
        for _ in range(1_000):  # a timer moves it by itself, so nobody calls that standing still
            status = engine.status(run_id)
            if status.status == "waiting":
                break
            engine.wait(run_id, timeout=0.02)
        assert (status.status, status.node) == ("waiting", "docs/breathe")
        engine.pause(run_id)
        assert engine.status(run_id).status == "paused"
        engine.resume(run_id)
        engine.cancel(run_id)
        assert engine.status(run_id).status == "cancelled"
        (mount,) = engine.query("mounts").items
        assert (mount["path"], mount["inside"], mount["outcome"]) == ("docs", False, "cancelled")
        assert {each.path for each in engine.effects()} == {"prepare", "change", "docs/prepare"}
    check_sound(world.home)
