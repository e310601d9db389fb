"""Decorators with and without parentheses, for plain and for async functions."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest
from attrs import frozen

from runwright import (
    Command,
    Context,
    Decided,
    Exit,
    JsonObject,
    Mount,
    MountExit,
    Node,
    Question,
    ShellResult,
    Workflow,
    minutes,
)
from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.authoring.limits import limit_us
from runwright.engine.authoring.outputs import return_type


@frozen
class Tag:
    """An output."""

    tag: str


def text(ctx: Context[Any]) -> str:
    """A plain function."""
    return "text"


async def later(ctx: Context[Any]) -> int:
    """An async function."""
    return 3


@pytest.mark.parametrize("kind", ["agent", "assistant", "compute", "action", "shell", "notify", "wait"])
def test_a_decorator_works_with_and_without_parentheses(kind: str) -> None:
    """The bare form is the one with all defaults."""
    bare, called = Workflow("bare"), Workflow("called")
    one: Node[..., Any, Any] = getattr(bare, kind)(text)
    other: Node[..., Any, Any] = getattr(called, kind)()(text)
    assert (one.name, one.declaration.kind) == ("text", kind) == (other.name, other.declaration.kind)
    assert one.declaration.timeout == other.declaration.timeout
    assert one(None) == "text"


def test_work_has_a_default_time_limit() -> None:
    """Fifteen minutes for work; none for waits, decisions and checkpoints."""
    flow = Workflow("flow")
    assert flow.compute(text).declaration.timeout == minutes(15)
    assert flow.wait("pause", minutes(1)).declaration.timeout is None
    assert flow.decision(choices=["a"])(text).declaration.timeout is None


def test_names_and_labels_can_be_given() -> None:
    """By default the function's."""
    node = Workflow("flow").compute(name="other", label="Another")(text)
    assert (node.name, node.declaration.label) == ("other", "Another")
    assert node.__doc__ == "A plain function."


def test_async_functions_are_nodes_like_others() -> None:
    """The output is what they return when they are awaited."""
    node = Workflow("flow").compute(later)
    assert node.shape.dump(3) == 3
    ctx: Any = None
    assert asyncio.run(_awaited(node(ctx))) == 3


async def _awaited(value: Awaitable[int]) -> int:
    return await value


def test_a_fixed_wait_has_no_function() -> None:
    """Calling it says so."""
    with pytest.raises(TypeError, match="'pause' is a fixed wait"):
        Workflow("flow").wait("pause", minutes(1))()


@pytest.mark.parametrize(
    ("declare", "value", "document"),
    [
        (lambda flow: flow.agent(returns=Tag)(text), Tag("a"), {"tag": "a"}),
        (lambda flow: flow.agent(text), {"any": [1]}, {"any": [1]}),
        (lambda flow: flow.agent(schema={"type": "integer"})(text), 3, 3),
        (lambda flow: flow.choose(choices=["a", "b"])(text), "b", "b"),
        (lambda flow: flow.assistant(text), "x", "x"),
        (lambda flow: flow.compute(later), 3, 3),
        (lambda flow: flow.action(text), "x", "x"),
        (lambda flow: flow.shell(parse=lambda result: [1])(text), [1], [1]),
        (lambda flow: flow.notify(text), None, None),
        (lambda flow: flow.wait(text), None, None),
        (lambda flow: flow.checkpoint(summary="s", returns=Tag)(text), Tag("a"), {"tag": "a"}),
        (lambda flow: flow.checkpoint(summary="s")(text), [1], [1]),
    ],
)
def test_every_kind_has_one_output_type(declare: Any, value: Any, document: Any) -> None:
    """Stored as JSON and rebuilt from it, by one rule for every kind."""
    shape = declare(Workflow("flow")).shape
    assert shape.dump(value) == document
    assert shape.load(document) == value


def test_a_shell_has_its_result_and_a_decision_its_answer() -> None:
    """Unless a shell is parsed; and only a choice can be decided."""
    flow = Workflow("flow")
    assert flow.shell(text).shape.load({"stdout": "x"}) == ShellResult("x")
    decided = flow.decision(choices=["yes", "no"])(lambda ctx: Question("Go on?")).shape
    answer: JsonObject = {
        "choice": "yes",
        "text": None,
        "by": "me",
        "at": "2026-01-01T00:00:00+00:00",
        "timed_out": False,
    }
    assert isinstance(decided.load(answer), Decided)
    with pytest.raises(NotConvertible, match='none of "yes", "no"'):
        decided.load({**answer, "choice": "maybe"})
    with pytest.raises(NotConvertible, match="none of"):
        flow.choose(choices=["a"])(text).shape.dump("b")


def test_a_return_annotation_is_read_where_it_stands() -> None:
    """Quoted ones in their module, awaitables by what they give, callables by their call."""

    def quoted(ctx: object) -> "list[Tag]":
        return []

    def awaiting(ctx: object) -> Awaitable[Tag]:
        raise AssertionError

    class Called:
        def __call__(self, ctx: object) -> int:
            return 1

    assert return_type(quoted) == list[Tag]
    assert return_type(awaiting) is Tag
    assert return_type(Called()) is int
    assert return_type(lambda: 1) is Any
    assert return_type(Tag) is Tag


def test_mounts_have_exits_as_sources() -> None:
    """By the child's exit or by its name; the key is what outputs are found by."""
    inner = Workflow("inner")
    node = inner.compute(later)
    ready = inner.exit("ready", node)
    mount = Workflow("outer").include("docs", inner, input=lambda ctx: {})
    assert isinstance(ready, Exit)
    assert isinstance(mount, Mount)
    assert isinstance(mount[ready], MountExit)
    assert mount[ready].key == mount["ready"].key == "docs[ready]"
    assert mount[ready].shape.load(3) == 3
    assert mount["ready"].shape.load("any") == "any"


def test_a_shell_string_is_asked_for_by_name() -> None:
    """`Command.sh` is the one way to it."""
    command = Command.sh("ls | wc -l", check=False)
    assert command.argv == ["/bin/sh", "-c", "ls | wc -l"]
    assert command.check is False


@pytest.mark.parametrize(("given", "us"), [(None, None), (1, 1_000_000), (0.5, 500_000), (minutes(1), 60_000_000)])
def test_a_limit_is_a_number_of_microseconds(given: object, us: int | None) -> None:
    """However it was written."""
    assert limit_us(given) == us


@pytest.mark.parametrize("given", [0, -1, True, "5", float("nan"), float("inf"), 1e12, minutes(-1)])
def test_what_is_no_limit_is_refused(given: object) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="a time is"):
        limit_us(given)
