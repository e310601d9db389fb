"""Executors that answer by a script."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from attrs import define

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.calling import call
from runwright.engine.testing.faults import Faults
from runwright.engine.testing.functions import called
from runwright.engine.testing.scripts import Answers, NoMore, Script, name_of


class ScriptedAgent:
    """An executor that answers from a list, or node by node; for an engine that a test opens itself.

    Args:
        script: Answers in order, a function of the `AgentRequest`, or either of them by node or path. An answer that
            is an exception is raised. A declared node stands for every path that it has.

    Attributes:
        requests: What it was asked, in order.

    Raises:
        TestingError: The script is none of these.
    """

    def __init__(self, script: "Answers | Mapping[Any, Answers]") -> None:
        by_node = script if isinstance(script, Mapping) else {}
        named = {key: name_of(key, "the script") for key in by_node}
        scripts = {key: Script(name, by_node[key], "script") for key, name in named.items()}
        self._by_path = {key: each for key, each in scripts.items() if isinstance(key, str)}
        self._by_name = {named[key]: each for key, each in scripts.items() if not isinstance(key, str)}
        self._for_all = None if isinstance(script, Mapping) else Script("every node", script, "script")
        self._asking = Asking()
        self.requests: list[AgentRequest] = []

    async def run(self, request: AgentRequest) -> object:
        """Answer a request.

        Raises:
            LookupError: The script has no answer for it.
        """
        self.requests.append(request)
        script = self._for_all or self._by_path.get(request.path) or self._by_name.get(request.path.rpartition("/")[2])
        if script is None:
            raise LookupError(f"The script has nothing for node {request.path!r}.")
        if script.function is not None:
            return await call(request.run_id, None, script.function, request)
        try:
            return self._asking.answer(script, request)
        except NoMore:
            raise LookupError(f"The script has no answer left for node {request.path!r}.") from None


class StandInAgents:
    """Executors of every name in a test's run, answering node by node.

    Args:
        find: The stand-in of a path.
        faults: Told of what does not fit.
    """

    def __init__(self, find: Callable[[str], Script | None], faults: Faults) -> None:
        self._find = find
        self._faults = faults
        self._asking = Asking()

    def crashed(self) -> None:
        """The worker that asked is gone; what it asked may be asked again."""
        self._asking.crashed()

    async def run(self, request: AgentRequest) -> object:
        """Answer a request."""
        script = self._find(request.path)
        if script is None:
            await self._faults.missing(request.path, "was asked, and nothing stands in for it")
        script.asked += 1
        if script.function is not None:
            return await called(script, self._faults, request.path, request.run_id, request)
        try:
            return self._asking.answer(script, request)
        except NoMore:
            because = "" if request.refused is None else f", as the last one was refused ({request.refused})"
            await self._faults.missing(request.path, script.spent(because))


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

    def answer(self, script: Script, request: AgentRequest) -> object:
        """Answer from a list; an answer that is an exception is raised.

        Raises:
            NoMore: It has no answer left.
        """
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
