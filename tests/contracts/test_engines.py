"""`Engine` and `AsyncEngine` behave the same: each scenario is asked of both."""

import asyncio
import itertools
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright import (
    AgentMissing,
    AgentRequest,
    CallableAgent,
    ConflictError,
    Context,
    InputInvalid,
    JsonObject,
    NotFound,
    PreflightError,
    RecoveryRequiredError,
    SessionMissing,
    StoreInUse,
    Uncertain,
    Workflow,
    WorkflowInvalid,
    WorkflowNotFound,
)
from runwright.engine.clock import SystemClock
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.errors import StoreClosed
from support.engines import KINDS, opened, until

pytestmark = pytest.mark.parametrize("kind", KINDS)


@frozen
class Job:
    """What to do."""

    number: int
    word: str = "a"


def chain(*functions: Any, name: str = "chain", **options: Any) -> Workflow[Job]:
    """A workflow of compute nodes in a row."""
    workflow = Workflow(name, input=Job, **options)
    nodes = [workflow.compute(each) for each in functions]
    workflow.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        workflow.then(before, after)
    return workflow


def double(ctx: Context[Job]) -> int:
    """Twice the number."""
    return ctx.input.number * 2


def say(ctx: Context[Job]) -> str:
    """The number in a sentence."""
    return f"{ctx.outputs['double']} {ctx.input.word}"


class Gate:
    """A node's function that says it has begun and waits to be let on; it counts how often it was called."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.calls = 0

    def gate(self, ctx: Context[Job]) -> int:
        """Wait."""
        self.calls += 1
        self.begun.set()
        assert self.open.wait(30)
        return self.calls

    async def reached(self) -> None:
        """Wait until the function is at work."""
        assert await asyncio.to_thread(self.begun.wait, 30)


async def close_at_the_boundary(engine: Any, run_id: str, gate: Gate) -> Any:
    """Close an engine, and let the node under way finish only when it is closing."""

    async def is_closing() -> bool:
        try:
            await engine.drive(run_id)
        except StoreClosed:
            return True
        return False

    closing = asyncio.create_task(engine.close())
    await until(is_closing)
    gate.open.set()
    return await closing


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


async def test_a_durable_wait_needs_no_worker(kind: str, tmp_path: Path) -> None:
    """A wait parks the run with a timer and goes on by itself when it is due."""
    workflow = Workflow("sleepy", input=Job)
    pause = workflow.wait("pause", timedelta(milliseconds=80))
    after = workflow.compute(double)
    workflow.entry(pause)
    workflow.then(pause, after)
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(workflow, Job(3))
        assert (outcome.status, outcome.output) == ("completed", 6)
        types = [event.type for event in await engine.events(outcome.run_id)]
        assert types.count("worker.launched") == 2
        assert [each for each in types if each.startswith("timer.")] == ["timer.set", "timer.fired"]


async def test_a_run_has_a_limit_of_its_own(kind: str, tmp_path: Path) -> None:
    """A run that takes longer than its workflow allows ends as timed out, whatever it is doing."""

    async def endless(ctx: Context[Job]) -> int:
        await asyncio.sleep(3600)
        return 1

    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(chain(endless, timeout=0.1), Job(1))
        assert outcome.status == "timed_out"
        assert outcome.error is not None
        assert outcome.error.code == "run_timed_out"
        assert (await engine.query("timers")).items == []


async def test_an_uncertain_manual_effect_waits_for_a_person(kind: str, tmp_path: Path) -> None:
    """An effect that may have happened is not tried again: it is resolved, with a result of the node's type."""
    calls: list[int] = []
    workflow = Workflow("careful", input=Job)

    @workflow.action(recovery="manual")
    def send(ctx: Context[Job]) -> dict[str, int]:
        calls.append(1)
        raise Uncertain("the line went dead")

    @workflow.compute
    def read(ctx: Context[Job]) -> int:
        return ctx.output(send)["sent"]

    workflow.entry(send)
    workflow.then(send, read)
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(workflow, Job(1))
        assert outcome.status == "ambiguous"
        with pytest.raises(RecoveryRequiredError) as required:
            await engine.resume(outcome.run_id)
        assert required.value.code == "effect_ambiguous"
        (effect,) = await engine.effects(state="ambiguous")
        with pytest.raises(InputInvalid):
            await engine.resolve(effect.effect, "done", result={"sent": "many"}, reason="asked them")
        await engine.resolve(effect.effect, "done", result={"sent": 7}, reason="asked them")
        outcome = await engine.wait(outcome.run_id)
        assert (outcome.status, outcome.output, calls) == ("completed", 7, [1])


async def test_an_effect_that_did_not_happen_is_tried_again(kind: str, tmp_path: Path) -> None:
    """`not_done` gives the effect one more application under the same identity."""
    calls: list[int] = []
    workflow = Workflow("careful", input=Job)

    @workflow.action(recovery="manual")
    def send(ctx: Context[Job]) -> int:
        calls.append(1)
        if len(calls) == 1:
            raise Uncertain
        return len(calls)

    workflow.entry(send)
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(workflow, Job(1))
        (effect,) = await engine.effects(outcome.run_id)
        await engine.resolve(effect.effect, "not_done", reason="nothing arrived")
        outcome = await engine.wait(outcome.run_id)
        assert (outcome.status, outcome.output) == ("completed", 2)
        (settled,) = await engine.effects(outcome.run_id)
        assert (settled.effect, settled.state, settled.applications) == (effect.effect, "applied", 2)


async def test_close_parks_at_the_boundary_and_a_reopened_engine_goes_on(kind: str, tmp_path: Path) -> None:
    """Closing lets the node under way finish; with its workflow handed back the run goes on by itself."""
    gate = Gate()
    workflow = chain(gate.gate, double)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        await gate.reached()
        head = await close_at_the_boundary(engine, run_id, gate)
        assert head is not None
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.output, outcome.path) == ("completed", 10, ("gate", "double"))
        assert gate.calls == 1
        parked = [event.event for event in await engine.events(run_id, types=["run.parked"])]
        assert [each.reason for each in parked] == ["host_stopped"]


async def test_close_ends_what_takes_too_long(kind: str, tmp_path: Path) -> None:
    """After its grace a close cancels what still runs; the run is carried on later in the same attempt."""
    begun = threading.Event()
    calls: list[int] = []

    async def slow(ctx: Context[Job]) -> int:
        calls.append(ctx.attempt)
        begun.set()
        if len(calls) == 1:
            await asyncio.sleep(3600)
        return len(calls)

    workflow = chain(slow)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        assert await asyncio.to_thread(begun.wait, 30)
        await engine.close(grace=0)
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.output, calls) == ("completed", 2, [1, 1])


async def test_a_run_handed_to_nobody_waits(kind: str, tmp_path: Path) -> None:
    """Without its workflow a run is not driven; asking for it says what is missing, and handing it back helps."""
    gate = Gate()
    workflow = chain(gate.gate, double)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(5))
        await gate.reached()
        await close_at_the_boundary(engine, run_id, gate)
    async with opened(kind, tmp_path / "state") as engine:
        assert (await engine.wait(run_id, until="waiting")).status == "queued"
        with pytest.raises(RecoveryRequiredError) as required:
            await engine.resume(run_id)
        assert required.value.code == "environment_missing"
        status = await engine.status(run_id)
        assert status.reason is not None
        assert status.reason.code == "environment_missing"
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        assert (await engine.wait(run_id, until="waiting")).status == "queued"
        await engine.resume(run_id)
        assert (await engine.wait(run_id)).status == "completed"


async def test_an_executor_answers(kind: str, tmp_path: Path) -> None:
    """An agent node is asked through the executor of its name, and its answer is checked."""
    workflow = Workflow("asking", input=Job)

    @workflow.agent(returns=dict[str, int])
    def ask(ctx: Context[Job]) -> str:
        return f"How many? {ctx.input.number}"

    workflow.entry(ask)
    asked: list[str] = []

    def answer(request: AgentRequest) -> object:
        asked.append(request.prompt)
        return {"many": "lots"} if request.refused is None else {"many": 3}

    async with opened(kind, tmp_path / "state", agents={"default": CallableAgent(answer)}) as engine:
        outcome = await engine.run(workflow, Job(2))
        assert (outcome.status, outcome.output) == ("completed", {"many": 3})
        assert outcome.prompts(ask) == ["How many? 2"]
        assert asked == ["How many? 2"] * 2
        assert await engine.requests() == []


async def test_a_started_run_whose_executor_is_missing_says_so(kind: str, tmp_path: Path) -> None:
    """A reopened engine without the executor parks the run and says which is missing."""
    workflow = Workflow("asking", input=Job)
    gate = Gate()
    first = workflow.compute(gate.gate)
    ask = workflow.agent(name="ask")(lambda ctx: "?")
    workflow.entry(first)
    workflow.then(first, ask)
    agents = {"default": CallableAgent(lambda request: 1)}
    async with opened(kind, tmp_path / "state", agents=agents) as engine:
        run_id = await engine.start(workflow, Job(2))
        await gate.reached()
        await close_at_the_boundary(engine, run_id, gate)
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:

        async def parked() -> bool:
            reason = (await engine.status(run_id)).reason
            return reason is not None and reason.code == "environment_missing"

        await until(parked)
    async with opened(kind, tmp_path / "state", workflows=[workflow], agents=agents) as engine:
        await engine.resume(run_id)
        assert (await engine.wait(run_id)).output == 1


async def test_one_process_holds_the_store(kind: str, tmp_path: Path) -> None:
    """A second engine on the same folder is told who holds it."""
    async with opened(kind, tmp_path / "state"):
        with pytest.raises(StoreInUse):
            async with opened(kind, tmp_path / "state"):
                pass


async def test_a_closed_engine_refuses(kind: str, tmp_path: Path) -> None:
    """After close nothing can be asked or started; closing again answers the same head."""
    async with opened(kind, tmp_path / "state") as engine:
        head = await engine.close()
        assert await engine.close() == head
        with pytest.raises(StoreClosed):
            await engine.start(chain(double), Job(1))
        with pytest.raises(StoreClosed):
            await engine.status("0" * 20)


async def test_capacity_bounds_what_runs_at_once(kind: str, tmp_path: Path) -> None:
    """With room for one the second run waits in the queue until the first has ended."""
    gate = Gate()
    async with opened(kind, tmp_path / "state", capacity=1) as engine:
        first = await engine.start(chain(gate.gate), Job(1))
        await gate.reached()
        second = await engine.start(chain(double), Job(2))
        assert (await engine.status(second)).status == "queued"
        gate.open.set()
        assert (await engine.wait(second)).output == 4
        assert (await engine.wait(first)).status == "completed"


async def test_reading_needs_no_lock(kind: str, tmp_path: Path) -> None:
    """What an engine did can be replayed, exported and verified, and equals its own rows."""
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(chain(double, say), Job(21))
        replayed = await engine.replay(outcome.run_id)
        assert replayed["rows"]["runs"] == (await engine.query("runs")).items
        step = await engine.replay(outcome.run_id, step=1)
        assert step["rows"]["runs"][0]["node"] == "double"
        assert (await engine.verify()).ok
        lines = list(engine.reader.export(outcome.run_id))
        assert len(lines) == 1 + len(await engine.events(outcome.run_id))


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


async def test_a_durable_wait_outlives_its_engine(kind: str, tmp_path: Path) -> None:
    """A wait goes on while nobody holds the store, and what fell due meanwhile happens at the next opening."""
    workflow = Workflow("sleepy", input=Job)
    pause = workflow.wait("pause", timedelta(milliseconds=150))
    after = workflow.compute(double)
    workflow.entry(pause)
    workflow.then(pause, after)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(workflow, Job(3))

        async def waiting() -> bool:
            return bool((await engine.status(run_id)).status == "waiting")

        await until(waiting)
    async with opened(kind, tmp_path / "state", workflows=[workflow]) as engine:
        assert (await engine.wait(run_id)).output == 6
        assert (await engine.query("timers")).items == []


async def test_a_claim_that_ran_out_is_taken_again(kind: str, tmp_path: Path) -> None:
    """After a stall longer than a lease the old worker changes nothing, and the run goes on in a new generation."""
    clock = Stalled()
    calls: list[int] = []

    def stall(ctx: Context[Job]) -> int:
        calls.append(1)
        if len(calls) == 1:
            clock.behind += 60
        return len(calls)

    async with opened(kind, tmp_path / "state", clock=clock) as engine:
        outcome = await engine.run(chain(stall), Job(1))
        assert (outcome.status, outcome.output) == ("completed", 2)
        (queue,) = (await engine.query("queue")).items
        assert queue["generation"] == 2
        assert [row["outcome"] for row in (await engine.query("workers", sort=["launched_at"])).items] == [
            "crashed",
            "finished",
        ]


class Stalled(SystemClock):
    """A clock that can jump ahead, as after a process was stopped."""

    def __init__(self) -> None:
        self.behind = 0.0

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return super().monotonic() + self.behind


async def test_a_handed_in_workflow_that_changed_is_not_driven_blindly(kind: str, tmp_path: Path) -> None:
    """A started run whose definition changed parks and can be carried on by accepting; a queued one fails to launch."""
    gate = Gate()
    old, new = chain(gate.gate, double), chain(gate.gate, double, say)
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(old, Job(5))
        await gate.reached()
        queued = await engine.start(old, Job(6), drive=False)
        await close_at_the_boundary(engine, run_id, gate)
    async with opened(kind, tmp_path / "state", workflows=[new]) as engine:
        failed = await engine.wait(queued)
        assert (failed.status, failed.error and failed.error.code) == ("failed", "source_changed")
        assert (await engine.query("runs", where=[f"run_id={queued}"])).items[0]["input_erased"] is True
        await engine.wait(run_id, until="waiting")
        reason = (await engine.status(run_id)).reason
        assert reason is not None
        assert reason.code == "source_changed"
        await engine.resume(run_id, accept_source=True)
        assert (await engine.wait(run_id)).output == "10 a"
