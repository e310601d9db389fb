"""`Engine` and `AsyncEngine` behave the same: starting, steering and asking are asked of both."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from runwright import (
    AgentMissing,
    ConflictError,
    Context,
    InputInvalid,
    JsonObject,
    NotFound,
    PreflightError,
    SessionMissing,
    Workflow,
    WorkflowInvalid,
    WorkflowNotFound,
)
from runwright.engine.results import Adopted, Applied
from support.engine_jobs import Gate, Job, chain, double, say
from support.engines import KINDS, opened, until

pytestmark = pytest.mark.parametrize("kind", KINDS)


async def test_run_answers_the_outcome(kind: str, tmp_path: Path) -> None:
    """A run that completes answers its output, its path and the outputs of its nodes."""
    workflow = chain(double, say)
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(workflow, Job(21))
        assert (outcome.status, outcome.output, outcome.error) == ("completed", "42 a", None)
        assert outcome.path == ("double", "say")
        assert outcome.output_of(workflow.nodes[0]) == 42
        assert await engine.output(outcome.run_id, "double") == 42


async def test_start_is_committed_and_driven(kind: str, tmp_path: Path) -> None:
    """`start` answers an ID whose run is in the log, and the run goes on behind it."""
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(chain(double), Job(1))
        assert [event.type for event in await engine.events(run_id)][:3] == [
            "run.queued",
            "run.input",
            "run.eligible",
        ]
        assert (await engine.wait(run_id)).output == 2


async def test_a_key_adopts_its_first_run(kind: str, tmp_path: Path) -> None:
    """The same key with the same input answers the same run; with another input it conflicts."""
    workflow = chain(double)
    async with opened(kind, tmp_path / "state") as engine:
        first = await engine.start(workflow, Job(1), key="k")
        assert await engine.start(workflow, Job(1), key="k") == first
        with pytest.raises(ConflictError) as refused:
            await engine.start(workflow, Job(2), key="k")
        assert refused.value.code == "key_reused"
        assert len((await engine.query("runs")).items) == 1


async def test_refused_starts_leave_no_trace(kind: str, tmp_path: Path) -> None:
    """Whatever preflight refuses is told by its own code, and the log does not grow."""
    broken: Workflow[JsonObject] = Workflow("broken")
    asking: Workflow[JsonObject] = Workflow("asking")
    asking.entry(asking.agent(name="ask")(lambda ctx: "?"))
    talking: Workflow[JsonObject] = Workflow("talking")
    talking.entry(talking.assistant(name="say")(lambda ctx: "?"))
    cases: list[tuple[Any, Any, type[PreflightError], str]] = [
        (broken, {}, WorkflowInvalid, "workflow_invalid"),
        ("no-such-workflow", {}, WorkflowNotFound, "workflow_not_found"),
        (chain(double), {"number": "seven"}, InputInvalid, "input_invalid"),
        (chain(double), {"nummer": 7}, InputInvalid, "input_invalid"),
        (chain(double), Job(float("nan")), InputInvalid, "input_invalid"),  # type: ignore[arg-type]  # on purpose
        (asking, {}, AgentMissing, "agent_missing"),
        (talking, {}, SessionMissing, "agent_missing"),
    ]
    async with opened(kind, tmp_path / "state") as engine:
        before = len(await engine.events())
        for workflow, value, error, code in cases:
            with pytest.raises(error) as refused:
                await engine.start(workflow, value)
            assert refused.value.code == code
            assert "seven" not in str(refused.value)
        assert len(await engine.events()) == before


async def test_pause_stops_at_the_boundary_and_resume_goes_on(kind: str, tmp_path: Path) -> None:
    """A pause lets the node under way finish and starts no further one; a resume repeats nothing."""
    gate = Gate()
    workflow = chain(gate.gate, double)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(4))
        await gate.reached()
        assert isinstance(await engine.pause(run_id), Applied)
        assert isinstance(await engine.pause(run_id), Adopted)
        gate.open.set()
        paused = await engine.wait(run_id, until="waiting")
        assert paused.status == "paused"
        assert (await engine.status(run_id)).node == "gate"
        assert isinstance(await engine.resume(run_id), Applied)
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.path, gate.calls) == ("completed", ("gate", "double"), 1)


async def test_cancel_ends_whatever_runs(kind: str, tmp_path: Path) -> None:
    """A cancelled run's function is ended, a repeat is adopted, and an ended run cannot be steered."""
    stopped = threading.Event()
    begun = threading.Event()

    async def endless(ctx: Context[Job]) -> int:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()
        return 1

    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(chain(endless), Job(1))
        assert await asyncio.to_thread(begun.wait, 30)
        await engine.cancel(run_id, reason="enough")
        assert await asyncio.to_thread(stopped.wait, 30)
        outcome = await engine.wait(run_id)
        assert outcome.status == "cancelled"
        assert isinstance(await engine.cancel(run_id, reason="enough"), Adopted)
        for command in (engine.pause, engine.resume):
            with pytest.raises(ConflictError) as refused:
                await command(run_id)
            assert refused.value.code == "already_terminal"

        async def exited() -> bool:
            rows = (await engine.query("workers", where=[f"run_id={run_id}"])).items
            return [row["outcome"] for row in rows] == ["claim_lost"]

        await until(exited)


async def test_commands_about_nothing(kind: str, tmp_path: Path) -> None:
    """A run or an effect that does not exist is not found, whatever is asked of it."""
    async with opened(kind, tmp_path / "state") as engine:
        nobody = "0" * 20
        for ask in (engine.status, engine.output, engine.wait, engine.pause, engine.resume, engine.cancel):
            with pytest.raises(NotFound):
                await ask(nobody)
        with pytest.raises(NotFound):
            await engine.resolve("0" * 64, "not_done", reason="?")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        *((each, "run_id") for each in ("status", "wait", "output", "requests", "effects", "resume", "restart")),
        *((each, "run_id") for each in ("replay", "events", "pause", "cancel")),
        *((each, "session") for each in ("session_status", "session_view")),
    ],
)
async def test_what_names_something_is_a_text(kind: str, tmp_path: Path, question: str, name: str) -> None:
    """A list or a number in its place is refused by name, and the store stays usable."""
    async with opened(kind, tmp_path) as engine:
        for value in (["run"], 7, {"run": 1}):
            with pytest.raises(ConflictError, match=f"{name} is {type(value).__name__}, and has to be a text") as info:
                await getattr(engine, question)(value)
            assert info.value.code == "input_invalid"
        assert await engine.requests() == []


async def test_wait_answers_after_its_timeout(kind: str, tmp_path: Path) -> None:
    """A wait that takes too long answers the present status, and the run goes on."""
    gate = Gate()
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(chain(gate.gate), Job(1), timeout=0.05)
        assert outcome.status in ("queued", "running")
        gate.open.set()
        assert (await engine.wait(outcome.run_id)).status == "completed"


async def test_many_may_wait_for_one_run(kind: str, tmp_path: Path) -> None:
    """Everybody who waits hears of the end, and nobody keeps the others awake meanwhile."""
    gate = Gate()
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(chain(gate.gate), Job(1))
        waiting = [asyncio.create_task(engine.wait(run_id)) for _ in range(4)]
        await gate.reached()
        before = len(await engine.events())
        gate.open.set()
        assert [(await each).status for each in waiting] == ["completed"] * 4
        assert len(await engine.events()) == before + 3
