"""What a session's coordinator reports and is answered: attach, evidence, deliveries, turns (page 07)."""

from typing import Final, Literal, TypeAlias

from attrs import frozen

StopReason: TypeAlias = Literal["completed", "aborted", "error"]
Ownership: TypeAlias = Literal["active", "settled", "absent"]

RECEIPT_SCHEMA: Final = "runwright.turn-receipt.v1"


@frozen(kw_only=True)
class AttachSession:
    """A coordinator takes a session, in a new epoch that fences the one before. Value: `SessionView`."""

    session: str
    agent: str


@frozen(kw_only=True)
class DetachSession:
    """The coordinator of that epoch leaves. Value: `SessionView`."""

    session: str
    epoch: str


@frozen(kw_only=True)
class MissSession:
    """Nobody is connected who speaks for that epoch, and a turn of a run is open in it. Value: `SessionView`.

    Only the host says so. Its coordinator counts as gone until it is heard of again.
    """

    session: str
    epoch: str


@frozen(kw_only=True)
class ReturnSession:
    """A coordinator that was missed is heard of again, and nobody has attached meanwhile. Value: `SessionView`.

    Only the host says so, and only of one that it missed itself: who has left by its own word attaches anew.
    """

    session: str
    epoch: str


@frozen(kw_only=True)
class ReportSession:
    """Evidence: what the active branch holds, and whether the agent rests. Value: `SessionReport`.

    It says something about the message it names and about no other.

    Attributes:
        session: The session.
        epoch: The coordinator's.
        message: The one message it looked for, or ``None``.
        entry: The entry that holds that message on the active branch; ``None`` where it is absent.
        idle: Whether the agent takes no turn.
        nothing_pending: Whether no input waits for it.
        person_spoke: Whether a person took a turn since the last report.
    """

    session: str
    epoch: str
    message: str | None = None
    entry: str | None = None
    idle: bool
    nothing_pending: bool
    person_spoke: bool = False

    @property
    def rests(self) -> bool:
        """Whether it was made at an idle boundary."""
        return self.idle and self.nothing_pending


@frozen(kw_only=True)
class DeliverMessage:
    """A frame with the current message is about to leave the host. Value: `Delivery`."""

    session: str
    epoch: str
    message: str


@frozen(kw_only=True)
class TurnEnd:
    """How a turn ended, with what shows it.

    Attributes:
        stop_reason: ``completed``, ``aborted`` or ``error``.
        entry: The entry of the visible answer.
        text: Its text; private.
    """

    stop_reason: StopReason
    entry: str | None = None
    text: str | None = None


@frozen(kw_only=True)
class ReportTurn:
    """A model turn began for a message, or ended. Value: `TurnReceipt`.

    Attributes:
        session: The session.
        epoch: The coordinator's.
        turn: The ID that the coordinator gave the turn.
        message: The message that it answers.
        run: The run that the message is of.
        ended: How it ended; ``None`` reports its start.
    """

    session: str
    epoch: str
    turn: str
    message: str
    run: str
    ended: TurnEnd | None = None


SessionCommand: TypeAlias = (
    AttachSession | DetachSession | MissSession | ReturnSession | ReportSession | DeliverMessage | ReportTurn
)


@frozen(kw_only=True)
class CurrentMessage:
    """The one message that a coordinator has to do with now.

    Attributes:
        message: Its ID.
        kind: Its kind.
        run: The run that it is of.
        state: ``pending``, ``sent`` or ``cancelled``.
        starts_turn: Whether handing it out starts a model turn.
        deliver: Whether it may be handed out; otherwise the coordinator looks for it on its branch and reports.
        position: Where its content stands.
        size: Bytes of the content; 0 where it was erased.
        digest: The content's digest in the log, in hex.
    """

    message: str
    kind: str
    run: str
    state: str
    starts_turn: bool
    deliver: bool
    position: int
    size: int
    digest: str | None


@frozen(kw_only=True)
class SavedTurn:
    """A turn as it is saved; ``run`` is ``None`` where no run owns it."""

    turn: str
    message: str
    run: str | None
    session: str
    state: str
    stop_reason: str | None


@frozen(kw_only=True)
class SessionView:
    """A session as its coordinator sees it; bounded however long its history is.

    Attributes:
        session: The session.
        epoch: The coordinator's; ``None`` where none is attached.
        run: The run that holds the session.
        turn: The open turn.
        current: The current message.
        pending: How many messages have not reached it; where there are more than 100, that many.
        wake_ups: Deliveries that started a turn since a person spoke or an answer was accepted.
    """

    session: str
    epoch: str | None
    run: str | None
    turn: SavedTurn | None
    current: CurrentMessage | None
    pending: int
    wake_ups: int


@frozen(kw_only=True)
class SessionReport:
    """What a report led to.

    Attributes:
        view: The session after it.
        touched: The runs about which it changed something.
    """

    view: SessionView
    touched: tuple[str, ...] = ()


@frozen(kw_only=True)
class Delivery:
    """A message that is to be handed out now, for the ``number``-th time."""

    message: str
    number: int
    starts_turn: bool
    position: int


@frozen(kw_only=True)
class TurnReceipt:
    """Whether a run's message owns a turn: ``active`` while it is open, ``settled`` after it, else ``absent``.

    ``touched`` names the run about which the report changed something.
    """

    ownership: Ownership
    turn: SavedTurn | None
    schema: str = RECEIPT_SCHEMA
    touched: tuple[str, ...] = ()


@frozen(kw_only=True)
class QueueFollowUp:
    """Have a text sent to the run's own session once the run has completed.

    Attributes:
        run_id: A live run.
        session: The session that asks, which must be the run's own.
        epoch: Its coordinator's epoch.
        text: Up to 64 KiB; private.
    """

    run_id: str
    session: str
    epoch: str
    text: str
