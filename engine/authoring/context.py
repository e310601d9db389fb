"""The context: what a workflow's functions see, a frozen snapshot made of plain data."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from attrs import evolve, field, frozen

from runwright.engine.authoring.errors import OutputMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from logging import Logger
    from pathlib import Path

    from runwright.engine.authoring.nodes import MountExit, Node, Place
    from runwright.engine.authoring.results import NodeResult
    from runwright.eventstore.values import Json

I_co = TypeVar("I_co", covariant=True)
T = TypeVar("T")
D = TypeVar("D")
_NONE: Any = object()


@frozen(kw_only=True)
class Update:
    """Progress that a node reports; the newest of a key is what views show."""

    key: str
    completed: float | None = None
    total: float | None = None
    unit: str = ""
    message: str = ""


class Outputs(Mapping[str, "Json"]):
    """The accepted outputs of a workflow by name, as JSON; each reading is a fresh copy.

    A way out of a mount is named ``docs[ready]``.
    """

    def __init__(self, values: Mapping[str, Json], why: Callable[[str], str]) -> None:
        self._values = values
        self._why = why

    def __getitem__(self, name: str) -> Json:
        """The output of a node.

        Raises:
            OutputMissing: When there is none, saying why.
        """
        if name not in self._values:
            raise _MissingKey(name, self._why(name))
        return _copied(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(self._values)})"


class _MissingKey(OutputMissing, KeyError):
    """What a mapping must raise, so that ``get`` and ``in`` work; its text is the plain sentence."""

    __str__ = Exception.__str__


@frozen(kw_only=True)
class Context(Generic[I_co]):
    """What a node's function sees of its run.

    Attributes:
        input: The workflow's input (a child sees its own).
        run_id: The run.
        node: The node's own name.
        path: The full compiled node path.
        visit: The how-many-th visit of that path, all invocations counted; part of an effect's identity.
        attempt: The try within the visit, from 1.
        steps_left: How many more steps ``max_steps`` allows.
        cwd: The folder that the run was started in.
        scratch: The run's private folder; kept over crashes, removed with redaction.
        deadline: When this attempt's time is up, or ``None``.
        log: A logger into the run's own log.
    """

    input: I_co
    run_id: str
    node: str
    path: str
    visit: int
    attempt: int
    steps_left: int
    cwd: Path
    scratch: Path
    deadline: datetime | None
    log: Logger = field(eq=False)
    _workflow: str = field(alias="workflow")
    #: The last visit of each source by its key, the output as JSON.
    _results: Mapping[str, NodeResult[Json]] = field(alias="results", factory=dict)
    #: Visits of each place in this invocation by its name.
    _visits: Mapping[str, int] = field(alias="visits", factory=dict)
    _report: Callable[[Update], None] = field(alias="report", eq=False)

    @property
    def outputs(self) -> Mapping[str, Json]:
        """The outputs that there are, by name, as JSON."""
        kept = {key: result.output for key, result in self._results.items() if result.outcome == "completed"}
        return Outputs(kept, self._why)

    @overload
    def output(self, source: Node[..., Any, T] | MountExit[T]) -> T: ...
    @overload
    def output(self, source: Node[..., Any, T] | MountExit[T], default: D) -> T | D: ...
    def output(self, source: Node[..., Any, T] | MountExit[T], default: D = _NONE) -> T | D:
        """The last accepted output of a node, or of a child's way out, by its declared type.

        Args:
            source: The node, or the mount's exit.
            default: What to answer where there is none, as in the first lap of a loop.

        Raises:
            OutputMissing: When there is none and no default, saying why.
        """
        result = self._result(source)
        if result is not None and result.outcome == "completed":
            value: T = source.shape.load(result.output)
            return value
        if default is _NONE:
            raise OutputMissing(source.key, self._why(source.key))
        return default

    def result(self, source: Node[..., Any, T] | MountExit[T]) -> NodeResult[T] | None:
        """How the last visit of a node ended; ``None`` where it has not ended one in this invocation."""
        result = self._result(source)
        if result is None:
            return None
        output: T | None = source.shape.load(result.output) if result.outcome == "completed" else None
        typed: NodeResult[Any] = result
        return evolve(typed, output=output)

    def visits(self, place: Place) -> int:
        """How often a place was entered in this invocation, an entry under way included."""
        self._own(place)
        return self._visits.get(place.name, 0)

    def update(
        self,
        key: str = "overall",
        *,
        completed: float | None = None,
        total: float | None = None,
        unit: str = "",
        message: str = "",
    ) -> None:
        """Report progress: durable, never blocking; when updates come too fast the newest of a key wins.

        Args:
            key: What the progress is of.
            completed: How much is done.
            total: How much there is.
            unit: What is counted.
            message: A line for people.
        """
        self._report(Update(key=key, completed=completed, total=total, unit=unit, message=message))

    def _result(self, source: Node[..., Any, Any] | MountExit[Any]) -> NodeResult[Json] | None:
        self._own(source)
        return self._results.get(source.key)

    def _own(self, thing: Place | MountExit[Any]) -> None:
        if thing.workflow != self._workflow:
            raise LookupError(
                f"{thing.name!r} belongs to {thing.workflow!r}, and a function of {self._workflow!r} sees only its "
                f"own nodes. Hand what it needs over through the mount's input or exits."
            )

    def _why(self, key: str) -> str:
        result = self._results.get(key)
        mount, bracket, _ = key.partition("[")
        if result is None and bracket:
            other = next((each for each in self._results if each.startswith(f"{mount}[")), None)
            if other is not None:
                return f"{mount!r} was last left by {other!r}"
        if result is None:
            return "it has not finished a visit in this invocation"
        return f"its last visit {'ran out of time' if result.outcome == 'timed_out' else result.outcome}"


def _copied(value: Json) -> Json:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value
