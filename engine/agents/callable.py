"""An executor that is a function of the program."""

import inspect
from collections.abc import Awaitable, Callable

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.execution.calling import in_thread


class CallableAgent:
    """Answers by calling a function; a plain one runs in a thread.

    Args:
        function: Takes the `AgentRequest` and returns the answer.
    """

    def __init__(self, function: Callable[[AgentRequest], object | Awaitable[object]]) -> None:
        self._function = function

    async def run(self, request: AgentRequest) -> object:
        """Call the function."""
        if inspect.iscoroutinefunction(self._function):
            answer: object = self._function(request)
        else:
            answer = await in_thread(request.run_id, self._function, request)
        return await answer if inspect.isawaitable(answer) else answer

    def __repr__(self) -> str:
        return f"CallableAgent({getattr(self._function, '__name__', type(self._function).__name__)})"
