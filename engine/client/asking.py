"""What clients of both kinds have in common: what is asked, in which steps, and how an answer is read."""

import base64
import binascii
from collections.abc import Generator, Mapping
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from attrs import evolve, field, frozen

from runwright.engine.protocol.envelopes import Hello, Reply
from runwright.engine.protocol.errors import MessageInvalid, ProtocolUnknown
from runwright.engine.protocol.failures import error_of
from runwright.engine.protocol.limits import PART, PROTOCOL
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.values import Json, JsonObject, decode

T = TypeVar("T")

#: An answer as it travelled.
Document: TypeAlias = dict[str, Any]


@frozen(kw_only=True)
class Ask:
    """One call, before it is tried.

    Attributes:
        operation: The operation.
        run_id: The run that it is about.
        payload: What it takes.
        keyed: Whether it has an idempotency key.
        key: That key, where the caller gave one.
        expected: The revision that the run has to be at.
        again: Whether it is tried again after the connection was lost.
    """

    operation: str
    run_id: str | None = None
    payload: JsonObject = field(factory=dict)
    keyed: bool = False
    key: str | None = None
    expected: int | None = None
    again: bool = True

    def under(self, key: str) -> "Ask":
        """The same under an idempotency key."""
        return evolve(self, key=key)


#: The calls that a question takes, one after another, and what comes of them.
Steps: TypeAlias = Generator[Ask, Reply, T]


def greeted(found: object) -> Hello:
    """What a host says first, where it speaks this protocol.

    Raises:
        ProtocolUnknown: It speaks another version.
        MessageInvalid: It says something else; or the error that it refuses with.
    """
    match found:
        case Hello(protocol=protocol) if protocol == PROTOCOL:
            return found
        case Hello():
            raise ProtocolUnknown(PROTOCOL, found.protocol, found.version)
        case Reply(error=failure) if failure is not None:
            raise error_of(failure)
        case _:
            raise MessageInvalid("$.type", "is not hello")


def answered(reply: Reply) -> Document:
    """The answer of a call that was accepted or adopted.

    Raises:
        Exception: The error that it ended with, of the same class as in process.
    """
    if reply.error is not None:
        raise error_of(reply.error)
    return {} if reply.answer is None else reply.answer


def asked(ask: Ask) -> Steps[Document]:
    """Ask one thing, and answer what is answered."""
    return answered((yield ask))


def commanded(ask: Ask) -> Steps[Applied[str] | Adopted[str]]:
    """Give one command, and answer whether this call made the change; the value is the run's ID."""
    reply = yield ask
    run_id = str(answered(reply)["run_id"])
    revision = reply.revision or 0
    return Adopted(run_id, revision) if reply.outcome == "adopted" else Applied(run_id, revision)


def specs_of(agents: Mapping[str, str] | None, *, spare: bool = False) -> list[Json]:
    """Executors as they travel; ``spare`` ones are there in case a node asks for them."""
    return [{"name": name, "spec": spec, "spare": spare} for name, spec in sorted((agents or {}).items())]


def handed(agents: Mapping[str, str] | None, pass_env: Mapping[str, str] | None) -> JsonObject:
    """What is handed over for a run and stored nowhere, as it travels."""
    return {"agents": specs_of(agents), "pass_env": dict(pass_env or {})}


def whole(value: Document | None) -> Steps[Json]:
    """A private value: what came inline, else its parts, verified.

    Raises:
        MessageInvalid: The parts do not make up what was announced.
        NotFound: It was erased meanwhile.
    """
    if value is None:
        return None
    if value["inline"]:
        found: Json = value["value"]
        return found
    raw = bytearray()
    while len(raw) < value["bytes"]:
        payload: JsonObject = {"position": value["position"], "field": value["field"], "part": len(raw) // PART}
        data = _bytes(answered((yield Ask(operation="content.read", payload=payload)))["data"])
        if not data:
            break
        raw += data
    if len(raw) != value["bytes"] or sha256(raw).hexdigest() != value["sha256"]:
        raise MessageInvalid("$.answer.data", "does not have the announced length and SHA-256")
    text = raw.decode()
    return text if value["media"] == "text/plain" else decode(text)


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise MessageInvalid("$.answer.data", "is no base64") from None
