"""The folder of a run: where it cannot be made, the run says so in the end that it comes to."""

import logging
from pathlib import Path

import pytest

from runwright import Context, Engine, JsonObject, Workflow, seconds
from runwright.engine.embedded import driver


def waiting() -> Workflow[JsonObject]:
    """It waits between two nodes, so that a second launch finishes it."""
    workflow = Workflow("waiting")

    @workflow.compute
    def before(ctx: Context[JsonObject]) -> int:
        return 1

    pause = workflow.wait("pause", seconds(1))

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> int:
        return 2

    workflow.entry(before)
    workflow.then(before, pause)
    workflow.then(pause, after)
    return workflow


def test_a_launch_without_a_folder_fails(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file stands in the place of all runs' folders; the message names it, and nobody blames the engine."""
    with caplog.at_level(logging.WARNING), Engine.open(tmp_path / "home") as engine:
        (tmp_path / "home" / "runs").touch()
        outcome = engine.run(waiting(), {}, timeout=20)
        assert outcome.status == "failed"
        assert outcome.error is not None
        assert outcome.error.code == "activation_failed"
        assert outcome.error.message == f"{tmp_path / 'home' / 'runs'} has to be a folder, and is none: move it aside."
    assert not caplog.records


def test_a_run_that_began_waits_for_its_folder(tmp_path: Path) -> None:
    """It parks with the cause, and a resume carries it on once that is gone."""
    workflow = waiting()
    with Engine.open(tmp_path / "home", workflows=[workflow]) as engine:
        run_id = engine.start(workflow, {})
        scratch = tmp_path / "home" / "runs" / run_id / "scratch"
        assert engine.wait(run_id, until="waiting", timeout=0.0001).status != "completed"
        while not scratch.is_dir():
            engine.wait(run_id, timeout=0.01)
        while engine.status(run_id).status not in ("waiting", "completed"):
            engine.wait(run_id, timeout=0.01)
        scratch.rmdir()
        scratch.touch()
        assert engine.wait(run_id, until="waiting", timeout=20).status not in ("completed", "failed")
        reason = engine.status(run_id).reason
        assert reason is not None
        assert reason.code == "environment_missing"
        assert reason.detail == f"{scratch} has to be a folder, and is none: move it aside."
        scratch.unlink()
        engine.resume(run_id)
        assert engine.wait(run_id, timeout=20).output == 2


def test_what_stops_a_run_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else gets out of a launch is told by its kind, and by the system's own words where it has some."""

    async def broken(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr(driver, "execute", broken)
    with caplog.at_level(logging.WARNING), Engine.open(tmp_path / "home") as engine:
        engine.run(waiting(), {}, timeout=20)
    assert "stopped: Permission denied: /some/file" in caplog.text
    assert "fault of the engine" not in caplog.text
