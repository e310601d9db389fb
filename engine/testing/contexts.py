"""A context for one function of a workflow, without a run."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, overload

from runwright.engine.authoring.context import Context
from runwright.engine.authoring.conversion import NotConvertible, from_json, to_json
from runwright.engine.authoring.nodes import MountExit, Node, Place
from runwright.engine.authoring.results import NodeResult
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.errors import InputInvalid
from runwright.engine.near import meant
from runwright.engine.testing.errors import StandInUnknown, StandInWrong, TestingError
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
        InputInvalid: The input is not of its declared type.
        StandInUnknown: An output or a visit is given for what the workflow does not have.
        StandInWrong: An output is not of its node's type.
    """
    __tracebackhide__ = True  # what is told is about the test's own line
    folder = cwd or Path.cwd()
    for source in outputs:
        _check_place("outputs", source, source.mount if isinstance(source, MountExit) else source, workflow)
    for place in visits:
        _check_place("visits", place, place, workflow)
    counted = {source.name: 1 for source in outputs if isinstance(source, Node)}
    counted.update({place.name: count for place, count in visits.items()})
    return Context(
        input=_input(workflow, input),
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
        results={source.key: _result(_output(source, value)) for source, value in outputs.items()},
        visits=counted,
        report=lambda _: None,
    )


def _check_place(argument: str, given: object, place: object, workflow: Workflow[Any]) -> None:
    if not isinstance(place, Place):
        there = "a declared node, or a mount or its way out"
        raise TestingError(f"{argument} has a key of type {type(given).__name__}. Give {there}.")
    if place not in (*workflow.nodes, *workflow.mounts):
        known = meant(place.name, (each.name for each in (*workflow.nodes, *workflow.mounts)), "nodes and mounts")
        problem = f"workflow {workflow.name!r}, whose context it is, has no such place. {known}"
        raise StandInUnknown(argument, place.name, problem)


def _input(workflow: Workflow[Any], value: object) -> Any:
    """The input as a function sees it: what is left of it after it was stored."""
    try:
        return from_json(to_json(value, workflow.input), workflow.input)
    except NotConvertible as unfit:
        raise InputInvalid(unfit.path, unfit.problem) from None


def _output(source: "Node[..., Any, Any] | MountExit[Any]", value: object) -> Json:
    try:
        return source.shape.dump(value)
    except NotConvertible as unfit:
        said = f"The output that is given for {source.key!r} does not fit it: {unfit}. Give a value of its own type."
        raise StandInWrong(source.key, said) from None


def _result(output: Json) -> NodeResult[Json]:
    return NodeResult(outcome="completed", output=output, error=None, started_at=_THEN, finished_at=_THEN)
