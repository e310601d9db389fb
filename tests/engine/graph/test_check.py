"""`check` finds everything at once, also in children, raises nothing before it, and takes what is sound."""

from itertools import pairwise
from typing import Any

from runwright import JsonObject, Place, Workflow, minutes, seconds
from support.faulty import bag, child, ok


def test_everything_is_found_at_once() -> None:
    """Ten faults in one workflow are ten errors, in the order of their lines."""
    flow = Workflow("cancel", max_steps=0, timeout=-1, input=bytes)
    lost = flow.compute(bag)
    flow.then(lost, "nowhere")  # type: ignore[arg-type]
    flow.switch(lost, {}, on="a")
    flow.catch(lost, lost, on=())
    flow.limit(lost, 0, lost)
    assert [each.code for each in flow.check()] == [
        *("name_reserved", "type_unstorable", "option_invalid", "option_invalid", "entry_missing"),
        *("type_unstorable", "place_unknown", "rule_twice", "case_invalid", "path_invalid"),
        *("outcome_unknown", "option_invalid", "limit_cycle"),
    ]


def test_a_workflow_cannot_contain_itself() -> None:
    """Mounting oneself, directly or through others, is refused with the whole chain."""
    one, two = Workflow("one"), Workflow("two")
    for flow, other in ((one, two), (two, one)):
        mount = flow.include(f"the-{other.name}", other, input=lambda ctx: {})
        flow.entry(mount)
    cycle = [each for each in one.check() if each.code == "mount_cycle"]
    assert len(cycle) == 1
    assert "one -> two (as 'the-two') -> one (as 'the-one')" in cycle[0].message


def test_a_path_has_an_end() -> None:
    """Nesting is bounded by the longest node path."""
    flow = child()
    for number in range(20):
        outer = Workflow(f"outer{number}")
        mount = outer.include("m" * 60, flow, input=lambda ctx: {})
        outer.entry(mount)
        last = outer.compute(name="last")(ok)
        outer.then(mount["ready"], last)
        outer.exit("ready", last)
        flow = outer
    assert {each.code for each in flow.check()} == {"path_too_long"}


def test_a_named_child_is_found_by_whoever_resolves_it() -> None:
    """A reference that leads nowhere is an error where it can be followed, and taken on trust elsewhere."""
    flow = Workflow("flow")
    mount = flow.include("docs", "documentation", input=lambda ctx: {})
    flow.entry(mount)

    def nothing(reference: str) -> Workflow[Any]:
        raise LookupError("private text")

    assert flow.check() == []
    assert flow.check(lambda reference: child()) == []
    assert [each.code for each in flow.check(nothing)] == ["child_unknown"]
    assert "private text" not in str(flow.check(nothing)[0])


def test_a_child_has_its_own_faults() -> None:
    """What is wrong inside a mounted child is found with the parent."""
    inner = child()
    inner.compute(name="lost")(ok)
    flow = Workflow("flow")
    flow.entry(flow.include("docs", inner, input=lambda ctx: {}))
    assert [each.code for each in flow.check()] == ["place_unreachable"]


def test_a_timeout_or_a_childs_wait_beyond_the_run_is_named() -> None:
    """The root's limit holds for what it mounts; how long each is stands in the sentence."""
    flow = Workflow("flow", timeout=3600)
    think = flow.agent(timeout=minutes(90), name="think")(ok)
    inner = Workflow("inner")
    last = inner.wait("pause", minutes(60))
    inner.entry(last)
    inner.exit("ready", last)
    docs = flow.include("docs", inner, input=lambda ctx: {})
    flow.entry(think)
    flow.then(think, docs)
    found = flow.check()
    assert [(each.code, each.severity) for each in found] == [("time_beyond_run", "warning")] * 2
    assert "The timeout of 'think' is 90 min, and the timeout of 'flow' (1 h) ends the run" in found[0].message
    assert "The time of 'pause' is 1 h," in found[1].message


def test_times_within_a_run_are_nobodys_business() -> None:
    """Shorter ones, one that nobody chose, one that is worked out later, and all in a run without a limit."""
    for limit in (minutes(10), None):
        flow = Workflow("flow", timeout=limit)
        ask = flow.decision(choices=["yes"], deadline=minutes(9), on_timeout="yes", name="ask")(ok)
        think = flow.agent(timeout=lambda ctx: 10_000, name="think")(ok)
        pause = flow.wait("pause", minutes(9))
        work = flow.compute(name="work")(ok)  # 15 minutes, for want of a word
        end = flow.compute(name="end", timeout=None)(ok)
        flow.entry(ask)
        flow.switch(ask, {"yes": think}, on="$.choice")
        flow.then(think, pause)
        flow.then(pause, work)
        flow.then(work, end)
        assert flow.check() == []
    # A mounted child's own limit does not apply, so nothing lies beyond it.
    inner = Workflow("inner", timeout=minutes(1))
    last = inner.wait("pause", minutes(5))
    inner.entry(last)
    inner.exit("ready", last)
    outer = Workflow("outer", timeout=minutes(10))
    outer.entry(outer.include("docs", inner, input=lambda ctx: {}))
    assert [each.code for each in outer.check()] == ["child_option_ignored"]
    assert [each.code for each in inner.check()] == ["time_beyond_run"]


def test_what_a_function_is_called_with_is_named() -> None:
    """A `validate` of the value alone is told both arguments, in their order."""
    flow = Workflow("judged", input=JsonObject)
    flow.entry(flow.agent(name="ask", validate=lambda value: None)(lambda ctx: "?"))  # type: ignore[misc, arg-type]
    assert [each.message for each in flow.check()] == ["validate= of 'ask' cannot be called with `(ctx, value)`."]


def test_decorators_never_raise() -> None:
    """Whatever they are given, it is check that says so."""
    flow = Workflow("flow")
    node: Any = flow.compute(3)  # type: ignore[call-overload]
    flow.entry(node)
    flow.then(None, None)  # type: ignore[arg-type]
    flow.switch(node, None, on=None, default=3)  # type: ignore[arg-type]
    flow.limit(None, None, None)  # type: ignore[arg-type]
    flow.exit("x", None)  # type: ignore[arg-type]
    assert {each.code for each in flow.check()} >= {"function_invalid", "place_unknown", "source_unknown"}


def test_sound_options_are_taken() -> None:
    """Numbers, timedeltas, none and functions are times; a fixed wait needs no function."""
    flow = Workflow("flow", timeout=lambda ctx: 5)
    times: list[Any] = [1, 0.5, minutes(1), None, lambda ctx: 5]
    nodes: list[Place] = [flow.compute(timeout=each, name=f"n{at}")(ok) for at, each in enumerate(times)]
    pause = flow.wait("pause", seconds(1))
    flow.entry(nodes[0])
    for one, other in pairwise([*nodes, pause]):
        flow.then(one, other)  # type: ignore[arg-type]  # each is a node
    assert flow.check() == []
