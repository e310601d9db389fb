"""The facts that decisions are made on: control rows as they stand, plus what comes in with the call."""

from typing import Final

from attrs import frozen

from runwright.engine.graph.definition import Definition
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.node import MountEntered, MountExited, NodeFinished
from runwright.eventstore.events.request import RequestOpened
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EffectRow
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.mounts import MountRow
from runwright.projections.control.processes import ProcessRow
from runwright.projections.control.queue import QueueRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.runs import RunRow
from runwright.projections.control.timers import TimerRow
from runwright.projections.control.turns import TurnRow
from runwright.projections.control.visits import VisitRow
from runwright.projections.control.workers import WorkerRow

#: Kinds of messages that the end of their run takes back where they were not sent. What it notified is sent all the
#: same, and what tells of its end is made after it.
TAKEN_BACK: Final = ("decision", "follow_up", "step")


@frozen
class Tree:
    """The secret of a run tree, from its root's `RunInput`.

    Attributes:
        key: 32 random bytes in hex; gone once the input is erased.
        input: SHA-256 of the canonical input, in hex.
    """

    key: str
    input: str


@frozen
class RunFacts:
    """How far a run is, what the scheduler may do with it, the version of its stream, and the time."""

    run: RunRow
    queue: QueueRow
    revision: int
    now: int

    @property
    def started(self) -> bool:
        """Whether any launch of it ever said ``ready``."""
        return self.run.started_at is not None

    @property
    def chain_started(self) -> bool:
        """Whether it, or the run that it continues, ever started: then no end of it is a failed launch any more."""
        return self.started or self.run.kind == "continue"

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.run.finished_at is not None


@frozen
class NodeFacts:
    """What a node's start or end is decided on.

    Attributes:
        of: The run.
        definition: Its graph.
        current: The row of the node that started last; ``None`` before the first.
        target: The row of the node that the command names.
        effect: The effect of the last visit of ``current``, where that is an effect and left one.
        request: The newest request of the last attempt of ``current``, where that asks an executor.
        finished: How the attempt that the command names ended, where it has.
        inside: The mounts that are open, outermost first; read for a start.
        asked: What the request has with its session, where the attempt ends before it is answered.
    """

    of: RunFacts
    definition: Definition
    current: VisitRow | None
    target: VisitRow | None
    effect: EffectRow | None = None
    request: RequestRow | None = None
    finished: NodeFinished | None = None
    inside: tuple[MountRow, ...] = ()
    asked: "Step | None" = None


@frozen
class MountFacts:
    """What an entry into a mount, or an exit, is decided on.

    Attributes:
        of: The run.
        definition: Its graph.
        current: The row of the node that started last; ``None`` before the first.
        target: The row of the mount that the command names.
        inside: The mounts that are open, outermost first.
        last: The last entry or exit of ``target``, where that belongs to the invocation that the command names.
        leaver: The row of the node that the way out stands at; read for an exit.
        output: Its accepted output, as it was stored.
    """

    of: RunFacts
    definition: Definition
    current: VisitRow | None
    target: MountRow | None
    inside: tuple[MountRow, ...]
    last: MountEntered | MountExited | None = None
    leaver: VisitRow | None = None
    output: Content | None = None


@frozen
class EffectFacts:
    """What a worker's word about an effect is decided on.

    Attributes:
        of: The run.
        definition: Its graph.
        current: The row of the node that started last.
        effect: The effect of the visit that the command names, if it was reserved.
        result: Its saved result in canonical JSON, where it was applied and is not erased.
        tree: The tree's secret, or ``None`` where it is gone.
    """

    of: RunFacts
    definition: Definition
    current: VisitRow | None
    effect: EffectRow | None
    result: str | None = None
    tree: Tree | None = None


@frozen
class RequestFacts:
    """What a word about a request is decided on; ``opened`` is the event that asked it, ``asked`` as for a node."""

    of: RunFacts
    definition: Definition
    current: VisitRow | None
    request: RequestRow | None
    opened: RequestOpened | None = None
    asked: "Step | None" = None


@frozen
class Unsettled:
    """All that a run's end has to close (law 6).

    Attributes:
        visit: The open attempt, if any.
        effect: The last visit's effect while it is not final.
        requests: Open and validating requests.
        timers: Timers that are set.
        turns: Model turns of it that are open.
        messages: What its session was not sent of the kinds that its end takes back.
        mounts: Mounts that are open, innermost first.
        input: Position of the root's own input while it is there.
        output: Position of the last accepted output of the node that finished last.
        output_text: The stored text of that output, for the fingerprint.
        tree: The tree's secret.
    """

    visit: VisitRow | None = None
    effect: EffectRow | None = None
    requests: tuple[RequestRow, ...] = ()
    timers: tuple[TimerRow, ...] = ()
    turns: tuple[TurnRow, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    mounts: tuple[MountRow, ...] = ()
    input: int | None = None
    output: int | None = None
    output_text: str = ""
    tree: Tree | None = None


@frozen
class Step:
    """A request that is put to a session, with what its next message is made of.

    Attributes:
        of: The run.
        request: The request.
        session: The session that it is put to.
        order: The next place among that session's messages.
        prompt: What is asked.
        contract: What an answer must meet.
        timers: Timers of the run that are set.
        pending: The message that asks for it and was not sent.
    """

    of: RunFacts
    request: RequestRow
    session: str
    order: int
    prompt: str | None
    contract: Json
    timers: tuple[TimerRow, ...] = ()
    pending: MessageRow | None = None

    @property
    def live(self) -> bool:
        """Whether the session is to work on it now."""
        run = self.of.run
        return not (self.of.ended or run.paused or run.pause_requested) and self.request.state == "open"

    def asks_again(self, message: str) -> bool:
        """Whether another message has to take the place of this one."""
        return self.live and self.pending is None and self.request.message == message


@frozen
class ExitFacts:
    """What an observed end of a worker is decided on; ``processes`` are those that it never said were gone."""

    of: RunFacts
    worker: WorkerRow
    unsettled: Unsettled
    processes: tuple[ProcessRow, ...] = ()


@frozen
class ResolveFacts:
    """What an operator's word about an effect is decided on; ``result`` is its saved one, canonical."""

    of: RunFacts
    effect: EffectRow
    unsettled: Unsettled
    result: str | None


@frozen
class SourceFacts:
    """What an accepted change of sources is decided on: the graph the run stood on, and the one accepted."""

    old: Definition
    new: Definition
