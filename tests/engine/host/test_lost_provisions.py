"""Launches that lack what was handed over in memory, or an interpreter: each says so, and none is tried for ever."""

from pathlib import Path

import pytest

from runwright.engine.commands.client import AnswerRequest, ResumeRun
from runwright.engine.commands.session import AttachSession, ReportSession
from runwright.engine.commands.worker import OpenRequest, ParkRun, StartNode
from runwright.engine.embedded.launcher import Provisions
from runwright.engine.errors import InterpreterUnusable
from runwright.engine.host.errors import EnvironmentMissing
from runwright.engine.results import Applied
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.sql_rows import SqlRows
from support.graphs import graph, node
from support.scripted_workers import Scene, ScriptedChild, scene
from support.stage import queue_command

TOKEN = Provisions(env={"TOKEN": "secret"})


def settle(at: Scene) -> None:
    """Let the session come to rest."""
    told = at.holder.transitions.session
    attached = told(AttachSession(session="s1", agent="pi")).result(10)
    assert isinstance(attached, Applied)
    epoch = attached.value.epoch
    told(ReportSession(session="s1", epoch=epoch, idle=True, nothing_pending=True)).result(10)


async def continuation(at: Scene) -> str:
    """A run behind an answered checkpoint, which needs a variable that this host was not handed."""
    at.ask(queue_command(graph(node("ask", "checkpoint"), node("end")), "run-1", reference="f.py", pass_env=("TOKEN",)))
    at.launcher.provide("run-1", TOKEN)
    assert at.launcher.takes(at.run())

    async def asks(child: ScriptedChild) -> None:
        await child.begin()
        opened = OpenRequest(path="ask", visit=1, attempt=1, kind="checkpoint", prompt="?", contract={})
        await child.leave(
            StartNode(path="ask", visit=1, attempt=1), opened, ParkRun(reason="waiting"), outcome="parked"
        )

    await at.launch(asks)
    with at.holder.log.snapshot() as snapshot:
        (request,) = SqlRows(snapshot.connection).find(REQUESTS)
    at.ask(AnswerRequest(request=request.request, value=1))
    with at.holder.log.snapshot() as snapshot:
        (child,) = SqlRows(snapshot.connection).find(RUNS, kind="continue")
    return child.run_id


async def test_a_launch_in_a_session_fails_and_frees_it(tmp_path: Path) -> None:
    """The session waits for it and nobody else would hand the variable over: it is told, and starts anew."""
    async with scene(tmp_path) as at:
        at.ask(queue_command(graph(node("one")), "run-1", reference="f.py", session="s1", pass_env=("TOKEN",)))
        settle(at)
        assert at.launcher.takes(at.run())
        assert await at.launcher.launch("run-1", None) is None
        run = at.run()
        assert (run.status, run.code, run.input_erased, at.children) == ("failed", "environment_missing", True, [])
        assert "variable TOKEN" in (run.message or "")
        with at.holder.log.snapshot() as snapshot:
            rows = SqlRows(snapshot.connection)
            assert rows.find(RESERVATIONS) == []
            terminal = rows.get(TERMINAL, "run-1")
        assert terminal is not None
        assert terminal.message_due == "launch_failure"


async def test_a_continuation_parks_and_goes_on_with_what_is_handed_over(tmp_path: Path) -> None:
    """Its chain has started: it waits, and says for what."""
    async with scene(tmp_path) as at:
        run_id = await continuation(at)
        assert at.launcher.takes(at.run(run_id))
        assert await at.launcher.launch(run_id, None) is None
        assert at.stands(run_id) == ("parked", "environment_missing", False)
        assert "variable TOKEN" in (at.detail(run_id) or "")
        at.launcher.provide(run_id, TOKEN)
        at.ask(ResumeRun(run_id=run_id))
        assert at.stands(run_id) == ("parked", "environment_missing", True)

        async def goes_on(child: ScriptedChild) -> None:
            await child.begin()
            await child.applied(StartNode(path="end", visit=1, attempt=1))
            await child.leave(ParkRun(reason="host_stopped"), outcome="parked")

        assert await at.launch(goes_on, run_id=run_id) == ["parked"]


async def test_a_continuation_without_its_interpreter_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leaves the queue, where it would be launched again at once."""
    async with scene(tmp_path) as at:
        run_id = await continuation(at)
        at.launcher.provide(run_id, TOKEN)

        async def gone(interpreter: str | None) -> ScriptedChild:
            raise InterpreterUnusable("/gone/python", "it is not there")

        monkeypatch.setattr(at, "spawn", gone)
        assert await at.launcher.launch(run_id, None) is None
        assert at.stands(run_id) == ("parked", "environment_missing", False)


async def test_a_run_that_a_person_started_keeps_its_place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever started it hands the variable over again; the log says so once, and never the value."""
    async with scene(tmp_path) as at:
        at.ask(queue_command(graph(node("one")), "run-1", reference="f.py", pass_env=("TOKEN",)))
        for _ in range(3):
            with pytest.raises(EnvironmentMissing):
                at.launcher.takes(at.run())
        assert at.stands() == ("queued", None, True)
        (said,) = [each.getMessage() for each in caplog.records if "run run-1 was not launched" in each.getMessage()]
        assert "variable TOKEN" in said
        at.launcher.provide("run-1", TOKEN)
        assert at.launcher.takes(at.run())
