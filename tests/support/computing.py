"""A workflow of one compute node with a given body."""

from collections.abc import Callable
from typing import Any

from runwright import Context, JsonObject, Workflow


def computing(body: Callable[[Context[JsonObject]], Any], **how: Any) -> Workflow[JsonObject]:
    """One compute node with a given body."""
    workflow = Workflow("computing")

    @workflow.compute(**how)
    def work(ctx: Context[JsonObject]) -> Any:
        return body(ctx)

    workflow.entry(work)
    return workflow
