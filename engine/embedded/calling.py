"""How a program's commands reach the transitions, and how their answers come back."""

from collections.abc import Callable
from typing import TypeVar, cast

from attrs import frozen

from runwright.engine.clock import Clock
from runwright.engine.commands.client import Caller
from runwright.engine.errors import ConflictError, NotFound, RecoveryRequiredError
from runwright.engine.identity import new_id
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired, Result

V = TypeVar("V")


@frozen
class Identity:
    """Who the engine speaks for.

    Attributes:
        client: The client ID: ``engine`` for a program, ``cli`` for the command line.
    """

    client: str
    _clock: Clock
    _random: Callable[[int], bytes]

    def caller(self, key: str | None, caller: Caller | None = None) -> Caller:
        """Who asks: the named caller, else the engine itself under the given idempotency key or one of its own."""
        if caller is not None:
            return caller
        key = key if key is not None else new_id(self._clock.now(), self._random)
        return Caller(client=self.client, key=key, actor=f"client:{self.client}")


def accepted(result: Result[object]) -> Applied[str] | Adopted[str]:
    """Hand on what was applied or adopted, and raise what was not.

    Raises:
        NotFound: What the command names does not exist.
        ConflictError: Another fact stands in the way.
        RecoveryRequiredError: An operator has to act first.
    """
    match result:
        case Applied() | Adopted():
            return cast("Applied[str] | Adopted[str]", result)
        case Conflict(code="not_found", evidence=evidence):
            raise NotFound(str(evidence.get("what", "run")), str(evidence.get("id", "?")))
        case Conflict():
            raise ConflictError(result)
        case RecoveryRequired():
            raise RecoveryRequiredError(result)
