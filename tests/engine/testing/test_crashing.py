"""Does `crash_at` find what depends on a crash, and leave in peace what does not?"""

import itertools
import time
from typing import Any

import pytest

from runwright import Absent, Context, JsonObject, Observation, Workflow, hours, testing

careful = Workflow("careful", input=JsonObject)


@careful.compute
def plan(ctx: Context[JsonObject]) -> str:
    """Where it goes."""
    return f"to {ctx.run_id}"


def look(ctx: Context[JsonObject], request: str) -> Observation[str]:
    """Never called: the stand-in knows."""
    raise AssertionError


@careful.action(request=lambda ctx: ctx.output(plan), observe=look)
def post(ctx: Context[JsonObject], request: str) -> str:
    """An effect that can be looked up."""
    return "no"


rest = careful.wait("rest", hours(3))


@careful.action
def send(ctx: Context[JsonObject]) -> str:
    """An effect that must not happen twice."""
    return "no"


careful.entry(plan)
careful.then(plan, post)
careful.then(post, rest)
careful.then(rest, send)


def test_a_careful_workflow_survives_every_crash() -> None:
    """Both sides of each commit: the same end, and no effect twice, whether it is looked up or resolved."""
    sent: list[str] = []

    def sending(ctx: Context[JsonObject]) -> str:
        sent.append(ctx.run_id)
        return "sent"

    outcomes = testing.crash_at(careful, {}, effects={post: lambda ctx, request: request, send: sending})
    assert len(outcomes) > 10
    assert {each.output for each in outcomes} == {"sent"}
    assert len({each.output_of(post) for each in outcomes}) == 1
    assert len(sent) == len(outcomes) + 1, "once in each run, the last of which had no commit left to crash at"


def test_what_depends_on_a_crash_is_found() -> None:
    """A function whose output depends on how often it is called comes out differently, and the boundary is named."""
    flow = Workflow("careless", input=JsonObject)
    calls = itertools.count()

    @flow.compute
    def count(ctx: Context[JsonObject]) -> int:
        return next(calls)

    flow.entry(count)
    with pytest.raises(testing.CrashChanged, match=r"after commit \d, the output came out as"):
        testing.crash_at(flow, {})


def test_an_effect_that_is_observed_wrongly_is_found() -> None:
    """A real effect whose observation denies it happens twice, and that is told."""
    flow = Workflow("denied", input=JsonObject)

    @flow.action(request=lambda ctx: 1, observe=lambda ctx, request: Absent())
    def act(ctx: Context[JsonObject], request: int) -> str:
        return "done"

    flow.entry(act)
    with pytest.raises(testing.EffectRepeated, match=r"'act' \(visit 1\) happened 2 times"):
        testing.crash_at(flow, {}, effects={act: "real"})


@pytest.mark.parametrize("slow", [False, True])
def test_how_long_a_function_takes_changes_no_crash(slow: bool) -> None:
    """A request that is worked out slowly by chance, here in one life alone, leaves every commit where it was.

    The eighth request is that of the play which crashes before the effect's result is committed. With a commit more
    in it, that crash came to lie before the effect, and nothing was found.
    """
    flow = Workflow("denied", input=JsonObject)
    requests = itertools.count(1)

    def request(ctx: Context[JsonObject]) -> int:
        if slow and next(requests) == 8:
            time.sleep(0.05)
        return 1

    @flow.action(request=request, observe=lambda ctx, request: Absent())
    def act(ctx: Context[JsonObject], request: int) -> str:
        return "done"

    flow.entry(act)
    with pytest.raises(testing.EffectRepeated, match="before commit 4"):
        testing.crash_at(flow, {}, effects={act: "real"})


@pytest.mark.parametrize("pause", [0.0, 0.1])
def test_when_progress_is_reported_changes_no_crash(pause: float) -> None:
    """Progress goes with the end of its attempt, however long the function works on after it."""
    flow = Workflow("reporting", input=JsonObject)

    @flow.compute
    def work(ctx: Context[JsonObject]) -> str:
        ctx.update(completed=1, total=2)
        time.sleep(pause)
        return "done"

    flow.entry(work)
    assert len(testing.crash_at(flow, {})) == len(testing.crash_at(_silent(), {}))


def test_a_session_asks_at_the_same_commits_each_time() -> None:
    """What a session does beside its run is not mixed with it by chance: no play has a commit more or fewer."""
    flow = Workflow("asking", input=JsonObject)

    @flow.agent(returns=int)
    def ask(ctx: Context[JsonObject]) -> str:
        return f"How many? You said {ctx.visits(ask) - 1} times."

    @flow.notify
    def tell(ctx: Context[JsonObject]) -> str:
        return "So many."

    flow.entry(ask)
    flow.then(ask, tell)
    flow.then(tell, ask)
    flow.limit(ask, visits=2, to=(end := flow.compute(name="end")(lambda ctx: None)))
    assert end.name == "end"
    agents: dict[Any, list[int]] = {ask: [1, 2]}
    commits = {len(testing.crash_at(flow, {}, agents=agents, session=True)) for _ in range(2)}
    assert len(commits) == 1


def test_the_run_that_carries_another_on_may_be_named_otherwise() -> None:
    """Its ID follows from the request that was answered, and a crash before that has another one asked."""
    flow = Workflow("continued", input=JsonObject)

    @flow.checkpoint(summary="Look at it", returns=int)
    def look(ctx: Context[JsonObject]) -> int:
        return 1

    @flow.compute
    def name(ctx: Context[JsonObject]) -> dict[str, list[str]]:
        return {ctx.run_id: [f"run {ctx.run_id}"]}

    flow.entry(look)
    flow.then(look, name)
    outcomes = testing.crash_at(flow, {}, decisions={look: [2]})
    assert len({each.run_id for each in outcomes}) > 1
    assert all(each.output == {each.run_id: [f"run {each.run_id}"]} for each in outcomes)


def _silent() -> Workflow[JsonObject]:
    """As above, without a word."""
    flow = Workflow("silent", input=JsonObject)

    @flow.compute
    def work(ctx: Context[JsonObject]) -> str:
        return "done"

    flow.entry(work)
    return flow
