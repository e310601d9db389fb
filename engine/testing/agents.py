"""Executors that answer by a script."""

import asyncio
import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from attrs import define

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.calling import in_thread
from runwright.engine.testing.scripts import Answers, NoMore, Script


class ScriptedAgent:
    """An executor that answers from a list, or node by node; for an engine that a test opens itself.

    Args:
        script: Answers in order, a function of the `AgentRequest`, or either of them by node or path. An answer that
            is an exception is raised.

    Attributes:
        requests: What it was asked, in order.
    """

    def __init__(self, script: "Answers | Mapping[Any, Answers]") -> None:
        if isinstance(script, Mapping):
            self._by_path = {_path(key): Script(_path(key), each) for key, each in script.items()}
            self._for_all = None
        else:
            self._by_path = {}
            self._for_all = Script("the agent", script)
        self._asking = Asking()
        self.requests: list[AgentRequest] = []

    async def run(self, request: AgentRequest) -> object:
        """Answer a request.

        Raises:
            LookupError: The script has no answer for it.
        """
        self.requests.append(request)
        script = self._for_all or self._by_path.get(request.path)
        if script is None:
            raise LookupError(f"The script has nothing for node {request.path!r}.")
        try:
            return await self._asking.answer(script, request)
        except NoMore:
            raise LookupError(f"The script has no answer left for node {request.path!r}.") from None


class StandInAgents:
    """Executors of every name in a test's run, answering node by node.

    Args:
        find: The stand-in of a path.
        missing: Told of a request that the test has no answer for; never returns.
    """

    def __init__(self, find: Callable[[str], Script | None], missing: Callable[[str, str], None]) -> None:
        self._find = find
        self._missing = missing
        self._asking = Asking()

    def crashed(self) -> None:
        """The worker that asked is gone; what it asked may be asked again."""
        self._asking.crashed()

    async def run(self, request: AgentRequest) -> object:
        """Answer a request."""
        script = self._find(request.path)
        if script is None:
            return await self._never(request.path, "was asked, and nothing stands in for it")
        try:
            return await self._asking.answer(script, request)
        except NoMore:
            return await self._never(request.path, f"was asked {script.asked} times, and has fewer answers")

    async def _never(self, path: str, said: str) -> object:
        self._missing(path, said)
        return await asyncio.get_running_loop().create_future()


@define
class _Told:
    ordinal: int
    refused: str | None
    life: int


class Asking:
    """Tells a question that is asked again after a crash from the next one of the same request."""

    def __init__(self) -> None:
        self._life = 0
        self._told: dict[str, _Told] = {}

    def crashed(self) -> None:
        """From now on, a request that is known may be asked again."""
        self._life += 1

    async def answer(self, script: Script, request: AgentRequest) -> object:
        """Answer by a script.

        Raises:
            NoMore: It has no answer left.
        """
        script.asked += 1
        if script.function is not None:
            return await called(request.run_id, script.function, request)
        value = script.answer(self._question(request))
        if isinstance(value, BaseException):
            raise value
        return value

    def _question(self, request: AgentRequest) -> Hashable:
        told = self._told.get(request.request_id)
        if told is None:
            told = self._told[request.request_id] = _Told(0, request.refused, self._life)
        elif told.life == self._life or told.refused != request.refused:
            told.ordinal += 1
        told.refused, told.life = request.refused, self._life
        return request.request_id, told.ordinal


async def called(run_id: str, function: Callable[..., object], *args: object) -> object:
    """Call a stand-in: a coroutine function on the loop, a plain one in a thread."""
    if inspect.iscoroutinefunction(function):
        answer: object = function(*args)
    else:
        answer = await in_thread(run_id, function, *args)
    return await answer if inspect.isawaitable(answer) else answer


def _path(key: Any) -> str:
    return key if isinstance(key, str) else str(key.name)
