"""Functions and a child that workflows with one fault are made of."""

from typing import Any, Literal

from attrs import frozen

from runwright import Context, Json, Workflow


@frozen
class Verdict:
    """An output with a field of few values."""

    verdict: Literal["clean", "issues"]
    clean: bool
    notes: str = ""


def ok(ctx: Context[Any]) -> str:
    """A node's function."""
    return "ok"


def verdict(ctx: Context[Any]) -> Verdict:
    """A node's function with a typed output."""
    return Verdict("clean", True)


def child(**options: Any) -> Workflow[dict[str, Json]]:
    """A workflow with one exit."""
    inner = Workflow("inner", **options)
    last = inner.compute(name="last")(ok)
    inner.entry(last)
    inner.exit("ready", last)
    return inner


def bag(ctx: Context[Any]) -> set[int]:
    """A node's function whose output cannot be stored."""
    return set()
