"""S01 to S28 in one process: what a session's start promises, when it begins, and what the session hears of its end."""

import asyncio
import json
from pathlib import Path

import pytest

from runwright import AsyncEngine, JsonObject
from runwright.engine.commands.session import TurnEnd
from runwright.engine.errors import ConflictError, EngineError, NotFound, SourceChanged, WorkflowNotFound
from support.engine_session import EngineSession, attached
from support.engines import until
from support.killed import ledger
from support.sound import check_sound

CANARY = "c4n4ry-of-the-input"


async def told(engine: AsyncEngine, run_id: str) -> None:
    """Wait until the message that an end owes stands."""

    async def there() -> bool:
        return (await engine.status(run_id)).presentation.state in ("prepared", "sent")

    await until(there)


async def test_c01_a_start_outlives_everything_and_its_failure_is_told(project: Path, home: Path) -> None:
    """C01, S01, S07, S19, S22: queued, the file goes, the failure is told once, and the corrected start runs."""
    async with AsyncEngine.open(home) as engine:
        await attached(engine)
        run_id = await engine.start("sessions.py", {"text": CANARY}, session="s1")
        assert (await engine.status(run_id)).status == "queued"
    source = (project / "sessions.py").read_text()
    (project / "sessions.py").unlink()
    async with AsyncEngine.open(home) as engine:
        status = await engine.status(run_id)
        assert (status.status, status.session, status.workflow) == ("queued", "s1", "told")
        assert ledger(project) == {}
        with pytest.raises((SourceChanged, WorkflowNotFound)):
            await engine.resume(run_id)
    check_sound(home)
    (project / "sessions.py").write_text(source)
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        await engine.drive(run_id)
        (project / "sessions.py").write_text(source + "# changed\n")
        await pi.settle()
        assert (await engine.wait(run_id)).status == "failed"
        await told(engine, run_id)
        status = await engine.status(run_id)
        assert status.error is not None
        assert status.error.code == "source_changed"
        assert ledger(project) == {}
        message = await pi.receive()
        assert message == f"launch_failure:{run_id}"
        assert (await pi.turn("t1", message, run_id)).ownership == "active"
        corrected = await engine.start("sessions.py", {"text": "again"}, session="s1")
        assert corrected != run_id
        await pi.turn("t1", message, run_id, TurnEnd(stop_reason="completed"))
        await pi.settle()
        assert (await engine.wait(corrected)).output == "again"
        assert (await engine.status(run_id)).error == status.error
        events = [each for each in await engine.events() if CANARY in each.data + (each.body or "")]
        assert events == [], "S10: the input of a launch that never started is gone"
        assert [row["message"] for row in (await engine.query("messages", where=["kind=launch_failure"])).items] == [
            message
        ]
    check_sound(home)


async def test_s02_refusals_leave_nothing(project: Path, home: Path) -> None:
    """S02: each with its own code, in the same call; a corrected call succeeds."""
    (project / "broken.py").write_text("from runwright import Workflow\nflow = Workflow('broken')\n")
    async with AsyncEngine.open(home) as engine:
        await attached(engine)
        held = await engine.start("sessions.py", {"text": "x"}, session="s2")
        before = engine.reader.head()
        wrong: dict[str, tuple[str, JsonObject, str]] = {
            "workflow_not_found": ("nowhere.py", {}, "s1"),
            "workflow_invalid": ("broken.py", {}, "s1"),
            "input_invalid": ("sessions.py", {"text": 7}, "s1"),
            "session_busy": ("sessions.py", {"text": "x"}, "s2"),
        }
        for code, (workflow, value, session) in wrong.items():
            with pytest.raises(EngineError) as refused:
                await engine.start(workflow, value, session=session)
            assert refused.value.code == code
            assert engine.reader.head() == before
        with pytest.raises(ConflictError) as unfit:
            await engine.start("sessions.py", {"text": "x"}, session="a b")
        assert unfit.value.code == "input_invalid"
        assert engine.reader.head() == before
        await engine.start("sessions.py", {"text": "x"}, session="s1")
        await engine.cancel(held)


async def test_c08_reports_in_any_number_start_a_run_once(project: Path, home: Path) -> None:
    """C08, S05, S06, S09: nothing before the boundary; then once, for two clients at once, also over a restart."""
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        run_id = await engine.start("sessions.py", {"text": "x"}, session="s1")
        await pi.report(idle=False)
        await asyncio.sleep(0.05)
        assert ledger(project) == {}
    async with AsyncEngine.open(home) as engine:
        await engine.drive(run_id)
        pi = EngineSession(engine)
        await pi.attach()
        await pi.report(idle=False)
        assert (await engine.status(run_id)).queue_state == "queued"
        other = await attached(engine, "s2")
        await asyncio.gather(*(each.settle() for each in [pi, other] * 10))
        assert (await engine.wait(run_id)).output == "x"
        await pi.settle()
        assert ledger(project) == {"first 1": 1}
        types = [each.type for each in await engine.events(run_id)]
        assert (types.count("run.eligible"), types.count("run.claimed")) == (1, 1)


async def test_s26_cancelled_launches_are_silent(project: Path, home: Path) -> None:
    """S26, S28: nothing is told, whatever is reported afterwards; the session is free at once."""
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        run_id = await engine.start("sessions.py", {"text": CANARY}, session="s1")
        await engine.cancel(run_id)
        await engine.cancel(run_id)
        for _ in range(3):
            await pi.settle()
        assert await pi.receive() is None
        assert (await engine.query("messages")).items == []
        assert ledger(project) == {}
        again = await engine.start("sessions.py", {"text": "x"}, session="s1")
        await pi.settle()
        assert (await engine.wait(again)).status == "completed"


async def test_s27_status_by_run_and_by_session(project: Path, home: Path) -> None:
    """S27: from durable rows alone, queued without a worker; unknown is a clean not-found; no private value shows."""
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        run_id = await engine.start("sessions.py", {"text": CANARY}, session="s1")
        held = await engine.session_status("s1")
        assert (held.run_id, held.status, held.queue_state, held.controls) == (run_id, "queued", "queued", ("cancel",))
        await pi.settle()
        await engine.wait(run_id)
        await told(engine, run_id)
        shown = await engine.session_status("s1")
        assert (shown.run_id, shown.status, shown.presentation.state) == (run_id, "completed", "prepared")
        assert await pi.receive() == f"terminal:{run_id}"
        assert (await engine.session_status("s1")).presentation.state == "sent"
        assert CANARY not in json.dumps(shown.document())
        for ask in (engine.session_status("s9"), engine.status("nowhere")):
            with pytest.raises(NotFound):
                await ask


async def test_c31_the_message_of_an_end_waits_for_its_own_session(project: Path, home: Path) -> None:
    """C31: another session gets nothing; its own gets one, however often holder and session come and go."""
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        run_id = await engine.start("sessions.py", {"text": "x"}, session="s1")
        await pi.settle()
        await engine.wait(run_id)
    branch: list[str] = []
    for _ in range(3):
        async with AsyncEngine.open(home) as engine:
            await told(engine, run_id)
            other = await attached(engine, "s2")
            assert await other.receive() is None
            pi = EngineSession(engine, branch=branch)
            await pi.attach()
            await pi.receive()
    assert branch == [f"terminal:{run_id}"]
    check_sound(home)
