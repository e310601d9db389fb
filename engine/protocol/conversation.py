"""What sessions' coordinators tell and are shown, and what is said to requests (page 07)."""

from typing import Final

from attrs import frozen

from runwright.engine.commands.session import RECEIPT_SCHEMA
from runwright.engine.protocol.answers import Value
from runwright.engine.protocol.fields import Part, of
from runwright.engine.protocol.kinds import AnyJson, Kind, Many, Maybe, Name, Number, OneOf, Prose, Truth, Whole
from runwright.engine.protocol.limits import HASH, ID, SESSION, WORD
from runwright.engine.protocol.payloads import VARIABLES, AgentSpec
from runwright.eventstore.values import Json

#: The most bytes of a visible answer that a turn ended with.
MAX_ANSWER: Final = 1024 * 1024
#: Runs that one report can change something about: that of a message, of a turn, and the session's own.
_TOUCHED: Final = 16

#: Beyond it numbers are no longer counted one by one.
_MUCH: Final = 2.0**53

_STOPPED: Final[Kind] = OneOf(("completed", "aborted", "error"))
_KIND: Final[Kind] = OneOf(("step", "decision", "notification", "terminal", "launch_failure", "follow_up"))


# --- what is told -----------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SessionAttach:
    """Take a session as its coordinator, in a new epoch that fences the one before.

    Attributes:
        session: The session, as its agent names it.
        agent: What kind of agent it is, for people to read.
        idle: Whether the agent takes no turn.
        nothing_pending: Whether no input waits for it; with ``idle`` this is a first report.
    """

    session: str = of(SESSION)
    agent: str = of(WORD)
    idle: bool = of(Truth(), default=False)
    nothing_pending: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class SessionDetach:
    """Leave a session; its epoch is over."""

    session: str = of(SESSION)
    epoch: str = of(ID)


@frozen(kw_only=True)
class SessionSettled:
    """The agent has settled: it takes no turn, and no input waits for it.

    Attributes:
        session: The session.
        epoch: The coordinator's.
        person_spoke: Whether a person took a turn since the last report.
    """

    session: str = of(SESSION)
    epoch: str = of(ID)
    person_spoke: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class SessionReport:
    """Evidence: what the active branch holds of one message, and whether the agent rests.

    Attributes:
        session: The session.
        epoch: The coordinator's.
        message: The message that was looked for; ``null`` for none. Nothing is said about any other.
        entry: The entry that holds it on the active branch; ``null`` where it is not there.
        idle: Whether the agent takes no turn.
        nothing_pending: Whether no input waits for it.
        person_spoke: Whether a person took a turn since the last report.
    """

    session: str = of(SESSION)
    epoch: str = of(ID)
    message: str | None = of(Maybe(ID), default=None)
    entry: str | None = of(Maybe(ID), default=None)
    idle: bool = of(Truth())
    nothing_pending: bool = of(Truth())
    person_spoke: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class TurnEnding:
    """How a turn ended, with what shows it.

    Attributes:
        stop_reason: ``completed``, ``aborted`` by a person, or ``error`` of the provider.
        entry: The entry of the visible answer.
        text: Its text; private.
    """

    stop_reason: str = of(_STOPPED)
    entry: str | None = of(Maybe(ID), default=None)
    text: str | None = of(Maybe(Prose(MAX_ANSWER)), default=None)


@frozen(kw_only=True)
class TurnReport:
    """A model turn began for a message of the call's run, or ended.

    Attributes:
        session: The session.
        epoch: The coordinator's.
        turn: The ID that the coordinator gave it.
        message: The message that it answers.
        ended: How it ended; ``null`` says that it began.
    """

    session: str = of(SESSION)
    epoch: str = of(ID)
    turn: str = of(ID)
    message: str = of(ID)
    ended: TurnEnding | None = of(Maybe(Part(TurnEnding)), default=None)


@frozen(kw_only=True)
class RequestSubmit:
    """Hand in a candidate for an agent's request; it is recorded, checked, and the answer is the verdict.

    Attributes:
        request_id: The request.
        value: The candidate.
        session: The session that speaks; ``null`` for a person who plays the agent.
        epoch: Its coordinator's epoch, which has to be the present one; needed wherever a session speaks.
        agents: Executors that are handed back to the run which goes on.
        pass_env: Variables that are handed back to it.
    """

    request_id: str = of(ID)
    value: Json = of(AnyJson())
    session: str | None = of(Maybe(SESSION), default=None)
    epoch: str | None = of(Maybe(ID), default=None)
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


@frozen(kw_only=True)
class RequestUpdate:
    """Report progress of the attempt that waits for an agent's answer; the newest of each name is shown.

    A run takes 20 a second after 100 at once, each of 64 KiB, under 1,024 names while one host serves it; what is over
    that is a `conflict`, with the code `protocol_rejected` and the rule that it breaks, and nothing is kept of it.

    Attributes:
        request_id: The request.
        name: What it is progress of.
        completed: How much is done.
        total: How much there is.
        unit: What is counted.
        message: A line for people.
        session: As in `RequestSubmit`.
        epoch: As in `RequestSubmit`.
    """

    request_id: str = of(ID)
    name: str = of(Name(128), default="overall")
    completed: float | None = of(Maybe(Number(_MUCH)), default=None)
    total: float | None = of(Maybe(Number(_MUCH)), default=None)
    unit: str = of(Prose(64), default="")
    message: str = of(Prose(48 * 1024), default="")
    session: str | None = of(Maybe(SESSION), default=None)
    epoch: str | None = of(Maybe(ID), default=None)


@frozen(kw_only=True)
class RequestDecide:
    """Make a person's decision; only a person's program may.

    Attributes:
        request_id: The request.
        choice: The name of one of its choices.
        text: What was written beside it, where the choice takes a text.
        by: Who decided; the client vouches for that person.
        digest: The digest of what the person saw: where the question is another one now, nothing is decided.
        agents: Executors that are handed back to the run which goes on.
        pass_env: Variables that are handed back to it.
    """

    request_id: str = of(ID)
    choice: str = of(Name(128))
    text: str | None = of(Maybe(Prose(64 * 1024)), default=None)
    by: str = of(Name(200))
    digest: str | None = of(Maybe(Name(128)), default=None)
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


# --- what is answered -------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SessionAttached:
    """The session is yours, in this epoch, until somebody else attaches."""

    session: str = of(SESSION)
    epoch: str = of(ID)


@frozen(kw_only=True)
class SessionTold:
    """What was told is known now; ``runs`` are those about which it changed something."""

    runs: tuple[str, ...] = of(Many(ID, _TOUCHED))


@frozen(kw_only=True)
class TurnViewed:
    """A turn as it is saved; ``run_id`` is ``null`` where no run owns it."""

    turn: str = of(ID)
    message: str = of(ID)
    run_id: str | None = of(Maybe(ID))
    session: str = of(SESSION)
    state: str = of(OneOf(("open", "ended", "lost")))
    stop_reason: str | None = of(Maybe(_STOPPED))


@frozen(kw_only=True)
class TurnReceipt:
    """Whose a turn is.

    Attributes:
        schema: ``runwright.turn-receipt.v1``.
        ownership: ``active`` while it is open, ``settled`` after it, ``absent`` where no message of ours caused it.
        turn: The turn; ``null`` where it is ``absent``.
    """

    schema: str = of(OneOf((RECEIPT_SCHEMA,)))
    ownership: str = of(OneOf(("active", "settled", "absent")))
    turn: TurnViewed | None = of(Maybe(Part(TurnViewed)))


@frozen(kw_only=True)
class MessageViewed:
    """The one message that a session's coordinator has to do with now.

    Attributes:
        message: Its ID.
        kind: Its kind.
        run_id: The run that it is of.
        state: ``pending``, ``sent``, or ``cancelled``: what is held of it need not be sent any more.
        starts_turn: Whether it is to be sent so that it starts a model turn.
        deliver: Whether to send it: true only in the one frame that hands it out. Else look for it and report.
        position: The position of its event, for `content.read`.
        size: Bytes of its content; 0 where that was erased.
        digest: The digest of its content in the log.
        content: What it is about, as JSON.
        text: What the model is to read.
    """

    message: str = of(ID)
    kind: str = of(_KIND)
    run_id: str = of(ID)
    state: str = of(OneOf(("pending", "sent", "cancelled")))
    starts_turn: bool = of(Truth())
    deliver: bool = of(Truth())
    position: int = of(Whole(1))
    size: int = of(Whole())
    digest: str | None = of(Maybe(HASH))
    content: Value | None = of(Maybe(Part(Value)))
    text: Value | None = of(Maybe(Part(Value)))


@frozen(kw_only=True)
class SessionViewed:
    """A session, bounded however long its history is.

    Attributes:
        session: The session.
        epoch: That of its coordinator, also of one that is missed; ``null`` where none is attached.
        run_id: The run that holds it.
        turn: Its open turn.
        current: The current message of its coordinator.
        pending: How many messages have not reached it; where there are more than 100, that many.
        wake_ups: Deliveries that started a turn since a person spoke or an answer was accepted.
    """

    session: str = of(SESSION)
    epoch: str | None = of(Maybe(ID))
    run_id: str | None = of(Maybe(ID))
    turn: TurnViewed | None = of(Maybe(Part(TurnViewed)))
    current: MessageViewed | None = of(Maybe(Part(MessageViewed)))
    pending: int = of(Whole())
    wake_ups: int = of(Whole())
