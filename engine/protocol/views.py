"""The view of one run as it travels: bounded however long the run, with pages for what it leaves out."""

from typing import Final

from attrs import frozen

from runwright.engine.protocol.answers import RunStatus
from runwright.engine.protocol.fields import Part, of
from runwright.engine.protocol.kinds import AnyObject, Kind, Many, Maybe, Prose, Truth, Whole
from runwright.engine.protocol.limits import MOST_ITEMS, NODE, POSITION, TIME, WORD
from runwright.eventstore.values import JsonObject

_TIME: Final[Kind] = Maybe(TIME)
_CODE: Final[Kind] = Maybe(WORD)


@frozen(kw_only=True)
class NodeViewed:
    """One node of the graph; its state is ``idle``, the run's display status while it is open, or its last outcome."""

    node: str = of(NODE)
    kind: str | None = of(_CODE)
    state: str = of(WORD)
    current: bool = of(Truth())
    visits: int = of(Whole())
    attempt: int | None = of(Maybe(Whole()))
    outcome: str | None = of(_CODE)
    code: str | None = of(_CODE)
    started_at: str | None = of(_TIME)
    finished_at: str | None = of(_TIME)
    deadline: str | None = of(_TIME)


@frozen(kw_only=True)
class MountViewed:
    """One mounted workflow that was entered."""

    mount: str = of(NODE)
    inside: bool = of(Truth())
    invocations: int = of(Whole())
    exit: str | None = of(Maybe(NODE))
    outcome: str | None = of(_CODE)
    code: str | None = of(_CODE)
    entered_at: str | None = of(_TIME)
    exited_at: str | None = of(_TIME)


@frozen(kw_only=True)
class AttemptViewed:
    """One attempt of a visit."""

    attempt: int = of(Whole())
    started_at: str | None = of(_TIME)
    finished_at: str | None = of(_TIME)
    outcome: str | None = of(_CODE)
    code: str | None = of(_CODE)


# `from` is a word of Python's: the span is the one part of a view that is no class.
_SPAN: Final = AnyObject(1024)


@frozen(kw_only=True)
class VisitViewed:
    """One visit of a node, and when it was ``queued``, ``running`` and ``waiting`` (``phase``, ``from``, ``to``).

    ``node`` is ``null`` for what the run did since its last visit.
    """

    node: str | None = of(Maybe(NODE))
    visit: int = of(Whole())
    kind: str | None = of(_CODE)
    attempts: tuple[AttemptViewed, ...] = of(Many(Part(AttemptViewed), 100))
    spans: tuple[JsonObject, ...] = of(Many(_SPAN, 100))


@frozen(kw_only=True)
class TimelineViewed:
    """The last visits in the order in which they began; ``dropped`` counts the older ones."""

    visits: tuple[VisitViewed, ...] = of(Many(Part(VisitViewed), MOST_ITEMS))
    dropped: int = of(Whole())


@frozen(kw_only=True)
class RunViewed:
    """A run as viewers draw it. Where nodes are left out, those that were at work last are kept.

    Attributes:
        status: The run's status.
        definition: The digest of its definition.
        entry: The place it begins at; ``null`` where another version wrote the definition.
        nodes: Its nodes in the order to show them.
        nodes_left_out: How many more there are; `view.page` has them.
        mounts: The mounts that were entered.
        mounts_left_out: How many more there are.
        timeline: Its last visits.
    """

    status: RunStatus = of(Part(RunStatus))
    definition: str = of(WORD)
    entry: str | None = of(Maybe(NODE))
    nodes: tuple[NodeViewed, ...] = of(Many(Part(NodeViewed), MOST_ITEMS))
    nodes_left_out: int = of(Whole())
    mounts: tuple[MountViewed, ...] = of(Many(Part(MountViewed), MOST_ITEMS))
    mounts_left_out: int = of(Whole())
    timeline: TimelineViewed = of(Part(TimelineViewed))


@frozen(kw_only=True)
class ViewItems:
    """A page of a part of a view; ``next`` is what to hand in as ``after``, ``null`` at the end.

    Nodes, mounts and visits are as in the view; an edge has ``from``, ``on`` (what it takes) and ``to``.
    """

    items: tuple[JsonObject, ...] = of(Many(AnyObject(64 * 1024), MOST_ITEMS))
    next: int | None = of(Maybe(POSITION))
    revision: int = of(Whole())


# --- the host ---------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class RunCounts:
    """How many live runs stand how; one that waits, for an answer or a time, is counted as such and nowhere else."""

    queued: int = of(Whole())
    starting: int = of(Whole())
    running: int = of(Whole())
    parked: int = of(Whole())
    waiting: int = of(Whole())


@frozen(kw_only=True)
class Trouble:
    """Something that went wrong lately: its code and when, no more."""

    code: str = of(WORD)
    at: str = of(TIME)


@frozen(kw_only=True)
class HostStatus:
    """How the host stands; no paths, payloads, tokens or process IDs.

    Attributes:
        state: ``serving``, or ``draining`` once it was told to stop.
        epoch: Its epoch.
        version: The version of its software.
        started_at: Since when it serves.
        uptime: The same in seconds.
        capacity: How many runs it drives at once.
        workers: Worker processes that are at work.
        launching: Workers that have not said yet that they are ready.
        runs: Live runs by how they stand.
        requests: Open requests.
        ambiguous_effects: Effects of live runs that nobody can tell the outcome of.
        expired_claims: Claims whose lease is over.
        connections: Clients that are connected.
        subscriptions: Subscriptions of theirs.
        position: The log's head.
        errors: The last troubles, the newest first.
    """

    state: str = of(WORD)
    epoch: str = of(Prose(128))
    version: str = of(Prose(64))
    started_at: str = of(TIME)
    uptime: int = of(Whole())
    capacity: int = of(Whole())
    workers: int = of(Whole())
    launching: int = of(Whole())
    runs: RunCounts = of(Part(RunCounts))
    requests: int = of(Whole())
    ambiguous_effects: int = of(Whole())
    expired_claims: int = of(Whole())
    connections: int = of(Whole())
    subscriptions: int = of(Whole())
    position: int = of(POSITION)
    errors: tuple[Trouble, ...] = of(Many(Part(Trouble), 64))


@frozen(kw_only=True)
class HostStopping:
    """The host takes nothing more and exits when its workers have stopped; the connection ends with it."""

    stopping: bool = of(Truth())
