"""S64: a model starts a workflow, its file goes, the failure comes back as one turn, and the model starts again."""

from pathlib import Path

from runwright import AsyncEngine
from runwright.engine.commands.client import Caller
from runwright.engine.commands.session import TurnEnd
from runwright.eventstore.events.message import MessageQueued
from runwright.eventstore.values import JsonObject
from support.engine_session import EngineSession, attached
from support.engines import until
from support.killed import ledger
from support.sound import check_sound

SECRET = "s3cret-of-the-input"


class Model:
    """A scripted provider and its session: it starts what it is told to, and answers a message in one turn."""

    def __init__(self, engine: AsyncEngine, pi: EngineSession) -> None:
        self.engine = engine
        self.pi = pi
        self.calls = 0
        self.turns: list[str] = []

    async def start(self, text: str) -> str:
        """The tool call, as this model of this session; its key is one of its own."""
        self.calls += 1
        caller = Caller(client="pi:s1", key=f"call-{self.calls}", actor="client:pi:s1", person=False)
        queued = await self.engine.queue("sessions.py", {"text": text}, session="s1", caller=caller)
        return queued.value

    async def takes(self, message: str, run_id: str) -> str:
        """Begin the one turn that a message causes."""
        self.turns.append(f"turn-{len(self.turns) + 1}")
        assert (await self.pi.turn(self.turns[-1], message, run_id)).ownership == "active"
        return self.turns[-1]

    async def hears(self) -> str:
        """Wait for a message and show it."""

        async def there() -> bool:
            return (await self.pi.view()).current is not None

        await until(there)
        message = await self.pi.receive()
        assert message is not None
        return message


async def said(engine: AsyncEngine, message: str) -> tuple[JsonObject, str]:
    """What a message says: its facts, and its text."""
    (queued,) = [each for each in await engine.events() if each.type == "message.queued" and message in each.data]
    event = queued.event
    assert isinstance(event, MessageQueued)
    assert event.content is not None
    assert event.text is not None
    assert isinstance(event.content.value, dict)
    return event.content.value, str(event.text.value)


async def test_s64_a_failed_launch_comes_back_and_is_corrected(project: Path, home: Path) -> None:
    """A durable ID first, the failure saved, one turn with safe text, and the corrected run reaches its node."""
    source = (project / "sessions.py").read_text()
    async with AsyncEngine.open(home) as engine:
        pi = await attached(engine)
        model = Model(engine, pi)
        await pi.report(idle=False)
        first = await model.start(SECRET)
        assert (await engine.status(first)).status == "queued"
        (project / "sessions.py").unlink()
        assert ledger(project) == {}
        await pi.settle()
        assert (await engine.wait(first)).status == "failed"

        message = await model.hears()
        assert message == f"launch_failure:{first}"
        facts, text = await said(engine, message)
        assert set(facts) == {"schema", "messageId", "runId", "workflow", "state", "code", "message"}
        assert (facts["state"], facts["code"]) == ("failed", "workflow_not_found")
        assert SECRET not in f"{facts}{text}"
        assert text.startswith(f"Workflow told failed to start (run {first}): ")

        turn = await model.takes(message, first)
        (project / "sessions.py").write_text(source)
        second = await model.start("again")
        assert second != first
        assert (await engine.status(second)).status == "queued"
        await pi.turn(turn, message, first, TurnEnd(stop_reason="completed", entry="e", text="I started it again."))
        for _ in range(3):
            await pi.settle()
        assert (await engine.wait(second)).output == "again"
        assert ledger(project) == {"first 1": 1}

        status = await engine.status(first)
        assert (status.status, status.error and status.error.code) == ("failed", facts["code"])
        assert [row["turn"] for row in (await engine.query("turns")).items] == model.turns == ["turn-1"]
        (run,) = (await engine.query("runs", where=[f"run_id={second}"])).items
        assert (run["cause"], run["depth"]) == (first, 1)
        assert not [each for each in await engine.events() if SECRET in each.data + (each.body or "")]
    check_sound(home)
