"""A context for one function of a workflow, without a run."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, overload

from runwright.engine.authoring.context import Context
from runwright.engine.authoring.conversion import from_json, to_json
from runwright.engine.authoring.nodes import MountExit, Node, Place
from runwright.engine.authoring.results import NodeResult
from runwright.engine.authoring.workflow import Workflow
from runwright.eventstore.values import Json, JsonObject

I = TypeVar("I")  # noqa: E741 - the name of the input's type everywhere in the public surface

_NONE: Mapping[Any, Any] = {}
_THEN = datetime(2026, 1, 1, tzinfo=UTC)


@overload
def context(
    workflow: Workflow[JsonObject],
    input: JsonObject,
    *,
    outputs: "Mapping[Node[..., Any, Any] | MountExit[Any], object]" = ...,
    visits: Mapping[Place, int] = ...,
    node: str = ...,
    visit: int = ...,
    attempt: int = ...,
    cwd: Path | None = ...,
    scratch: Path | None = ...,
) -> Context[JsonObject]: ...
@overload
def context(
    workflow: Workflow[I],
    input: I,
    *,
    outputs: "Mapping[Node[..., Any, Any] | MountExit[Any], object]" = ...,
    visits: Mapping[Place, int] = ...,
    node: str = ...,
    visit: int = ...,
    attempt: int = ...,
    cwd: Path | None = ...,
    scratch: Path | None = ...,
) -> Context[I]: ...
def context(
    workflow: Workflow[Any],
    input: Any,
    *,
    outputs: "Mapping[Node[..., Any, Any] | MountExit[Any], object]" = _NONE,
    visits: Mapping[Place, int] = _NONE,
    node: str = "test",
    visit: int = 1,
    attempt: int = 1,
    cwd: Path | None = None,
    scratch: Path | None = None,
) -> Context[Any]:
    """Make the context that a function of a workflow would see.

    Args:
        workflow: The workflow that the function belongs to.
        input: Its input; the function sees what is left of it after it was stored.
        outputs: The accepted outputs there are, by node or way out of a mount, as the node's own type.
        visits: How often places were entered; by default once where there is an output.
        node: The name of the node whose function it is.
        visit: The visit.
        attempt: The attempt.
        cwd: The folder that the run was started in; by default the current one.
        scratch: The run's private folder; by default ``cwd``.

    Raises:
        NotConvertible: The input, or an output, is not of its declared type.
    """
    folder = cwd or Path.cwd()
    counted = {source.name: 1 for source in outputs if isinstance(source, Node)}
    counted.update({place.name: count for place, count in visits.items()})
    return Context(
        input=from_json(to_json(input, workflow.input), workflow.input),
        run_id="test",
        node=node,
        path=node,
        visit=visit,
        attempt=attempt,
        steps_left=workflow.max_steps,
        cwd=folder,
        scratch=scratch or folder,
        deadline=None,
        log=logging.getLogger("runwright.testing"),
        workflow=workflow.name,
        results={source.key: _result(source.shape.dump(value)) for source, value in outputs.items()},
        visits=counted,
        report=lambda _: None,
    )


def _result(output: Json) -> NodeResult[Json]:
    return NodeResult(outcome="completed", output=output, error=None, started_at=_THEN, finished_at=_THEN)
