"""Asking about workflows' code in children of the host: it is never loaded in the host itself."""

import asyncio
import logging
from pathlib import Path

from runwright.engine.embedded.code import Wanted
from runwright.engine.embedded.remote_code import NoAnswer, RemoteCode
from runwright.engine.errors import ActivationFailed
from runwright.engine.host.limits import HEARING, MOST_RESOLVERS, QUICK, RESOLVE, RESOLVERS, TERM_GRACE
from runwright.engine.host.places import Place, Places
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.host.spawning import Child, Children
from runwright.engine.host.unusable import NoProcess
from runwright.engine.tasks import own_task
from runwright.engine.wire.errors import WireError
from runwright.engine.worker.messages import Ask, Resolved, Unresolved
from runwright.eventstore.values import JsonObject

_log = logging.getLogger("runwright.host")


class Resolvers:
    """Takes each question to a child of its own, a few at once.

    Args:
        children: Where children come from.
        provisioning: What was handed over for runs.
        user: The user's configuration folder, which may hold workflows.
    """

    def __init__(self, children: Children, provisioning: Provisioning, *, user: Path | None) -> None:
        self._children = children
        self._provisioning = provisioning
        self._user = user
        self._places = Places(few=RESOLVERS, most=MOST_RESOLVERS, quick=QUICK)
        self._ending: set[asyncio.Task[None]] = set()

    async def carry(self, wanted: Wanted, question: JsonObject) -> JsonObject:
        """Have a question answered where the program's code can be loaded.

        Raises:
            InterpreterUnusable: The interpreter that it needs cannot be used.
            ActivationFailed: There is no process to ask.
            NoAnswer: Whoever was asked vanished, or took too long.
        """
        place = await self._places.take()
        try:
            child = await self._children.spawn(wanted.interpreter)
        except NoProcess:
            place.close()
            raise ActivationFailed("starting a process for it") from None
        except BaseException:
            place.close()
            raise
        try:
            return await self._answer(child, wanted, question)
        finally:
            ending = own_task(self._end(child, place))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Wait until no child is left."""
        while self._ending:
            await asyncio.wait(self._ending)

    async def _answer(self, child: Child, wanted: Wanted, question: JsonObject) -> JsonObject:
        environment = self._provisioning.variables(wanted.run_id, wanted.pass_env)
        ask = Ask(question=question, cwd=wanted.cwd, user=self._user, environment=environment)
        try:
            async with asyncio.timeout(RESOLVE):
                await child.send(ask)
                answer = await child.receive()
        except TimeoutError:
            raise NoAnswer(f"within {RESOLVE:.0f} seconds") from None
        except (OSError, WireError):
            answer = None
        match answer:
            case Resolved():
                return answer.answer
            case Unresolved():
                _log.warning("a question about a workflow has no answer: %s", answer.problem)
        raise NoAnswer("in a process of its own")

    async def _end(self, child: Child, place: Place) -> None:
        try:
            # One that has answered exits by itself, and is not looked for while it does.
            await asyncio.wait({own_task(child.exited())}, timeout=HEARING)
            if not await child.end(TERM_GRACE):
                _log.error("a process that loaded a workflow cannot be ended")
        finally:
            place.close()


def hosted_code(resolvers: Resolvers) -> RemoteCode:
    """What an engine asks that loads no code itself; a `Code`."""
    return RemoteCode(resolvers.carry)
