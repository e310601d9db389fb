"""What a function sees: a context built from the run's saved state, and nothing that is not saved."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import cast

from runwright.engine.authoring.context import Context, Update
from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.authoring.results import NodeError, NodeResult
from runwright.engine.commands.worker import Outcome
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.places import Places
from runwright.engine.execution.port import NodeState, RunState
from runwright.engine.graph.program import Program, Scope
from runwright.eventstore.values import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_KEY = 128
_MAX_MESSAGE = 60 * 1024


class InputUnfit(Exception):
    """A saved input that fitted when it was saved does not fit now: its type, or what that looks at, has changed.

    Attributes:
        mount: The mount whose input it is; empty for the run's own.
        problem: What is wrong, without a value.
    """

    def __init__(self, mount: str, problem: str) -> None:
        super().__init__(problem)
        self.mount = mount
        self.problem = problem

    @property
    def message(self) -> str:
        """The safe sentence."""
        whose = f"mount {self.mount!r}" if self.mount else "the run"
        return f"The saved input of {whose} does not fit its type any more: {self.problem}."


def build_context(
    program: Program,
    state: RunState,
    places: Places,
    *,
    path: str,
    visit: int,
    attempt: int,
    deadline: int | None,
    log: OutputLog,
    report: Callable[[str, Json], None],
) -> Context[object]:
    """Build the context of one attempt, as the workflow sees it that the place stands in.

    Args:
        program: The definition and its code.
        state: The run.
        places: The run's nodes and mounts as they stand, this entry and its step counted.
        path: The node, or the mount whose input is worked out.
        visit: The node's visit, or the mount's invocation.
        attempt: The attempt.
        deadline: When the attempt's time is up.
        log: The run's output log.
        report: Takes progress: key and update.

    Raises:
        InputUnfit: The input cannot be rebuilt.
    """
    scope = program.scope_of(path)
    seen = places.copy()

    def told(update: Update) -> None:
        report(*as_update(update))

    return Context(
        input=_input(scope, state.input if not scope.path else places.mounts[scope.path].input),
        run_id=state.run_id,
        node=path.rpartition("/")[2],
        path=path,
        visit=visit,
        attempt=attempt,
        steps_left=places.steps_left(scope.path),
        cwd=state.cwd,
        scratch=state.scratch,
        deadline=None if deadline is None else as_time(deadline),
        log=log.logger(path),
        workflow=scope.workflow,
        results=_Results(scope, seen),
        visits=_Visits(scope, seen),
        report=told,
    )


def _input(scope: Scope, document: Json) -> object:
    try:
        return scope.input.load(document)
    except NotConvertible as problem:
        raise InputUnfit(scope.path, str(problem)) from problem
    except BaseException as error:  # a class of the user's own runs its code here, on the engine's loop
        raise InputUnfit(scope.path, f"building it raised {type(error).__name__}") from error


class _Results(Mapping[str, NodeResult[Json]]):
    """The last result of each source by its local name, worked out when it is asked for: most are never."""

    def __init__(self, scope: Scope, places: Places) -> None:
        self._scope = scope
        self._places = places

    def __getitem__(self, name: str) -> NodeResult[Json]:
        if name not in self._scope.sources:
            raise KeyError(name)
        mount, bracket, rest = name.partition("[")
        result = self._of_exit(mount, rest[:-1]) if bracket else self._of_node(self._scope.sources[name])
        if result is None:
            raise KeyError(name)
        return result

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._scope.sources if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _of_node(self, path: str) -> NodeResult[Json] | None:
        node = self._places.node(path)
        return None if node is None else _result(node)

    def _of_exit(self, name: str, exit: str) -> NodeResult[Json] | None:
        """How a mount was left last: by this way out, or, by none of them, badly."""
        mount = self._places.mount(self._scope.places[name])
        if mount is None or mount.outcome is None or mount.exited_at is None:
            return None
        completed = mount.outcome == "completed"
        if completed and mount.exit != exit:
            return None
        return NodeResult(
            outcome=cast(Outcome, mount.outcome),
            output=mount.output if completed else None,
            error=None if completed else NodeError(mount.code or "node_failed", mount.error or ""),
            started_at=as_time(mount.entered_at),
            finished_at=as_time(mount.exited_at),
        )


class _Visits(Mapping[str, int]):
    """How often each place was entered by its local name."""

    def __init__(self, scope: Scope, places: Places) -> None:
        self._scope = scope
        self._places = places

    def __getitem__(self, name: str) -> int:
        if entries := self._places.entries(self._scope.places[name]):
            return entries
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._scope.places if name in self)

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
