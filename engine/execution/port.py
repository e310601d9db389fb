"""The port: all that an executor sees of the transitions, whether by a call or through a worker's channel."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from attrs import field, fields, frozen

from runwright.engine.commands.run import Beginning, RunCommand
from runwright.engine.commands.worker import WorkerTransition
from runwright.engine.results import Result
from runwright.eventstore.values import Json


@frozen(kw_only=True)
class NodeState:
    """One node path of the run as it was saved.

    Attributes:
        visits: Visits so far, the identity's count.
        invocation_visits: Visits in the open invocation, what limits count.
        open: Whether an attempt is open.
        attempt: The open or last attempt.
        outcome: How the last visit ended; ``None`` while the first is open.
        has_output: Whether its last visit left an accepted output (which may be JSON ``null``).
        output: That output.
        code: The error code of the last visit.
        error: The error text of the last visit, or ``None`` (also where it was erased).
        started_at: When the last attempt started (UTC microseconds).
        finished_at: When it ended.
        deadline: The open attempt's deadline (UTC microseconds).
        invocation: The entry of the mount around it in which the last visit stands; 0 outside of mounts.
    """

    path: str
    visits: int
    invocation_visits: int
    open: bool
    attempt: int
    outcome: str | None
    has_output: bool
    output: Json
    code: str | None
    error: str | None
    started_at: int | None
    finished_at: int | None
    deadline: int | None
    invocation: int = 0


@frozen(kw_only=True)
class MountState:
    """One mount path of the run as it was saved.

    Attributes:
        invocation: Entries so far, counted over the run.
        within: The entry of the mount around it in which the last one stands; 0 outside of mounts.
        entries: Entries in that one, what limits count.
        inside: Whether the last entry is open.
        exit: The way out it was left by, where it was.
        outcome: How it was left.
        code: The error code, where it was left badly.
        error: The error text, or ``None`` (also where it was erased).
        step_base: The steps that the run had used when it was entered.
        input: The child's input as JSON.
        output: The way out's output as JSON.
        entered_at: When it was entered (UTC microseconds).
        exited_at: When it was left.
    """

    path: str
    invocation: int
    within: int
    entries: int
    inside: bool
    exit: str | None = None
    outcome: str | None = None
    code: str | None = None
    error: str | None = None
    step_base: int = 0
    input: Json = None
    output: Json = None
    entered_at: int = 0
    exited_at: int | None = None


_FIELDS = tuple(each.name for each in fields(NodeState))
_values = attrgetter(*_FIELDS)


def revised(node: NodeState, **changes: object) -> NodeState:
    """A node's state with some facts changed; several for each step of a run, so faster than `attrs.evolve`."""
    return NodeState(**{**dict(zip(_FIELDS, _values(node), strict=True)), **changes})


@frozen(kw_only=True)
class SavedEffect:
    """The effect of the last visit as it was saved; ``cause`` says why it stands as it does (``resolved``)."""

    effect: str
    state: str
    applications: int
    request: Json
    result: Json = None
    cause: str | None = None


@frozen(kw_only=True)
class SavedRequest:
    """The open request of the open attempt as it was saved."""

    request: str
    prompt: str
    refused: int
    refusal: str | None
    deadline: int | None


@frozen(kw_only=True)
class RunState:
    """Everything an executor needs to begin or to carry on.

    ``begins`` says how the run begins, for a resume that comes before its first node.
    ``node`` is the node started last, ``None`` before the first. ``effect`` and ``request`` belong to its open visit.
    ``mount`` is the mount that was entered or left last, where that came after the last end of a node.
    ``session`` is the conversation that it holds.
    """

    command: RunCommand
    run_id: str
    root: str
    workflow: str
    definition: str
    input: Json
    node: str | None
    nodes: Mapping[str, NodeState]
    steps: int
    max_steps: int
    cwd: Path
    scratch: Path
    begins: Beginning | None = None
    effect: SavedEffect | None = None
    request: SavedRequest | None = None
    mounts: Mapping[str, MountState] = field(factory=dict[str, MountState])
    mount: str | None = None
    agents: Mapping[str, str] = field(factory=dict[str, str])
    session: str | None = None


class Port(Protocol):
    """What an executor calls; each implementation behaves the same (contract tests)."""

    async def transact(self, transitions: Sequence[WorkerTransition]) -> list[Result[object]]:
        """Have transitions decided in order, each on the facts its predecessors leave.

        The first that is neither applied nor adopted ends the list; what stands before it is committed. The answer
        has one result for each transition that was decided. Returns after the commit.
        """
        ...

    def update(self, path: str, visit: int, attempt: int, key: str, update: Json) -> None:
        """Hand over a progress update; never blocks, never raises (the newest per key wins)."""
        ...

    def now(self) -> int:
        """The holder's clock in UTC microseconds."""
        ...
