"""What both engines can be asked, here with ``await``: each question is the reader's own."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import ParamSpec, TypeVar

from runwright.engine.reading.effects import Effect
from runwright.engine.reading.pages import RowsPage
from runwright.engine.reading.reader import ExportFormat, Reader
from runwright.engine.reading.requests import Request
from runwright.engine.reading.status import Status
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.follow import Subscription
from runwright.eventstore.values import Json, JsonObject
from runwright.eventstore.verdict import Verdict
from runwright.projections.query import PAGE

P = ParamSpec("P")
T = TypeVar("T")


class AsyncAsking:
    """The questions; they are answered in a thread, because a store may take its time.

    Args:
        reader: Answers the reader, or raises where there is none any more.
    """

    def __init__(self, reader: Callable[[], Reader]) -> None:
        self._reader = reader

    @property
    def reader(self) -> Reader:
        """The questions that need no lock.

        Raises:
            StoreError: The store was closed or cannot be used any more.
        """
        return self._reader()

    async def status(self, run_id: str) -> Status:
        """A run's status; raises `NotFound` where there is none."""
        return await self._read(self.reader.status, run_id)

    async def session_status(self, session: str) -> Status:
        """The status of the run that holds a session, else of its latest; raises `NotFound` where it has none."""
        return await self._read(self.reader.session_status, session)

    async def output(self, run_id: str, node: str | None = None) -> Json:
        """A run's final output, or a node's last accepted one; raises as `Reader.output`."""
        return await self._read(self.reader.output, run_id, node)

    async def requests(self, run_id: str | None = None) -> list[Request]:
        """Open requests, of one run or all."""
        return await self._read(self.reader.requests, run_id)

    async def effects(self, run_id: str | None = None, *, state: str | None = None) -> list[Effect]:
        """Effects, of one run or all, in one state or any."""
        return await self._read(self.reader.effects, run_id, state=state)

    async def query(
        self,
        projection: str,
        *,
        where: Sequence[str] = (),
        sort: Sequence[str] = (),
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> RowsPage:
        """A page of a projection's rows; raises as `Reader.query`."""
        return await self._read(self.reader.query, projection, where=where, sort=sort, limit=limit, cursor=cursor)

    async def events(
        self, run_id: str | None = None, *, types: Sequence[str] = (), after: int = 0, limit: int | None = None
    ) -> list[RecordedEvent]:
        """Events in order, of one run or all."""
        return await self._read(lambda: list(self.reader.events(run_id, types=types, after=after, limit=limit)))

    def follow(self, after: int) -> Subscription:
        """Events after a position, then new ones as they commit; to be read in a thread of its own."""
        return self.reader.follow(after)

    async def replay(self, run_id: str, *, at: int | None = None, step: int | None = None) -> JsonObject:
        """A run's control rows as of a position, rebuilt from its events; raises as `Reader.replay`."""
        return await self._read(self.reader.replay, run_id, at=at, step=step)

    def export(
        self, run_id: str | None = None, *, format: ExportFormat = "native", with_values: bool = False
    ) -> Iterator[bytes]:
        """The lines of an export, read as they are taken; raises as `Reader.export`."""
        return self.reader.export(run_id, format=format, with_values=with_values)

    async def verify(self, *, deep: bool = False, head: Head | None = None) -> Verdict:
        """Check the whole store against its chain."""
        return await self._read(self.reader.verify, deep=deep, head=head)

    async def _read(self, question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(question, *args, **kwargs)
