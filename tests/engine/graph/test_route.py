"""Routing by the rules of page 04, sentence by sentence."""

from typing import Any

import pytest

from runwright import Context, Json, Workflow
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.graph.definition import CaseValue, Definition
from runwright.engine.graph.route import Complete, Go, Leave, RouteMissing, Uncaught, first, matches, route


def value(ctx: Context[Any]) -> Any:
    """A node's function with any JSON as output."""


def looping() -> Definition:
    """``a`` switches to ``b`` or ``c``; ``b`` goes back, three times at most; ``c`` ends."""
    flow = Workflow("loop")
    a, b, c, d = (flow.compute(name=name)(value) for name in "abcd")
    flow.entry(a)
    flow.switch(a, {"again": b, 2: c, True: d, None: c}, on="$.next")
    flow.then(b, a)
    flow.limit(b, visits=3, to=c)
    flow.catch(a, d, on=("failed",))
    flow.catch(b, c)
    return compile_workflow(flow).definition


def test_a_run_begins_at_the_entry() -> None:
    """The entry is the first place."""
    assert first(looping()) == Go("a")


def test_then_always_leads_on() -> None:
    """A success rule without a condition."""
    assert route(looping(), "b", "completed", None, {}) == Go("a")


@pytest.mark.parametrize(("found", "place"), [("again", "b"), (2, "c"), (2.0, "c"), (True, "d"), (None, "c")])
def test_a_switch_matches_by_type_and_value(found: Json, place: str) -> None:
    """Booleans match only booleans, numbers by value."""
    assert route(looping(), "a", "completed", {"next": found}, {}) == Go(place)


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ({"next": "other"}, "string"),
        ({"next": 1}, "number"),
        ({"next": False}, "boolean"),
        ({"next": []}, "array"),
        ({}, "missing"),
        (["next"], "missing"),
    ],
)
def test_a_value_without_a_case_has_no_route(output: Json, found: str) -> None:
    """Without a default it names node, path, type and the known cases, and never the value."""
    missing = route(looping(), "a", "completed", output, {})
    assert missing == RouteMissing("a", "$.next", found, ("again", 2, True, None))
    assert missing.code == "route_missing"
    assert missing.message == (
        f"No case of 'a' matches $.next (found: {found}; known cases: \"again\", 2, true, null). "
        "Add the case, or a default, to the switch."
    )


def test_a_default_takes_what_no_case_matches() -> None:
    """Also what is not there at all."""
    flow = Workflow("flow")
    a, b, c = (flow.compute(name=name)(value) for name in "abc")
    flow.entry(a)
    flow.switch(a, {"x": b}, on="$.x", default=c)
    definition = compile_workflow(flow).definition
    assert route(definition, "a", "completed", {"x": "y"}, {}) == Go("c")
    assert route(definition, "a", "completed", {}, {}) == Go("c")


def test_a_node_without_a_success_rule_completes_the_run() -> None:
    """With that node's output."""
    assert route(looping(), "c", "completed", 3, {}) == Complete()


def test_a_limit_lets_the_first_entries_in_and_sends_the_next_elsewhere() -> None:
    """The first n entries go in, the next goes to ``to``."""
    output: Json = {"next": "again"}
    assert [route(looping(), "a", "completed", output, {"b": n}) for n in (0, 2, 3, 4)] == [
        Go("b"),
        Go("b"),
        Go("c"),
        Go("c"),
    ]


def test_limits_lead_on_to_limits() -> None:
    """A used up limit may lead to a place whose own limit is used up."""
    flow = Workflow("flow")
    a, b, c, d = (flow.compute(name=name)(value) for name in "abcd")
    flow.entry(a)
    flow.then(a, b)
    flow.then(b, a)
    flow.then(c, a)
    flow.limit(b, 1, c)
    flow.limit(c, 1, d)
    definition = compile_workflow(flow).definition
    assert route(definition, "a", "completed", None, {"b": 1}) == Go("c")
    assert route(definition, "a", "completed", None, {"b": 1, "c": 1}) == Go("d")


def test_a_catch_takes_the_outcomes_it_names() -> None:
    """One catch per bad outcome; what none names is uncaught."""
    definition = looping()
    assert route(definition, "a", "failed", None, {}) == Go("d")
    assert route(definition, "a", "timed_out", None, {}) == Uncaught("timed_out")
    assert route(definition, "b", "timed_out", None, {}) == Go("c")
    assert route(definition, "c", "failed", None, {}) == Uncaught("failed")


@pytest.mark.parametrize(
    ("case", "found", "same"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        (False, None, False),
        (None, None, True),
        ("1", 1, False),
        ("a", "a", True),
        (0, "", False),
    ],
)
def test_cases_match_by_json_type_and_value(case: CaseValue, found: Json, same: bool) -> None:
    """Each pair, either way round."""
    assert matches(case, found) is same


def mounted() -> Definition:
    """``start`` leads to ``docs``, whose ``plan`` leads to ``inner/work``; the exits lead on in the parent."""
    innermost = Workflow("innermost")
    work = innermost.compute(name="work")(value)
    innermost.entry(work)
    done = innermost.exit("done", work)

    inner = Workflow("docs-flow", max_steps=50)
    plan, write, blocked = (inner.compute(name=name)(value) for name in ("plan", "write", "blocked"))
    deeper = inner.include("inner", innermost, input=lambda ctx: {})
    inner.entry(plan)
    inner.then(plan, deeper)
    inner.switch(deeper[done], {"ok": write}, default=blocked)
    inner.catch(write, blocked)
    ready = inner.exit("ready", write)
    inner.exit("blocked", blocked)

    flow = Workflow("release")
    start, publish, stop, caught = (flow.compute(name=name)(value) for name in ("start", "publish", "stop", "caught"))
    docs = flow.include("docs", inner, input=lambda ctx: {})
    again = flow.include("again", innermost, input=lambda ctx: {})
    flow.entry(start)
    flow.then(start, docs)
    flow.then(docs[ready], publish)
    flow.then(docs["blocked"], stop)
    flow.catch(docs, caught, on=("failed",))
    flow.limit(docs, 2, stop)
    flow.then(publish, again)
    return compile_workflow(flow).definition


def test_a_mount_is_entered_at_the_childs_entry() -> None:
    """Entries of mounts are told, outermost first."""
    assert route(mounted(), "start", "completed", None, {}) == Go("docs/plan", enters=("docs",))
    assert route(mounted(), "docs/plan", "completed", None, {}) == Go("docs/inner/work", enters=("docs/inner",))


def test_a_mount_has_a_limit_like_a_node() -> None:
    """Counted by the parent's invocation."""
    assert route(mounted(), "start", "completed", None, {"docs": 2}) == Go("stop")


def test_an_exit_leads_on_in_the_parent() -> None:
    """The output of the exit's node is what the parent's rule looks at."""
    left = Leave("docs/inner", "done", "completed")
    assert route(mounted(), "docs/inner/work", "completed", "ok", {}) == Go("docs/write", leaves=(left,))
    assert route(mounted(), "docs/inner/work", "completed", "no", {}) == Go("docs/blocked", leaves=(left,))
    left = Leave("docs", "ready", "completed")
    assert route(mounted(), "docs/write", "completed", None, {}) == Go("publish", leaves=(left,))


def test_an_exit_without_a_rule_completes_the_run() -> None:
    """As a node without a rule does."""
    left = Leave("again", "done", "completed")
    assert route(mounted(), "again/work", "completed", None, {}) == Complete(leaves=(left,))


def test_an_uncaught_outcome_leaves_the_mounts_and_is_caught_further_out() -> None:
    """At the node, then at each mount around it."""
    definition = mounted()
    out = (Leave("docs/inner", None, "failed"), Leave("docs", None, "failed"))
    assert route(definition, "docs/inner/work", "failed", None, {}) == Go("caught", leaves=out)
    late = (Leave("docs/inner", None, "timed_out"), Leave("docs", None, "timed_out"))
    assert route(definition, "docs/inner/work", "timed_out", None, {}) == Uncaught("timed_out", leaves=late)
    assert route(definition, "docs/write", "failed", None, {}) == Go("docs/blocked")
