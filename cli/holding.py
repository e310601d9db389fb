"""Takes the store for a moment, and asks the transitions for what a command wants changed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from attrs import frozen

from runwright.cli.failures import UNAVAILABLE, Failure, Refused
from runwright.cli.invocation import Invocation

if TYPE_CHECKING:
    from runwright.engine.commands.client import Caller, ClientCommand
    from runwright.engine.embedded.holder import Holder
    from runwright.eventstore.errors import StoreInUse


@frozen(kw_only=True)
class Change:
    """What a command changed.

    Attributes:
        result: ``applied``, or ``adopted`` where it was so already.
        value: What the transition answered: the run's ID.
        revision: The run's revision after it.
    """

    result: str
    value: object
    revision: int


@contextmanager
def holding(call: Invocation) -> "Iterator[Holder]":
    """Take the store; it is given back at the end.

    Raises:
        Refused: Another process holds it; the failure names the process and the next step.
    """
    from runwright.engine.embedded.holder import Holder
    from runwright.eventstore.errors import StoreInUse

    try:
        holder = Holder.open(call.home, unsafe_filesystem=call.flags.unsafe_filesystem)
    except StoreInUse as error:
        refuse_held(error)
    try:
        yield holder
    finally:
        holder.close()


def refuse_held(error: "StoreInUse") -> NoReturn:
    """Say who holds the store, and what can be done about it."""
    raise Refused(
        Failure(
            code=error.code,
            message=error.message,
            hint="In this version one process drives the runs of a state folder. Press Ctrl-C there to pause at the "
            "next step, wait with `runwright wait RUN`, or use another --home.",
            exit_code=UNAVAILABLE,
        )
    ) from None


def caller(key: str | None = None) -> "Caller":
    """The command line as a client: a person, with a key of its own where none was given."""
    from runwright.engine.commands.client import Caller

    return Caller(client="cli", key=key or secrets.token_hex(16), actor="client:cli", person=True)


def ask(holder: "Holder", command: "ClientCommand", *, key: str | None = None) -> Change:
    """Have a command carried out.

    Raises:
        ConflictError: Another fact stands in the way.
        RecoveryRequiredError: An operator or a recovery step is needed first.
    """
    from runwright.engine.errors import ConflictError, RecoveryRequiredError
    from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired

    match holder.transitions.command(caller(key), command).result():
        case Applied(value, revision):
            return Change(result="applied", value=value, revision=revision)
        case Adopted(value, revision):
            return Change(result="adopted", value=value, revision=revision)
        case Conflict() as conflict:
            raise ConflictError(conflict)
        case RecoveryRequired() as required:
            raise RecoveryRequiredError(required)
