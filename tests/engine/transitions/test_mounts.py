"""Entering and leaving mounts: order, one inside another, what adopts, what is refused, what an end closes."""

from attrs import evolve

from runwright.engine.commands.client import CancelRun, PauseRun
from runwright.engine.commands.worker import (
    CompleteRun,
    EnterMount,
    ExitMount,
    FailRun,
    FinishNode,
    StartNode,
    WorkerTransition,
)
from runwright.engine.graph.definition import Definition, MountSpec
from runwright.engine.results import Adopted, Conflict
from runwright.eventstore.events.node import MountExited
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from support.graphs import graph, node
from support.stage import Stage

ONE = "run-1"


def mount(path: str, entry: str, exits: dict[str, str], max_steps: int = 1_000) -> MountSpec:
    """A mounted child."""
    return MountSpec(path=path, workflow="child", entry=entry, exits=exits, max_steps=max_steps, input_schema={})


def flow(max_steps: int = 1_000) -> Definition:
    """``plan``, then ``a`` with ``a/x`` and in it ``a/b`` with ``a/b/y``; ``a/z`` leaves; ``last`` ends."""
    return evolve(
        graph(node("plan"), node("a/x"), node("a/b/y"), node("a/z"), node("last")),
        mounts={
            "a": mount("a", "a/x", {"done": "a/z"}, max_steps),
            "a/b": mount("a/b", "a/b/y", {"ready": "a/b/y"}),
        },
        then={"plan": "a", "a/x": "a/b", "a/b[ready]": "a/z", "a[done]": "last"},
    )


ENTER = EnterMount(path="a", invocation=1, input={"n": 1})
LEAVE = ExitMount(path="a", invocation=1, exit="done", outcome="completed")


def start(path: str, visit: int = 1) -> StartNode:
    """The first attempt of a visit."""
    return StartNode(path=path, visit=visit, attempt=1)


def done(path: str, visit: int = 1, next: str | None = "last") -> FinishNode:
    """Its good end."""
    return FinishNode(path=path, visit=visit, attempt=1, outcome="completed", next=next, output=[path, visit])


def refused(scene: Stage, transition: WorkerTransition) -> str:
    """Have one transition refused, without a trace; answers the rule or the code."""
    before = scene.log.head()
    (result,) = scene.tell(scene.last, transition)
    assert isinstance(result, Conflict), result
    assert scene.log.head() == before
    return str(result.evidence.get("rule", result.code))


def begun(scene: Stage, definition: Definition) -> None:
    """A run inside ``a``, after ``a/x``."""
    scene.queue(definition)
    scene.applied(scene.claim(), start("plan"), done("plan"), ENTER, start("a/x"), done("a/x"))


def test_a_step_into_and_out_of_mounts_is_one_list(scene: Stage) -> None:
    """The rows say where the run stands, with input, output and the steps before; entries and exits are no steps."""
    begun(scene, flow())
    worker = scene.last
    scene.applied(worker, EnterMount(path="a/b", invocation=1, input=None), start("a/b/y"))
    inner, outer = scene.row(MOUNTS, ONE, "a/b"), scene.row(MOUNTS, ONE, "a")
    assert (outer.inside, outer.step_base, outer.within, outer.entries) == (True, 1, 0, 1)
    assert (inner.inside, inner.step_base, inner.within, inner.entries) == (True, 2, 1, 1)
    assert inner.input is not None
    assert scene.row(VISITS, ONE, "a/b/y").invocation == 1
    scene.applied(
        worker,
        done("a/b/y"),
        ExitMount(path="a/b", invocation=1, exit="ready", outcome="completed"),
        start("a/z"),
        done("a/z"),
        LEAVE,
        start("last"),
        done("last", next=None),
        CompleteRun(),
    )
    outer, run = scene.row(MOUNTS, ONE, "a"), scene.row(RUNS, ONE)
    assert (outer.inside, outer.exit, outer.outcome, outer.code) == (False, "done", "completed", None)
    assert (run.status, run.steps) == ("completed", 5)
    exits = [each.event for each in scene.log.read(f"run/{ONE}") if isinstance(each.event, MountExited)]
    assert [each.output.value for each in exits if each.output] == [["a/b/y", 1], ["a/z", 1]]


def test_an_equal_entry_or_exit_adopts_and_another_conflicts(scene: Stage) -> None:
    """Compared as JSON; a repeated list changes nothing."""
    begun(scene, flow())
    (again,) = scene.tell(scene.last, ENTER)
    assert isinstance(again, Adopted)
    assert refused(scene, EnterMount(path="a", invocation=1, input={"n": True})) == "mount_not_open"
    scene.applied(scene.last, start("a/z"), done("a/z"), LEAVE)
    (again,) = scene.tell(scene.last, LEAVE)
    assert isinstance(again, Adopted)
    assert refused(scene, ExitMount(path="a", invocation=1, exit=None, outcome="failed", code="node_failed")) == (
        "revision_changed"
    )


def test_what_may_be_entered(scene: Stage) -> None:
    """The next invocation of a known mount, whose own mounts are open and no others, between two attempts."""
    scene.queue(flow())
    scene.claim()
    assert refused(scene, EnterMount(path="nowhere", invocation=1)) == "unknown_mount"
    assert refused(scene, EnterMount(path="a", invocation=2)) == "invocation_out_of_order"
    assert refused(scene, EnterMount(path="a/b", invocation=1)) == "mount_not_open"
    assert refused(scene, start("a/x")) == "mount_not_open"
    assert refused(scene, EnterMount(path="a", invocation=1, outcome="failed")) == "code_unfit"
    scene.applied(scene.last, start("plan"))
    assert refused(scene, ENTER) == "attempt_open"
    scene.applied(scene.last, done("plan"), ENTER)
    assert refused(scene, start("last")) == "mount_not_open"
    assert refused(scene, start("a/b/y")) == "mount_not_open"


def test_what_may_be_left(scene: Stage) -> None:
    """The innermost open mount; by a way out only where its node completed in this invocation."""
    begun(scene, flow())
    assert refused(scene, LEAVE) == "exit_unfit"
    assert refused(scene, ExitMount(path="a", invocation=2, exit=None, outcome="failed", code="node_failed")) == (
        "mount_not_open"
    )
    assert refused(scene, ExitMount(path="a", invocation=1, exit=None, outcome="failed")) == "code_unfit"
    assert refused(scene, ExitMount(path="a", invocation=1, exit="done", outcome="failed", code="node_failed")) == (
        "exit_unfit"
    )
    scene.applied(scene.last, EnterMount(path="a/b", invocation=1))
    assert refused(scene, ExitMount(path="a", invocation=1, exit=None, outcome="failed", code="node_failed")) == (
        "mount_not_open"
    )
    scene.applied(scene.last, start("a/b/y"))
    assert refused(scene, ExitMount(path="a/b", invocation=1, exit=None, outcome="failed", code="node_failed")) == (
        "attempt_open"
    )
    scene.applied(
        scene.last, done("a/b/y"), ExitMount(path="a/b", invocation=1, exit="ready", outcome="completed"), start("a/z")
    )
    scene.applied(scene.last, done("a/z"), LEAVE, EnterMount(path="a", invocation=2))
    # The output of the first invocation is not a way out of the second.
    assert refused(scene, ExitMount(path="a", invocation=2, exit="done", outcome="completed")) == "exit_unfit"
    assert refused(scene, CompleteRun()) == "mount_open"


def test_an_entry_whose_input_failed_ends_as_it_begins(scene: Stage) -> None:
    """It counts as an entry, holds no input, and is over."""
    scene.queue(flow())
    worker = scene.claim()
    failed = EnterMount(path="a", invocation=1, outcome="failed", code="input_invalid", error="token=abc is no number")
    scene.applied(worker, start("plan"), done("plan"), failed)
    row = scene.row(MOUNTS, ONE, "a")
    assert (row.inside, row.outcome, row.code, row.input, row.entries) == (False, "failed", "input_invalid", None, 1)
    assert isinstance(scene.tell(worker, failed)[0], Adopted)
    scene.applied(worker, EnterMount(path="a", invocation=2))
    assert scene.row(MOUNTS, ONE, "a").entries == 2


def test_a_further_attempt_stands_where_the_first_one_did(scene: Stage) -> None:
    """A retry is held against the open mounts like any start: not inside another one, nor in its next invocation."""
    base = flow()
    retried = {"plan": node("plan", attempts=2), "a/x": node("a/x", attempts=3)}
    scene.queue(evolve(base, nodes={**base.nodes, **retried}))
    again = StartNode(path="plan", visit=1, attempt=2)
    failed = FinishNode(path="plan", visit=1, attempt=1, outcome="failed", code="node_failed")
    scene.applied(scene.claim(), start("plan"), failed, ENTER)
    assert refused(scene, again) == "mount_not_open"
    inside = evolve(failed, path="a/x")
    left = ExitMount(path="a", invocation=1, exit=None, outcome="failed", code="node_failed")
    scene.applied(scene.last, start("a/x"), inside, evolve(again, path="a/x"), evolve(inside, attempt=2), left)
    assert refused(scene, evolve(again, path="a/x", attempt=3)) == "mount_not_open"
    scene.applied(scene.last, evolve(ENTER, invocation=2))
    assert refused(scene, evolve(again, path="a/x", attempt=3)) == "invocation_over"
    scene.applied(scene.last, start("a/x", 2))


def test_a_child_has_a_bound_on_steps_for_each_invocation(scene: Stage) -> None:
    """What the parent used does not count, and a new entry counts anew."""
    begun(scene, flow(max_steps=1))
    assert refused(scene, start("a/z")) == "max_steps_exceeded"
    left = ExitMount(path="a", invocation=1, exit=None, outcome="failed", code="max_steps_exceeded", error="too many")
    scene.applied(scene.last, left, EnterMount(path="a", invocation=2), start("a/x", 2))
    assert scene.row(VISITS, ONE, "a/x").invocation_visits == 1


def test_a_pause_stops_before_an_entry(scene: Stage) -> None:
    """An entry is a beginning; an exit belongs to what has ended."""
    begun(scene, flow())
    scene.applied(scene.last, start("a/z"), done("a/z"))
    scene.ask(PauseRun(run_id=ONE))
    assert refused(scene, EnterMount(path="a/b", invocation=1)) == "paused"
    scene.applied(scene.last, LEAVE)


def test_an_end_closes_the_open_mounts(scene: Stage) -> None:
    """Innermost first, however the run ends (law 6: nothing of it stays open)."""
    begun(scene, flow())
    scene.applied(scene.last, EnterMount(path="a/b", invocation=1))
    scene.ask(CancelRun(run_id=ONE))
    exits = [each.event for each in scene.log.read(f"run/{ONE}") if isinstance(each.event, MountExited)]
    assert [(each.path, each.outcome) for each in exits] == [("a/b", "cancelled"), ("a", "cancelled")]
    assert [each.inside for each in scene.rows(MOUNTS, run_id=ONE)] == [False, False]


def test_a_failure_closes_them_too(scene: Stage) -> None:
    """A worker that fails the run where it stands need not leave first."""
    begun(scene, flow())
    failed = FailRun(outcome="failed", code="route_missing", phase="execute", message="No case.")
    scene.applied(scene.last, failed)
    assert [(each.inside, each.code) for each in scene.rows(MOUNTS, run_id=ONE)] == [(False, "route_missing")]
