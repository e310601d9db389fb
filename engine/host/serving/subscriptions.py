"""Subscriptions: each sends the next thing when the one before has left, so a slow client gets fewer, never a heap."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import assert_never

from attrs import frozen

from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.bounds import LINES_PAUSE, RUNS_PAUSE, VIEW_PAUSE
from runwright.engine.host.serving.commits import Commits
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.host.serving.looks import Looks
from runwright.engine.host.serving.questions import live_runs
from runwright.engine.host.serving.reading_events import Wanted, events_page
from runwright.engine.host.serving.reading_lines import lines_page
from runwright.engine.host.serving.sessions import Sessions
from runwright.engine.protocol.envelopes import Event, Failure
from runwright.engine.protocol.failures import failure_of
from runwright.engine.protocol.fields import document
from runwright.engine.protocol.operations import Lane
from runwright.engine.protocol.payloads import EventsSubscribe, RunLogs, ViewSubscribe
from runwright.engine.reading.moment import moment_of
from runwright.engine.reading.reader import Reader
from runwright.eventstore.values import JsonObject

#: Sends an event; returns when there is room for the next.
Send = Callable[[Event], Awaitable[None]]

#: Says that nothing can follow any more.
FINISHED = Failure(kind="Finished", code="finished", message="The run has ended.", hint="", facts={})


@frozen(kw_only=True)
class Following:
    """What subscriptions are made of."""

    reader: Reader
    lanes: Lanes
    looks: Looks
    commits: Commits
    sessions: Sessions

    async def follow(self, asked: Asked, send: Send, since: int) -> None:
        """Send what a subscription brings, until it is cancelled or nothing can follow.

        Args:
            asked: The call that began it.
            send: Sends an event.
            since: Where the answer of that call ended; for an output log.
        """
        call_id = asked.call.call_id
        try:
            match asked.payload:
                case EventsSubscribe() as payload:
                    await self._events(asked, payload, send)
                case ViewSubscribe(session=str(session)) as payload:
                    await self._session(session, payload.epoch, call_id, send)
                case ViewSubscribe() as payload if asked.call.run_id is not None:
                    await self._view(asked.run_id, call_id, payload.after, send)
                case ViewSubscribe() as payload:
                    await self._runs(call_id, payload.after, send)
                case RunLogs() as payload:
                    await self._lines(asked, payload, since, send)
                case never:
                    assert_never(never)
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this subscription and nothing else
            await send(_end(call_id, failure_of(error)))

    def check(self, asked: Asked) -> None:
        """Refuse a subscription to a run that there is not; in a thread."""
        if asked.call.run_id is not None:
            with moment_of(self.reader.log) as moment:
                moment.run(asked.call.run_id)

    def lines(self, asked: Asked) -> JsonObject:
        """Lines of a run's output log; in a thread."""
        payload: RunLogs = asked.payload
        self.check(asked)
        return self._page_of_lines(asked.run_id, payload.node, payload.after)

    async def _events(self, asked: Asked, payload: EventsSubscribe, send: Send) -> None:
        wanted = Wanted(run_id=asked.call.run_id, types=payload.types, values=payload.values)
        after = payload.after
        async with self.commits.followed():
            while True:
                page = await self.lanes.run(Lane.LONG, events_page, self.reader.log, wanted, after)
                place = _number(page["next"])
                if page["items"]:
                    await send(_event(asked.call.call_id, "events", place, page))
                after = place
                if not page["more"]:
                    await self.commits.beyond(after)

    async def _view(self, run_id: str, call_id: str, after: int, send: Send) -> None:
        self.looks.begin(run_id)
        try:
            async with self.commits.followed():
                while True:
                    head = self.reader.head().position
                    seen = await self.lanes.run(Lane.LONG, self.looks.document, run_id, after)
                    if seen.view is not None:
                        await send(_event(call_id, "view", seen.position, seen.view))
                        after = seen.position
                    if seen.ended:
                        await send(_end(call_id, FINISHED, after))
                        return
                    await asyncio.sleep(VIEW_PAUSE)
                    await self.commits.beyond(head)
        finally:
            self.looks.end(run_id)

    async def _session(self, session: str, epoch: str | None, call_id: str, send: Send) -> None:
        async def show(view: JsonObject, place: int) -> None:
            await send(_event(call_id, "session", place, view))

        await self.sessions.follow(session, epoch, show)

    async def _runs(self, call_id: str, after: int, send: Send) -> None:
        async with self.commits.followed():
            await self.commits.beyond(after)
            while True:
                runs = await self.lanes.run(Lane.LONG, live_runs, self.reader)
                place = _number(runs["position"])
                await send(_event(call_id, "runs", place, runs))
                await asyncio.sleep(RUNS_PAUSE)
                await self.commits.beyond(place)

    async def _lines(self, asked: Asked, payload: RunLogs, place: int, send: Send) -> None:
        while True:
            # Asked before the file is read: what an ended run wrote is all there.
            ended = await self.lanes.run(Lane.LONG, self._ended, asked.run_id)
            page = await self.lanes.run(Lane.LONG, self._page_of_lines, asked.run_id, payload.node, place)
            moved = _number(page["next"]) > place
            place = _number(page["next"])
            if page["lines"]:
                await send(_event(asked.call.call_id, "lines", place, page))
            if ended and not moved:
                await send(_end(asked.call.call_id, FINISHED, place))
                return
            if not moved:
                await asyncio.sleep(LINES_PAUSE)

    def _page_of_lines(self, run_id: str, node: str | None, place: int) -> JsonObject:
        return lines_page(self.reader.log.home.run_folder(run_id) / "output.log", node, place)

    def _ended(self, run_id: str) -> bool:
        with moment_of(self.reader.log) as moment:
            return moment.run(run_id).finished_at is not None


def _event(call_id: str, kind: str, position: int, payload: JsonObject) -> Event:
    return Event(call_id=call_id, kind=kind, position=position, payload=payload)


def _end(call_id: str, failure: Failure, position: int = 0) -> Event:
    return Event(call_id=call_id, kind="end", position=position, payload=document(failure))


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
