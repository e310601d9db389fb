"""What a function sees: a context built from the run's saved state, and nothing that is not saved."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from runwright.engine.authoring.context import Context, Update
from runwright.engine.authoring.results import NodeError, NodeResult
from runwright.engine.commands.worker import Outcome
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.port import NodeState, RunState
from runwright.engine.graph.program import Program
from runwright.eventstore.values import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_KEY = 128
_MAX_MESSAGE = 60 * 1024


def build_context(
    program: Program,
    state: RunState,
    nodes: Mapping[str, NodeState],
    *,
    path: str,
    attempt: int,
    steps: int,
    deadline: int | None,
    log: OutputLog,
    report: Callable[[str, Json], None],
) -> Context[object]:
    """Build the context of one attempt.

    Args:
        program: The definition and its code.
        state: The run.
        nodes: The run's nodes as they stand, this visit counted.
        path: The node.
        attempt: The attempt.
        steps: The steps so far, this one counted.
        deadline: When the attempt's time is up.
        log: The run's output log.
        report: Takes progress: key and update.
    """
    scope = program.scope_of(path)

    def told(update: Update) -> None:
        report(*as_update(update))

    return Context(
        input=program.input.load(state.input),
        run_id=state.run_id,
        node=path.rpartition("/")[2],
        path=path,
        visit=nodes[path].visits,
        attempt=attempt,
        steps_left=max(0, state.max_steps - steps),
        cwd=state.cwd,
        scratch=state.scratch,
        deadline=None if deadline is None else as_time(deadline),
        log=log.logger(path),
        workflow=scope.workflow,
        results=_Results(scope.sources, dict(nodes)),
        visits=_Visits(scope.places, dict(nodes)),
        report=told,
    )


class _Results(Mapping[str, NodeResult[Json]]):
    """The last result of each source by its local name, worked out when it is asked for: most are never."""

    def __init__(self, sources: Mapping[str, str], nodes: Mapping[str, NodeState]) -> None:
        self._sources = sources
        self._nodes = nodes

    def __getitem__(self, name: str) -> NodeResult[Json]:
        node = self._nodes.get(self._sources[name])
        result = None if node is None else _result(node)
        if result is None:
            raise KeyError(name)
        return result

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._sources if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Visits(Mapping[str, int]):
    """How often each place was entered by its local name."""

    def __init__(self, places: Mapping[str, str], nodes: Mapping[str, NodeState]) -> None:
        self._places = places
        self._nodes = nodes

    def __getitem__(self, name: str) -> int:
        return self._nodes[self._places[name]].invocation_visits

    def __iter__(self) -> Iterator[str]:
        return (name for name, place in self._places.items() if place in self._nodes)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def as_time(us: int) -> datetime:
    """UTC microseconds as a time."""
    return _EPOCH + timedelta(microseconds=us)


def as_us(time: datetime) -> int:
    """An aware time as UTC microseconds."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def as_update(update: Update) -> tuple[str, Json]:
    """A progress update as it is stored, within bounds: progress must not fail a node for a long message.

    Raises:
        ValueError: For a key or a number that nobody could show.
    """
    if not 0 < len(update.key.encode()) <= _MAX_KEY:
        raise ValueError(f"a progress key has 1 to {_MAX_KEY} bytes")
    document: dict[str, Json] = {}
    for name, number in (("completed", update.completed), ("total", update.total)):
        if number is not None:
            if not math.isfinite(number):
                raise ValueError(f"{name} is {number}: give a finite number, or leave it out")
            document[name] = number
    for name, text in (("unit", update.unit), ("message", update.message)):
        if text:
            document[name] = text.encode("utf-8", "replace")[:_MAX_MESSAGE].decode("utf-8", "ignore")
    return update.key, document


def _result(node: NodeState) -> NodeResult[Json] | None:
    if node.outcome is None or node.started_at is None or node.finished_at is None:
        return None
    return NodeResult(
        outcome=cast(Outcome, node.outcome),
        output=node.output if node.has_output else None,
        error=None if node.outcome == "completed" else NodeError(node.code or "node_failed", node.error or ""),
        started_at=as_time(node.started_at),
        finished_at=as_time(node.finished_at),
    )
