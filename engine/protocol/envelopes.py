"""The four envelopes: `hello`, `call`, `reply` and `event`; each is one JSON object with its ``type``."""

from typing import Any, Final

from attrs import frozen

from runwright.engine.protocol.errors import MessageInvalid
from runwright.engine.protocol.fields import Part, document, load, of
from runwright.engine.protocol.kinds import AnyJson, AnyObject, Maybe, Name, OneOf, Prose, Table, Unfit, Whole
from runwright.engine.protocol.limits import CLIENT, ID, POSITION, WORD
from runwright.eventstore.values import Json, JsonObject

#: What a call can come to; a question that is answered is ``accepted``, too.
OUTCOMES: Final = (
    "accepted",
    "adopted",
    "rejected",
    "conflict",
    "recovery_required",
    "not_found",
    "claim_lost",
    "unavailable",
)
#: What an event of a subscription brings.
EVENT_KINDS: Final = ("events", "view", "session", "runs", "lines", "end")


@frozen(kw_only=True)
class Hello:
    """The first message, in both directions: which protocol is spoken, by which version of the software.

    Attributes:
        protocol: ``runwright.client.v1``.
        version: The version of the software that speaks, for people to read.
        epoch: The host's epoch; a client has none.
    """

    protocol: str = of(Name(64))
    version: str = of(Name(64))
    epoch: str | None = of(Maybe(ID), default=None)


@frozen(kw_only=True)
class Call:
    """One try to have an operation carried out.

    Attributes:
        call_id: Names this try within the connection; its reply and events carry it.
        client_id: Who asks.
        operation: The operation's name.
        key: The idempotency key; commands need one, questions have none.
        run_id: The run that it is about, where the operation is about one.
        expected_revision: The revision that the run has to be at; ``null`` for any.
        payload: What the operation takes.
    """

    call_id: str = of(ID)
    client_id: str = of(CLIENT)
    operation: str = of(WORD)
    key: str | None = of(Maybe(ID), default=None)
    run_id: str | None = of(Maybe(ID), default=None)
    expected_revision: int | None = of(Maybe(Whole()), default=None)
    payload: JsonObject = of(AnyObject())


@frozen(kw_only=True)
class Receipt:
    """Says that a command's effect is committed, and under which key it can be asked for again."""

    client_id: str = of(CLIENT)
    key: str = of(ID)
    operation: str = of(WORD)
    run_id: str | None = of(Maybe(ID))


@frozen(kw_only=True)
class Failure:
    """Why a call was not carried out: a stable code, one sentence, the next step; never a private value.

    Attributes:
        kind: The class of the error, finer than its code.
        code: The code, one of those in the reference of errors.
        message: What is wrong.
        hint: The next step; may be empty.
        facts: What shows it: names, IDs, counts.
    """

    kind: str = of(WORD)
    code: str = of(WORD)
    message: str = of(Prose(64 * 1024))
    hint: str = of(Prose(4 * 1024))
    facts: dict[str, Json] = of(Table(WORD, AnyJson(256 * 1024), 64))


@frozen(kw_only=True)
class Reply:
    """What a call came to.

    Attributes:
        call_id: The call's; ``null`` where what arrived was no call.
        outcome: In one word.
        revision: The revision of the run after a command.
        receipt: Of a command that was accepted or adopted, where it leaves one.
        answer: What the operation answers, where it was accepted or adopted.
        error: Why not, where it was not.
    """

    call_id: str | None = of(Maybe(ID))
    outcome: str = of(OneOf(OUTCOMES))
    revision: int | None = of(Maybe(Whole()), default=None)
    receipt: Receipt | None = of(Maybe(Part(Receipt)), default=None)
    answer: JsonObject | None = of(Maybe(AnyObject()), default=None)
    error: Failure | None = of(Maybe(Part(Failure)), default=None)


@frozen(kw_only=True)
class Event:
    """News of a subscription.

    Attributes:
        call_id: The call that began the subscription.
        kind: What the payload is: ``events``, ``view``, ``session``, ``runs``, ``lines``, or ``end``: nothing follows.
        position: Where to resume: hand it in as ``after``.
        payload: By kind: `EventsPage`, `RunViewed`, `SessionViewed`, `LiveRuns`, `LogLines`, `Failure`.
    """

    call_id: str = of(ID)
    kind: str = of(OneOf(EVENT_KINDS))
    position: int = of(POSITION)
    payload: JsonObject = of(AnyObject())


#: The envelopes by their ``type``.
ENVELOPES: Final[dict[str, type[Any]]] = {"hello": Hello, "call": Call, "reply": Reply, "event": Event}
_TYPES: Final = {cls: name for name, cls in ENVELOPES.items()}


def wrap(envelope: "Hello | Call | Reply | Event") -> JsonObject:
    """Write an envelope as the JSON object that travels."""
    return {"type": _TYPES[type(envelope)], **document(envelope)}


def unwrap(message: JsonObject) -> "Hello | Call | Reply | Event":
    """Read an envelope strictly.

    Raises:
        MessageInvalid: Its type is unknown, or a field is unknown, missing or beyond its limits.
    """
    rest = dict(message)
    kind = rest.pop("type", None)
    if not isinstance(kind, str) or kind not in ENVELOPES:
        raise MessageInvalid("$.type", f"is none of {', '.join(ENVELOPES)}")
    try:
        envelope: Hello | Call | Reply | Event = load(ENVELOPES[kind], rest)
    except Unfit as problem:
        raise MessageInvalid(f"$.{problem.path.removeprefix('.')}", problem.problem) from None
    return envelope
