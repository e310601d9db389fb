"""Does `crash_at` find what depends on a crash, and leave in peace what does not?"""

import itertools

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
