"""C85, C75: a step costs the same however many came before it, and who waits costs nothing."""

import itertools
import time
from pathlib import Path

import pytest

from runwright import Context, Engine, JsonObject, Workflow, hours
from runwright.engine.embedded import housekeeping
from runwright.engine.reading.reader import Reader
from runwright.projections.follower import PAUSE
from support.costs import Cost, counting


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Cost:
    """Counts what every connection does that is opened from now on."""
    return counting(monkeypatch)


def test_c85_a_step_costs_the_same_after_a_thousand(home: Path, cost: Cost, monkeypatch: pytest.MonkeyPatch) -> None:
    """C85: statements per visit are constant, and so are the rows read; status and opening do not grow either."""
    # Views follow whenever there is time; here they wait, so that only what steps and reads ask is counted.
    monkeypatch.setattr(housekeeping, "DELAY", 600.0)
    visits, window = 1200, 100
    marks: list[tuple[int, int]] = []
    workflow: Workflow[JsonObject] = Workflow("loop", max_steps=2 * visits)

    @workflow.compute
    def turn(ctx: Context[JsonObject]) -> bool:
        if ctx.visit % window == 0:
            marks.append((cost.statements, cost.steps))
        return ctx.visit < visits

    @workflow.compute
    def end(ctx: Context[JsonObject]) -> int:
        return ctx.visits(turn)

    workflow.entry(turn)
    workflow.switch(turn, {True: turn, False: end})
    with Engine.open(home) as engine:
        small = engine.start(workflow, {}, drive=False)
        cheap = cost.of(lambda: engine.status(small))
        run_id = engine.start(workflow, {})
        assert engine.wait(run_id).output == visits
        statements = [later[0] - earlier[0] for earlier, later in itertools.pairwise(marks)]
        steps = [later[1] - earlier[1] for earlier, later in itertools.pairwise(marks)]
        assert max(statements) <= min(statements) * 1.1, statements
        assert max(steps) <= min(steps) * 1.5 + 10, steps
        assert statements[0] / window < 40
        dear = cost.of(lambda: engine.status(run_id))
        assert dear[0] <= cheap[0] + 2
        assert dear[1] <= cheap[1] * 1.5 + 10
    opened = cost.of(lambda: Reader.open(home).close())
    fresh = cost.of(lambda: Engine.open(home.with_name("fresh")).close())
    assert opened[1] <= fresh[1] + 20


def test_c75_an_engine_that_waits_does_nothing(home: Path, cost: Cost) -> None:
    """C75: with many runs that wait for a far timer nothing is asked of the store; a new run starts at once."""
    workflow: Workflow[JsonObject] = Workflow("waiting")
    workflow.entry(workflow.wait("pause", hours(1)))
    quick: Workflow[JsonObject] = Workflow("quick")

    @quick.compute
    def one(ctx: Context[JsonObject]) -> int:
        return 1

    quick.entry(one)
    with Engine.open(home) as engine:
        for _ in range(20):
            engine.start(workflow, {})
        end = time.monotonic() + 60
        while len(engine.reader.runs(statuses=["waiting"]).items) < 20:
            assert time.monotonic() < end
            time.sleep(0.01)
        # What follows the last commits may have its turn first: the views look at most once in so many seconds. Then
        # there is a longer time in which nothing is asked at all; whatever polled more often would leave none.
        while cost.of(lambda: time.sleep(PAUSE + 0.2)) != (0, 0):
            assert time.monotonic() < end
        assert engine.run(quick, {}).output == 1
