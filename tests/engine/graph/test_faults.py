"""Every fault that `check` knows, each found at the line where it was written."""

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from runwright import Choice, Context, DefinitionError, Present, Retry, Workflow, hours
from runwright.engine.graph.codes import CODES
from support.faulty import bag, child, ok, verdict


class Colour(Enum):
    """An output of few values."""

    RED = "red"
    BLUE = "blue"


def colour(ctx: Context[Any]) -> Colour:
    """A node's function with an output of few values."""
    return Colour.RED


def unreadable(ctx: Context[Any]) -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821 (that is the point)
    """A node's function whose annotation cannot be read."""


#: What puts a fault into a sound workflow.
Build = Callable[[Workflow[Any], Any], None]
CASES: dict[str, tuple[str, Build]] = {}


def fault(code: str) -> Callable[[Build], Build]:
    """A workflow with one fault, marked in its text by a comment ``here``."""

    def add(build: Build) -> Build:
        CASES[build.__name__.strip("_")] = (code, build)
        return build

    return add


@fault("name_invalid")
def _a_bad_name(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(name="no spaces")(ok))  # here


@fault("name_taken")
def _a_name_taken(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(name="start")(ok))  # here


@fault("function_invalid")
def _no_argument(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(name="none")(lambda: 1))  # type: ignore[arg-type, misc]  # here


@fault("function_invalid")
def _an_observer_without_the_request(flow: Workflow[Any], start: Any) -> None:
    act = flow.action(request=ok, observe=lambda ctx: Present(), name="act")  # type: ignore[misc, arg-type]
    flow.then(start, act(lambda ctx, request: request))  # here


@fault("function_invalid")
def _a_shell_that_returns_text(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.shell(name="run")(ok))  # here


@fault("type_unstorable")
def _a_set(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(bag))  # here


@fault("type_unstorable")
def _an_annotation_from_nowhere(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(unreadable))  # here


@fault("type_unstorable")
def _a_schema_that_nobody_checks(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.agent(schema={"oneOf": []}, name="asked")(ok))  # here


@fault("option_invalid")
def _a_timeout_of_zero(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(timeout=0, name="fast")(ok))  # here


@fault("option_invalid")
def _a_retry_of_none(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.compute(retry=Retry(attempts=0), name="never")(ok))  # here


@fault("option_invalid")
def _a_recovery_that_is_none(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.action(recovery="often", name="act")(ok))  # type: ignore[call-overload]  # here


@fault("option_invalid")
def _recovery_and_observe(flow: Workflow[Any], start: Any) -> None:
    act = flow.shell(recovery="manual", observe=lambda ctx, command: Present(), name="act")
    flow.then(start, act(lambda ctx: ["true"]))  # here


@fault("option_invalid")
def _on_timeout_without_deadline(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.decision(choices=["a"], on_timeout="a", name="ask")(ok))  # here


@fault("option_invalid")
def _a_wait_of_nothing(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.wait("pause", 3))  # type: ignore[call-overload]  # here


@fault("option_invalid")
def _a_limit_of_nothing(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.limit(start, visits=0, to=end)  # here


@fault("choices_invalid")
def _choices_twice(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.decision(choices=["a", Choice("a")], name="ask")(ok))  # here


@fault("choices_invalid")
def _on_timeout_is_no_choice(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.decision(choices=["a"], on_timeout="b", deadline=hours(1), name="ask")(ok))  # here


@fault("retry_manual")
def _a_retry_of_a_manual_effect(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.action(retry=Retry(), name="pay")(ok))  # here


@fault("entry_twice")
def _two_entries(flow: Workflow[Any], start: Any) -> None:
    flow.entry(start)  # here


@fault("place_unknown")
def _a_name_as_place(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, "finish")  # type: ignore[arg-type]  # here


@fault("place_unknown")
def _a_place_of_another_workflow(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, Workflow("other").compute(ok))  # here


@fault("source_unknown")
def _a_source_of_another_workflow(flow: Workflow[Any], start: Any) -> None:
    flow.then(Workflow("other").compute(ok), start)  # here


@fault("source_unknown")
def _a_mount_as_source(flow: Workflow[Any], start: Any) -> None:
    mount = flow.include("docs", child(), input=lambda ctx: {})
    flow.then(start, mount)
    flow.switch(mount["ready"], {"x": start}, default=start)
    flow.then(mount, start)  # type: ignore[arg-type]  # here


@fault("rule_twice")
def _two_success_rules(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.then(start, end)
    flow.switch(start, {"ok": end}, default=end)  # here


@fault("catch_twice")
def _two_catches(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.catch(start, end)
    flow.catch(start, end, on=("failed",))  # here


@fault("limit_twice")
def _two_limits(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.limit(start, 1, end)
    flow.limit(start, 2, end)  # here


@fault("limit_cycle")
def _limits_in_a_circle(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.limit(start, 1, end)  # here
    flow.limit(end, 1, start)


@fault("outcome_unknown")
def _a_catch_of_cancelled(flow: Workflow[Any], start: Any) -> None:
    end = flow.compute(name="end")(ok)
    flow.catch(start, end, on=("cancelled",))  # type: ignore[arg-type]  # here


@fault("place_unreachable")
def _a_place_without_a_way(flow: Workflow[Any], start: Any) -> None:
    flow.compute(name="lost")(ok)  # here


@fault("path_invalid")
def _a_path_with_a_wildcard(flow: Workflow[Any], start: Any) -> None:
    flow.switch(start, {"a": start}, on="$.a[*]", default=start)  # here


@fault("path_unknown")
def _a_path_that_the_type_has_not(flow: Workflow[Any], start: Any) -> None:
    look = flow.compute(verdict)
    flow.then(start, look)
    flow.switch(look, {"clean": start}, on="$.verdit", default=start)  # here


@fault("case_invalid")
def _no_cases(flow: Workflow[Any], start: Any) -> None:
    flow.switch(start, {}, default=start)  # here


@fault("case_invalid")
def _a_case_of_another_type(flow: Workflow[Any], start: Any) -> None:
    asked = flow.agent(name="asked")(ok)
    flow.then(start, asked)
    flow.switch(asked, {1.5: start}, default=start)  # type: ignore[dict-item]  # here


@fault("case_mixed")
def _cases_that_mix_one_and_false(flow: Workflow[Any], start: Any) -> None:
    asked = flow.agent(name="asked")(ok)
    flow.then(start, asked)
    flow.switch(asked, {1: start, False: start}, default=start)  # here


@fault("case_unknown")
def _a_case_that_never_is(flow: Workflow[Any], start: Any) -> None:
    look = flow.compute(verdict)
    flow.then(start, look)
    flow.switch(look, {"clean": start, "issues": start, "isues": start}, on="$.verdict")  # here


@fault("case_unknown")
def _a_case_of_a_type_that_never_is(flow: Workflow[Any], start: Any) -> None:
    flow.switch(start, {3: start}, default=start)  # here


@fault("case_missing")
def _an_unrouted_literal(flow: Workflow[Any], start: Any) -> None:
    look = flow.compute(verdict)
    flow.then(start, look)
    flow.switch(look, {"clean": start}, on="$.verdict")  # here


@fault("case_missing")
def _an_unrouted_boolean(flow: Workflow[Any], start: Any) -> None:
    look = flow.compute(verdict)
    flow.then(start, look)
    flow.switch(look, {True: start}, on="$.clean")  # here


@fault("case_missing")
def _an_unrouted_enum(flow: Workflow[Any], start: Any) -> None:
    look = flow.compute(colour)
    flow.then(start, look)
    flow.switch(look, {"red": start})  # here


@fault("case_missing")
def _an_unrouted_choice(flow: Workflow[Any], start: Any) -> None:
    pick = flow.choose(choices=["a", "b"], name="pick")(ok)
    flow.then(start, pick)
    flow.switch(pick, {"a": start})  # here


@fault("case_missing")
def _an_unrouted_decision(flow: Workflow[Any], start: Any) -> None:
    ask = flow.decision(choices=["yes", "no"], name="ask")(ok)
    flow.then(start, ask)
    flow.switch(ask, {"yes": start}, on="$.choice")  # here


@fault("manual_timeout_caught")
def _a_manual_effect_whose_timeout_is_caught(flow: Workflow[Any], start: Any) -> None:
    pay = flow.action(name="pay")(ok)
    flow.then(start, pay)
    flow.catch(pay, start)  # here


@fault("presentation_twice")
def _two_presentations(flow: Workflow[Any], start: Any) -> None:
    flow.presentation(lambda ctx, result: None)
    flow.presentation(lambda ctx, result: None)


@fault("exit_invalid")
def _an_exit_that_is_never_taken(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, start)
    flow.exit("done", start)  # here


@fault("exit_invalid")
def _an_exit_of_another_workflow(flow: Workflow[Any], start: Any) -> None:
    flow.exit("done", Workflow("other").compute(ok))  # here


@fault("exit_unknown")
def _an_exit_that_the_child_has_not(flow: Workflow[Any], start: Any) -> None:
    mount = flow.include("docs", child(), input=lambda ctx: {})
    flow.then(start, mount)
    flow.then(mount["redy"], start)  # here


@fault("exit_missing")
def _a_child_that_ends_without_an_exit(flow: Workflow[Any], start: Any) -> None:
    inner = Workflow("inner")
    inner.entry(inner.compute(name="last")(ok))
    flow.then(start, flow.include("docs", inner, input=lambda ctx: {}))  # here


@fault("child_unknown")
def _a_child_that_is_no_workflow(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.include("docs", 3, input=lambda ctx: {}))  # type: ignore[call-overload]  # here


@fault("child_option_ignored")
def _a_child_with_a_time_limit(flow: Workflow[Any], start: Any) -> None:
    flow.then(start, flow.include("docs", child(timeout=5), input=lambda ctx: {}))  # here


@fault("time_beyond_run")
def _a_deadline_that_the_run_does_not_live_to_see(flow: Workflow[Any], start: Any) -> None:
    flow.timeout = hours(1)
    ask = flow.decision(choices=["yes"], deadline=hours(24), on_timeout="yes", name="ask")(ok)  # here
    flow.then(start, ask)
    flow.switch(ask, {"yes": start}, on="$.choice")


@fault("time_beyond_run")
def _a_wait_as_long_as_the_run(flow: Workflow[Any], start: Any) -> None:
    flow.timeout = 3600
    flow.then(start, flow.wait("pause", hours(1)))  # here


def built(build: Build) -> list[DefinitionError]:
    """What is wrong with a workflow that is sound but for one fault."""
    flow = Workflow("flow")
    start = flow.compute(name="start")(ok)
    flow.entry(start)
    build(flow, start)
    return flow.check()


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_found_at_its_line(name: str) -> None:
    """One fault, one error with its code, the line that was marked, and a fix."""
    code, build = CASES[name]
    found = built(build)
    assert [each.code for each in found] == [code], found
    lines, first = inspect.getsourcelines(build)
    marked = [first + number for number, line in enumerate(lines) if line.rstrip().endswith("# here")]
    if marked:
        assert found[0].line == marked[0]
    assert found[0].file == __file__
    assert found[0].message.endswith((".", ":"))
    assert found[0].fix.endswith((".", "`")) or code == "choices_invalid"


def test_every_code_has_a_case() -> None:
    """The catalogue lists what is found, and everything that it lists is found by a test."""
    elsewhere = {"name_reserved", "entry_missing", "mount_cycle", "path_too_long"}
    assert {code for code, _ in CASES.values()} | elsewhere == set(CODES)


def test_warnings_stop_nothing() -> None:
    """What only deserves a word is a warning."""
    for name in (
        "a_manual_effect_whose_timeout_is_caught",
        "a_child_with_a_time_limit",
        "a_wait_as_long_as_the_run",
    ):
        assert [each.severity for each in built(CASES[name][1])] == ["warning"]


def test_an_error_is_one_line_that_says_where_and_what_to_do() -> None:
    """File and line come first, so that editors can jump there."""
    text = str(built(CASES["two_entries"][1])[0])
    assert text.startswith(f"{__file__}:")
    assert text.endswith("entry_twice: There is an entry already. Keep one.")
