"""A call, checked: its operation is known, its payload fits, and its envelope has what that operation needs."""

from typing import Any, Final

from attrs import frozen

from runwright.engine.commands.client import Caller
from runwright.engine.protocol.envelopes import Call
from runwright.engine.protocol.errors import MessageInvalid, OperationUnknown
from runwright.engine.protocol.fields import load
from runwright.engine.protocol.kinds import Unfit
from runwright.engine.protocol.operations import OPERATIONS, Lane, Needs, Operation

#: Clients of these kinds are models; any other is a person's program.
_MODELS: Final = frozenset({"pi", "mcp", "hook"})


@frozen(kw_only=True)
class Asked:
    """A call that may be answered.

    Attributes:
        call: The envelope.
        operation: Its operation.
        payload: What it takes, of the operation's class.
    """

    call: Call
    operation: Operation
    payload: Any

    @classmethod
    def of(cls, call: Call) -> "Asked":
        """Check a call.

        Raises:
            OperationUnknown: There is no such operation.
            MessageInvalid: Something of it does not fit.
        """
        operation = OPERATIONS.get(call.operation)
        if operation is None:
            raise OperationUnknown(call.operation, tuple(OPERATIONS))
        _check("run_id", call.run_id is not None, operation.run)
        _check("key", call.key is not None, operation.key)
        if call.expected_revision is not None and not operation.expected:
            raise MessageInvalid("$.expected_revision", f"is nothing that {operation.name} takes")
        try:
            payload: Any = load(operation.payload, call.payload)
        except Unfit as problem:
            raise MessageInvalid(f"$.payload{problem.path}", problem.problem) from None
        _check_session(call.client_id, operation, payload)
        return cls(call=call, operation=operation, payload=payload)

    @property
    def run_id(self) -> str:
        """The run that it names; only for operations that need one."""
        assert self.call.run_id is not None, "the operation needs one"
        return self.call.run_id

    @property
    def actor(self) -> str:
        """Who is said to have caused what it does."""
        return f"client:{self.call.client_id}"

    @property
    def caller(self) -> Caller:
        """Who asks, under which key; only for operations that need one."""
        assert self.call.key is not None, "the operation needs one"
        client = self.call.client_id
        person = client.partition(":")[0] not in _MODELS
        return Caller(client=client, key=self.call.key, actor=self.actor, person=person)


def _check_session(client: str, operation: Operation, payload: Any) -> None:
    """Refuse a model that speaks for another session than its own; looking at one is free."""
    kind, _, own = client.partition(":")
    speaks = operation.lane is Lane.COMMAND or getattr(payload, "epoch", None) is not None
    if speaks and own and kind in _MODELS and getattr(payload, "session", None) not in (None, own):
        raise MessageInvalid("$.payload.session", "is not the session that the client ID names")


def _check(field: str, given: bool, needs: Needs) -> None:
    if given and needs is Needs.NO:
        raise MessageInvalid(f"$.{field}", "is nothing that this operation takes")
    if not given and needs is Needs.YES:
        raise MessageInvalid(f"$.{field}", "is missing")
