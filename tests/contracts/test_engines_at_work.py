"""`Engine` and `AsyncEngine` behave the same: waits, limits, effects and executors."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from runwright import AgentRequest, CallableAgent, Context, InputInvalid, RecoveryRequiredError, Uncertain, Workflow
from support.engine_jobs import Gate, Job, chain, close_at_the_boundary, double
from support.engines import KINDS, opened, until

pytestmark = pytest.mark.parametrize("kind", KINDS)


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
