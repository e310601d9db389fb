"""Hearing what concerns sessions: one reader of the log for all who follow one, and none where nobody does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from runwright.engine.host.serving.bounds import MOST_RUNS_KNOWN
from runwright.engine.host.serving.commits import Commits
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.protocol.errors import HostBusy
from runwright.engine.protocol.operations import Lane
from runwright.engine.reading.moment import moment_of
from runwright.engine.tasks import end_task, own_task
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.registry import REGISTRY
from runwright.eventstore.log import LogReader
from runwright.projections.control.runs import RUNS

#: What a session's view follows from; steps and effects of runs do not concern it.
_CONCERN: Final = frozenset(
    each for each in REGISTRY if each.partition(".")[0] in ("message", "request", "run", "session", "timer", "turn")
)


class Hearing:
    """Tells whoever follows a session that something of it may have changed.

    Args:
        log: The log.
        lanes: The threads.
        commits: Tells of commits.
    """

    def __init__(self, log: LogReader, lanes: Lanes, commits: Commits) -> None:
        self._log = log
        self._lanes = lanes
        self._commits = commits
        self._followers: dict[str, set[asyncio.Event]] = {}
        self._sessions: dict[str, str | None] = {}
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def of(self, session: str) -> AsyncIterator[asyncio.Event]:
        """Hear of a session for as long as the block lasts; the event is set at first, and whenever there is news."""
        news = asyncio.Event()
        news.set()
        self._followers.setdefault(session, set()).add(news)
        if self._task is None:
            self._task = own_task(self._listen(self._log.head().position), name="sessions")
        try:
            yield news
        finally:
            self._followers[session].discard(news)
            if not self._followers[session]:
                del self._followers[session]
            if not self._followers:
                task, self._task = self._task, None
                if task is not None:
                    end_task(task)

    def told(self, session: str) -> None:
        """A coordinator said something, which need not have been written down."""
        for news in self._followers.get(session, ()):
            news.set()

    async def _listen(self, place: int) -> None:
        try:
            async with self._commits.followed():
                while True:
                    await self._commits.beyond(place)
                    head = self._log.head().position
                    for session in await self._touched(place, head):
                        self.told(session)
                    place = head
        except StoreError:
            # The store was closed: whoever follows looks, and finds that out.
            self._task = None
            for session in list(self._followers):
                self.told(session)

    async def _touched(self, after: int, upto: int) -> set[str]:
        try:
            return await self._lanes.run(Lane.QUICK, self._concerned, after, upto)
        except (HostBusy, StoreError):
            # It cannot be told now: each looks for itself.
            return set(self._followers)

    def _concerned(self, after: int, upto: int) -> set[str]:
        """The sessions that some events are about; in a thread."""
        streams = {each.stream.partition("/")[::2] for each in self._log.read_all(after, types=_CONCERN, upto=upto)}
        found = {name for kind, name in streams if kind == "session"}
        runs = [name for kind, name in streams if kind == "run"]
        unknown = [run_id for run_id in runs if run_id not in self._sessions]
        if len(self._sessions) + len(unknown) > MOST_RUNS_KNOWN:
            self._sessions.clear()
            unknown = runs
        if unknown:
            with moment_of(self._log) as moment:
                rows = (moment.rows.get(RUNS, run_id) for run_id in unknown)
                self._sessions.update({row.run_id: row.session for row in rows if row is not None})
        return found | {session for run_id in runs if (session := self._sessions.get(run_id)) is not None}
