"""Runs that follow from other runs, asked of both engines: checkpoints carried on, and restarts."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import frozen

from runwright import (
    AgentRequest,
    CallableAgent,
    ConflictError,
    Context,
    InputInvalid,
    Json,
    NotFound,
    RecoveryRequiredError,
    Workflow,
)
from runwright.engine.reading.moment import moment_of
from runwright.engine.rundata import Found, RunData
from support.engines import KINDS, opened, until
from support.sound import check_sound

pytestmark = pytest.mark.parametrize("kind", KINDS)


@frozen
class Job:
    """What to do."""

    number: int


@frozen
class Verdict:
    """What somebody says at the checkpoint."""

    word: Literal["yes", "again", "end"]
    by: str = ""


def reviewed(**options: Any) -> Workflow[Job]:
    """Drafts, asks, and goes on by the answer."""
    workflow = Workflow("reviewed", input=Job, **options)

    @workflow.compute
    def draft(ctx: Context[Job]) -> int:
        return ctx.input.number * 10 + ctx.visits(draft)

    @workflow.checkpoint(summary="May it go on?", returns=Verdict)
    def ask(ctx: Context[Job]) -> Json:
        return {"draft": ctx.output(draft)}

    @workflow.compute
    def finish(ctx: Context[Job]) -> list[Any]:
        result = ctx.result(ask)
        assert result is not None
        return [ctx.output(draft), ctx.output(ask).by, ctx.visits(draft), ctx.visits(ask), ctx.steps_left]

    workflow.entry(draft)
    workflow.then(draft, ask)
    workflow.switch(ask, {"yes": finish, "again": draft}, on="$.word", default=finish)
    workflow.limit(draft, visits=3, to=finish)
    return workflow


async def test_a_checkpoint_parks_and_its_answer_carries_on_in_a_child(kind: str, tmp_path: Path) -> None:
    """The parent ends as continued; the child has its outputs, counts and steps, and follows the checkpoint's rule."""
    async with opened(kind, tmp_path / "home") as engine:
        outcome = await engine.run(reviewed(), Job(4))
        assert outcome.status == "waiting"
        parent = outcome.run_id
        status = await engine.status(parent)
        (request,) = await engine.requests(parent)
        assert (request.kind, request.path, request.prompt) == ("checkpoint", "ask", "May it go on?")
        assert (status.node, status.queue_state, status.reason.code) == ("ask", "parked", "waiting")
        assert f"runwright answer {request.request_id}" in status.next
        answered = await engine.answer(request.request_id, Verdict("yes", by="Ada"))
        ended = await engine.wait(parent)
        assert (ended.run_id, ended.status) == (answered.run_id, "completed")
        assert ended.output == [41, "Ada", 1, 1, 1000 - 3]
        assert ended.path == ("finish",)
        assert await engine.output(parent) == ended.output
        assert await engine.output(parent, "draft") == 41
        old, new = await engine.status(parent), await engine.status(answered.run_id)
        assert (old.status, old.continued_by, old.queue_state) == ("continued", answered.run_id, "done")
        assert (new.parent_run_id, new.root_run_id, new.restart_number) == (parent, parent, 0)
        assert new.steps.used == 3
        assert answered.run_id[:10] == request.request_id[:10]
    check_sound(tmp_path / "home")


async def test_an_equal_answer_is_adopted_and_another_is_refused(kind: str, tmp_path: Path) -> None:
    """One answer has one child, however often it is given; a late other one says which run carries on."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(), Job(1))).run_id
        (request,) = await engine.requests(parent)
        first = await engine.answer(request.request_id, {"word": "yes"})
        await engine.wait(parent)
        before = engine.reader.head()
        again = await engine.answer(request.request_id, {"word": "yes", "by": ""})
        assert (again.run_id, again.adopted) == (first.run_id, True)
        typed = await engine.answer(request.request_id, Verdict("yes"))
        assert (typed.run_id, typed.adopted) == (first.run_id, True)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, {"word": "end"})
        assert (refused.value.code, refused.value.evidence["last"]) == ("already_terminal", first.run_id)
        assert engine.reader.head() == before


async def test_an_answer_that_does_not_fit_is_not_used_up(kind: str, tmp_path: Path) -> None:
    """A wrong answer names the path and writes nothing; the request stays open."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(), Job(1))).run_id
        (request,) = await engine.requests(parent)
        before = engine.reader.head()
        with pytest.raises(InputInvalid) as refused:
            await engine.answer(request.request_id, {"word": "perhaps"})
        assert (refused.value.path, refused.value.what) == ("$.word", "answer")
        with pytest.raises(NotFound):
            await engine.answer("nothing", 1)
        assert engine.reader.head() == before
        assert [each.request_id for each in await engine.requests()] == [request.request_id]


async def test_a_paused_run_takes_no_answer(kind: str, tmp_path: Path) -> None:
    """While it is paused an answer is refused with that reason; after the resume it is taken."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(), Job(1))).run_id
        (request,) = await engine.requests(parent)
        await engine.pause(parent)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, {"word": "yes"})
        assert refused.value.code == "paused"
        for answer in (Verdict("yes"), {"word": "perhaps"}):
            with pytest.raises(ConflictError) as refused:
                await engine.answer(request.request_id, answer)
            assert refused.value.code == "paused"
        await engine.resume(parent)
        assert (await engine.status(parent)).status == "waiting"
        await engine.answer(request.request_id, {"word": "yes"})
        assert (await engine.wait(parent)).status == "completed"


async def test_a_loop_over_a_checkpoint_is_a_chain(kind: str, tmp_path: Path) -> None:
    """Each answer makes the next run; visits, limits and steps go on counting over all of them."""
    async with opened(kind, tmp_path / "home") as engine:
        run_id = root = (await engine.run(reviewed(), Job(2))).run_id
        for visit in (2, 3):
            (request,) = await engine.requests(run_id)
            run_id = (await engine.answer(request.request_id, {"word": "again"})).run_id
            assert (await engine.wait(run_id, until="waiting")).status == "waiting"
            assert (await engine.output(run_id, "draft")) == 20 + visit
        (request,) = await engine.requests()
        await engine.answer(request.request_id, {"word": "again"})
        ended = await engine.wait(root)
        assert ended.output == [23, "", 3, 3, 1000 - 7]
        last = await engine.status(ended.run_id)
        assert (last.root_run_id, last.parent_run_id) == (root, run_id)
        with moment_of(engine.reader.log) as moment:
            facts = RunData(moment.rows, moment.event).read_terminal_facts(ended.run_id)
        assert facts is not None
        assert [each.outcome for each in facts.ancestors] == ["continued"] * 3
        assert facts.output == Found(ended.output)
    check_sound(tmp_path / "home")


async def test_a_child_completes_at_once_where_the_checkpoint_is_last(kind: str, tmp_path: Path) -> None:
    """Nothing follows the checkpoint: the answer is the output."""
    workflow: Workflow[Job] = Workflow("gate", input=Job)

    @workflow.checkpoint(summary="Done?")
    def gate(ctx: Context[Job]) -> None:
        return None

    workflow.entry(gate)
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(workflow, Job(1))).run_id
        (request,) = await engine.requests(parent)
        await engine.answer(request.request_id, {"any": ["thing"]})
        ended = await engine.wait(parent)
        assert (ended.status, ended.output) == ("completed", {"any": ["thing"]})
        assert await engine.output(parent) == {"any": ["thing"]}
        assert ended.output_of(gate) == {"any": ["thing"]}


async def test_a_run_parked_at_a_checkpoint_outlives_its_engine(kind: str, tmp_path: Path) -> None:
    """The next engine lists the same request, and its answer carries the run on."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(), Job(3))).run_id
        (request,) = await engine.requests(parent)
    async with opened(kind, tmp_path / "home", workflows=[reviewed()]) as engine:
        assert [each.request_id for each in await engine.requests()] == [request.request_id]
        await engine.answer(request.request_id, {"word": "yes"}, drive=False)
    async with opened(kind, tmp_path / "home", workflows=[reviewed()]) as engine:
        assert (await engine.wait(parent)).output == [31, "", 1, 1, 997]


async def test_the_runs_limit_bounds_the_chain(kind: str, tmp_path: Path) -> None:
    """A continuation has what is left of the limit, and a run waiting at a checkpoint is ended by it."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(timeout=600), Job(1))).run_id
        (request,) = await engine.requests(parent)
        due = engine.reader.query("timers").items[0]["due"]
        child = (await engine.answer(request.request_id, {"word": "again"})).run_id
        await engine.wait(child, until="waiting")
        (timer,) = engine.reader.query("timers").items
        assert (timer["run_id"], timer["due"]) == (child, due)
        late = (await engine.run(reviewed(timeout=0.2), Job(1))).run_id
        ended = await engine.wait(late, timeout=20)
        assert (ended.status, ended.error.code) == ("timed_out", "run_timed_out")
        assert await engine.requests(late) == []


def failing(signs: Path) -> Workflow[Job]:
    """Fails in its third node until a sign stands."""
    workflow: Workflow[Job] = Workflow("failing", input=Job)

    def note(ctx: Context[Job], name: str) -> None:
        with (signs / "ledger").open("a") as ledger:
            ledger.write(f"{name}\n")

    @workflow.compute
    def first(ctx: Context[Job]) -> int:
        note(ctx, "first")
        return ctx.input.number

    @workflow.action(recovery="idempotent")
    def second(ctx: Context[Job]) -> int:
        note(ctx, "second")
        return ctx.output(first) + 1

    @workflow.compute
    def third(ctx: Context[Job]) -> int:
        note(ctx, "third")
        if not (signs / "good").exists():
            raise ValueError("not yet")
        return ctx.output(second) + ctx.visits(third) * 100

    workflow.entry(first)
    workflow.then(first, second)
    workflow.then(second, third)
    return workflow


def lines(signs: Path) -> list[str]:
    """What was run, in order."""
    return (signs / "ledger").read_text().split()


async def test_a_restart_begins_at_the_first_node_with_nothing_of_its_parent(kind: str, tmp_path: Path) -> None:
    """S36: from node 1, with new effects; parent, root, number and fingerprint are saved."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(failing(tmp_path), Job(5))).run_id
        before = (await engine.replay(parent))["rows"]
        child = await engine.restart(parent)
        assert (await engine.wait(child)).status == "failed"
        (tmp_path / "good").touch()
        last = await engine.restart(child)
        ended = await engine.wait(last)
        assert ended.output == 106
        assert lines(tmp_path) == ["first", "second", "third"] * 3
        status = await engine.status(last)
        assert (status.parent_run_id, status.root_run_id, status.restart_number) == (child, parent, 2)
        assert status.steps.used == 3
        rows = {each["run_id"]: each for each in engine.reader.query("runs").items}
        ends = {each["run_id"]: each["fingerprint"] for each in engine.reader.query("terminal").items}
        assert rows[last]["parent_fingerprint"] == ends[child] == ends[parent] is not None
        assert len({each.effect for each in await engine.effects()}) == 3
        assert (await engine.replay(parent))["rows"] == before
    check_sound(tmp_path / "home")


async def test_a_restart_at_a_node_takes_over_what_finished_before(kind: str, tmp_path: Path) -> None:
    """Outputs and counts from before the node are there, and nothing before it runs again."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(failing(tmp_path), Job(5))).run_id
        (tmp_path / "good").touch()
        child = await engine.restart(parent, at="third")
        ended = await engine.wait(child)
        assert (ended.output, ended.path) == (106, ("third",))
        assert lines(tmp_path) == ["first", "second", "third", "third"]
        assert (await engine.status(child)).steps.used == 3
        again = await engine.restart(child, at="third")
        assert (await engine.wait(again)).output == 106
        further = await engine.restart(child, at="second")
        assert (await engine.wait(further)).path == ("second", "third")
        assert lines(tmp_path)[-2:] == ["second", "third"]
        with pytest.raises(NotFound, match="node nowhere"):
            await engine.restart(parent, at="nowhere")
    check_sound(tmp_path / "home")


async def test_what_cannot_be_restarted_says_why(kind: str, tmp_path: Path) -> None:
    """A live run, a continued one, one whose input is gone."""
    async with opened(kind, tmp_path / "home") as engine:
        parent = (await engine.run(reviewed(), Job(1))).run_id
        with pytest.raises(ConflictError) as live:
            await engine.restart(parent)
        assert live.value.code == "still_live"
        (request,) = await engine.requests(parent)
        child = (await engine.answer(request.request_id, {"word": "yes"})).run_id
        await engine.wait(child)
        with pytest.raises(ConflictError) as continued:
            await engine.restart(parent)
        assert (continued.value.code, continued.value.evidence["last"]) == ("parent_invalid", child)
        assert child in str(continued.value)
        fresh = await engine.restart(child)
        assert (await engine.wait(fresh, until="waiting")).status == "waiting"
        assert (await engine.status(fresh)).root_run_id == parent
        unstarted = await engine.start(reviewed(), Job(1), drive=False)
        await engine.cancel(unstarted)
        with pytest.raises(RecoveryRequiredError) as cleared:
            await engine.restart(unstarted)
        assert cleared.value.code == "input_cleared"


async def test_a_question_that_no_worker_asks_any_more_is_answered_by_hand(kind: str, tmp_path: Path) -> None:
    """The answer becomes the node's output, and the executor is not asked again."""
    asked: list[str] = []

    async def silent(request: AgentRequest) -> object:
        asked.append(request.prompt)
        await asyncio.sleep(60)
        return None

    def mild(ctx: Context[Job], verdict: Verdict) -> None:
        if verdict.word == "end" and ctx.input.number == 1:
            raise ValueError("not yet the end")

    def workflow() -> Workflow[Job]:
        made: Workflow[Job] = Workflow("asks", input=Job)

        @made.agent(returns=Verdict, validate=mild)
        def ask(ctx: Context[Job]) -> str:
            return "What now?"

        made.entry(ask)
        return made

    async with opened(kind, tmp_path / "home", agents={"default": CallableAgent(silent)}) as engine:
        run_id = await engine.start(workflow(), Job(1))
        await until(lambda: _asked(engine, run_id))
        (request,) = await engine.requests(run_id)
        with pytest.raises(ConflictError, match="executor of node ask is at work on request") as busy:
            await engine.answer(request.request_id, {"word": "yes"})
        assert busy.value.code == "still_live"
        assert not any("answer" in line for line in (await engine.status(run_id)).next)
        await engine.close(grace=0)
    async with opened(kind, tmp_path / "home", workflows=[workflow()]) as engine:
        await until(lambda: _lacks(engine, run_id))
        with pytest.raises(InputInvalid, match="not yet the end"):
            await engine.answer(request.request_id, {"word": "end"}, drive=False)
        answered = await engine.answer(request.request_id, {"word": "yes"}, drive=False)
        assert answered.run_id == run_id
        with pytest.raises(ConflictError, match="was answered already by") as late:
            await engine.answer(request.request_id, {"word": "no"}, drive=False)
        assert late.value.code == "revision_changed"
    agents = {"default": CallableAgent(silent)}
    async with opened(kind, tmp_path / "home", agents=agents, workflows=[workflow()]) as engine:
        await engine.resume(run_id)
        ended = await engine.wait(run_id, timeout=20)
        assert (ended.status, ended.output) == ("completed", {"word": "yes", "by": ""})
        assert asked == ["What now?"]
    check_sound(tmp_path / "home")


async def _lacks(engine: Any, run_id: str) -> bool:
    status = await engine.status(run_id)
    return bool(status.reason is not None and status.reason.code == "environment_missing")


async def _asked(engine: Any, run_id: str) -> bool:
    return bool(await engine.requests(run_id))
