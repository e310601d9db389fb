"""Receipts: what a client's key was used for, committed with what it did (page 08, "Client protocol")."""

import hashlib
import hmac

from attrs import asdict

from runwright.engine.commands.client import (
    AnswerRequest,
    Caller,
    CancelRun,
    ClientCommand,
    DecideRequest,
    PauseRun,
    QueueRun,
    ResolveEffect,
    RestartRun,
    ResumeRun,
    SubmitAnswer,
    UpdateRequest,
)
from runwright.engine.commands.session import QueueFollowUp
from runwright.engine.results import Conflict
from runwright.eventstore.envelope import NEW
from runwright.eventstore.events.command import CommandSettled
from runwright.eventstore.headers import check_actor, check_command, check_stream
from runwright.eventstore.transaction import Tx
from runwright.eventstore.values import Json, JsonObject, encode
from runwright.projections.control.receipts import RECEIPTS, ReceiptRow
from runwright.projections.rows import Rows

OPERATIONS: dict[type, str] = {
    QueueRun: "run.start",
    PauseRun: "run.pause",
    ResumeRun: "run.resume",
    CancelRun: "run.cancel",
    ResolveEffect: "effect.resolve",
    QueueFollowUp: "run.follow_up",
    RestartRun: "run.restart",
    AnswerRequest: "request.answer",
    DecideRequest: "request.decide",
    SubmitAnswer: "request.submit",
    UpdateRequest: "request.update",
}


def operation_of(command: ClientCommand) -> str:
    """Name the operation of a command, as the client protocol does."""
    return OPERATIONS[type(command)]


def fingerprint(key: bytes, command: ClientCommand) -> str:
    """Fingerprint what a caller asked for, in hex: an HMAC under the key in the state directory.

    What the engine worked out on the caller's behalf (a new run ID, the digests as they stand now) is not part of
    it, so that a repeat of the same request is known as such.

    Raises:
        ValueRefused: A value of the command has no JSON form.
    """
    text = encode([operation_of(command), _asked(command)])
    return hmac.new(key, b"rw/receipt/1\0" + text.encode(), hashlib.sha256).hexdigest()


def check(caller: Caller) -> None:
    """Check that a receipt can be written for a caller, before anything is decided.

    Raises:
        ValueRefused: Client, key or actor do not fit the headers of an event.
    """
    check_stream(_stream(caller))
    check_command(caller.key)
    check_actor(caller.actor)


def find(rows: Rows, caller: Caller) -> ReceiptRow | None:
    """Answer the receipt of a caller's key."""
    return rows.get(RECEIPTS, caller.client, caller.key)


def reused(receipt: ReceiptRow) -> Conflict:
    """Say that a key was used before for something else."""
    return Conflict("key_reused", {"run": receipt.run_id, "operation": receipt.operation})


def settle(tx: Tx, caller: Caller, operation: str, fingerprint: str, run_id: str | None, first: int | None) -> None:
    """Write the receipt of an accepted command."""
    settled = CommandSettled(operation=operation, fingerprint=fingerprint, outcome="accepted", run=run_id, first=first)
    tx.append(_stream(caller), NEW, (settled,), actor=caller.actor, command=caller.key)


def _stream(caller: Caller) -> str:
    return f"command/{caller.client}/{caller.key}"


def _asked(command: ClientCommand) -> JsonObject:
    match command:
        case QueueRun():
            agents: list[Json] = [[each.name, each.kind] for each in command.agents]
            return {
                "workflow": command.workflow,
                "reference": command.reference,
                "input": command.input,
                "session": command.session,
                "agents": agents,
                "pass_env": list(command.pass_env),
            }
        case ResumeRun():
            return {"run": command.run_id, "expected": command.expected, "accept": command.accept is not None}
        case RestartRun():
            return {"run": command.run_id, "expected": command.expected, "at": command.at}
        case AnswerRequest():
            return {"request": command.request, "value": command.value}
        case SubmitAnswer():
            # Without the epoch: a coordinator that has attached anew repeats what its predecessor said.
            return {"request": command.request, "value": command.value, "session": command.session}
        case UpdateRequest():
            return {"request": command.request, "name": command.name, "update": command.update}
        case QueueFollowUp():
            return {"run_id": command.run_id, "session": command.session, "text": command.text}
        case PauseRun() | CancelRun() | ResolveEffect() | DecideRequest():
            return asdict(command)
