"""`check` finds everything at once, also in children, raises nothing before it, and takes what is sound."""

from itertools import pairwise
from typing import Any

from runwright import Place, Workflow, minutes, seconds
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
