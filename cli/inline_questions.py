"""Has the person at the terminal answer what runs wait for that this process drives."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from runwright.cli.changes import Change
from runwright.cli.interview import Interview, answerable
from runwright.cli.showing import Feeder, held
from runwright.cli.terminal import NoMoreInput, Terminal
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.embedded.answering import Answered
    from runwright.engine.embedded.async_engine import AsyncEngine


class InlineQuestions:
    """Asks in a thread of its own, for the loop goes on with other runs.

    Args:
        engine: The engine that drives the runs.
        terminal: Where the person is; ``None`` where nobody can be asked.
        feeder: The screen, which holds still meanwhile.
        goes_on: Whether the person is still to be asked.
    """

    def __init__(
        self, engine: "AsyncEngine", terminal: Terminal | None, feeder: Feeder | None, goes_on: Callable[[], bool]
    ) -> None:
        self._engine = engine
        self._terminal = terminal
        self._feeder = feeder
        self._goes_on = goes_on

    async def asked(self, run_ids: Sequence[str]) -> bool:
        """Ask the first question that one of the runs waits for; whether there was one, so that runs may go on."""
        if self._terminal is None or not self._goes_on():
            return False
        replies = _EngineReplies(self._engine, asyncio.get_running_loop())
        return await asyncio.to_thread(self._ask, self._terminal, replies, run_ids)

    def _ask(self, terminal: Terminal, replies: "_EngineReplies", run_ids: Sequence[str]) -> bool:
        store = self._engine.reader
        statuses = [store.status(store.last_of_chain(each)) for each in run_ids]
        question = next((request for status in statuses for request in answerable(store, status)), None)
        if question is None:
            return False
        with held(self._feeder):
            try:
                Interview(terminal, store, replies).hold(question, self._goes_on)
            except NoMoreInput:
                self._terminal = None
                return False
        return True


class _EngineReplies:
    """Hands answers in to an engine on its own loop, from a thread; as `Replies`."""

    def __init__(self, engine: "AsyncEngine", loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._loop = loop

    def answer(self, request_id: str, value: Json) -> Change:
        """As `Replies.answer`."""
        return self._said(self._engine.answer(request_id, value))

    def submit(self, request_id: str, value: Json) -> Change:
        """As `Replies.submit`."""
        return self._said(self._engine.submit(request_id, value))

    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """As `Replies.decide`."""
        return self._said(self._engine.decide(request_id, choice, text=text, by=by, digest=digest))

    def _said(self, saying: "Coroutine[Any, Any, Answered]") -> Change:
        found = asyncio.run_coroutine_threadsafe(saying, self._loop).result()
        return Change(result="adopted" if found.adopted else "applied", run_id=found.run_id, revision=found.revision)
