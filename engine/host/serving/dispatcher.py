"""From a call to its reply: checked, carried out in its lane, and answered in one of eight words."""

import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from attrs import frozen

from runwright.engine.host.serving import workflows
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.attendance import Attendance, Voice
from runwright.engine.host.serving.chores import CHORES, Chores
from runwright.engine.host.serving.commands import COMMANDS
from runwright.engine.host.serving.commits import Commits
from runwright.engine.host.serving.counting import host_status
from runwright.engine.host.serving.hearing import Hearing
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.host.serving.looks import Looks
from runwright.engine.host.serving.questions import QUESTIONS
from runwright.engine.host.serving.reading_events import Wanted, events_page
from runwright.engine.host.serving.sessions import TOLD, Sessions
from runwright.engine.host.serving.subscriptions import Following
from runwright.engine.host.serving.surface import Surface
from runwright.engine.host.serving.values import Contents
from runwright.engine.protocol.envelopes import Call, Receipt, Reply
from runwright.engine.protocol.errors import MessageInvalid
from runwright.engine.protocol.failures import failure_of, is_ours, outcome_of
from runwright.engine.protocol.operations import Lane
from runwright.engine.protocol.payloads import ContentRead, EventsRead, HostStop, ViewGet, ViewPage, ViewSubscribe
from runwright.eventstore.values import JsonObject

_log = logging.getLogger("runwright.host")

#: Operations that take a value of any size.
_LARGE: Final = frozenset({"run.start", "request.submit", "request.answer", "effect.resolve", "turn.report"})

_Handler: TypeAlias = Callable[[Asked], Awaitable[JsonObject]]


@frozen(kw_only=True)
class Connected:
    """Who is connected, for the host's status."""

    connections: int
    subscriptions: int


class Dispatcher:
    """Answers calls; made on the loop that it answers on.

    Args:
        surface: The engine and the host.
        connected: Answers who is connected.
    """

    def __init__(self, surface: Surface, connected: Callable[[], Connected]) -> None:
        self._surface = surface
        self._connected = connected
        log = surface.holder.log
        self._reader = surface.holder.reader
        self._lanes = Lanes()
        self._chores = Chores(surface.holder, self._lanes)
        self._contents = Contents(log)
        self._looks = Looks(log)
        commits = Commits(log)
        hearing = Hearing(log, self._lanes, commits)
        #: Who is there of those that speak for sessions.
        self.attendance = Attendance(
            engine=surface.engine, log=log, lanes=self._lanes, actor=f"host:{surface.holder.epoch}"
        )
        self._sessions = Sessions(
            engine=surface.engine, log=log, lanes=self._lanes, hearing=hearing, attendance=self.attendance
        )
        #: What subscriptions are made of.
        self.following = Following(
            reader=self._reader, lanes=self._lanes, looks=self._looks, commits=commits, sessions=self._sessions
        )
        self._handlers: dict[str, _Handler] = {
            "workflow.list": self._workflow_list,
            "workflow.check": self._workflow_check,
            "run.logs": self._run_logs,
            "view.get": self._view_get,
            "view.page": self._view_page,
            "view.subscribe": self._view_subscribe,
            "events.read": self._events_read,
            "events.subscribe": self._subscribe,
            "content.read": self._content_read,
            "host.status": self._host_status,
            "host.stop": self._host_stop,
        }

    async def reply(self, call: Call, voice: Voice) -> Reply:
        """Carry out a call that came on a connection. Whatever goes wrong is an answer, too."""
        try:
            asked = await self._checked(call)
            await self.attendance.hear(asked, voice)
            reply = await self._carried_out(asked)
            self.attendance.heard(asked, voice, reply)
            return reply
        except Exception as error:  # noqa: BLE001 - no call may end more than itself
            if not is_ours(error):
                _log.error("%s met a fault: %s at %s", call.operation, type(error).__name__, place_of(error))
            return Reply(call_id=call.call_id, outcome=outcome_of(error), error=failure_of(error))

    def close(self) -> None:
        """Take no more questions."""
        self.attendance.close()
        self._lanes.close()

    async def _checked(self, call: Call) -> Asked:
        """Check a call; one that may hold a large value in a thread."""
        if call.operation in _LARGE:
            return await self._lanes.run(Lane.QUICK, Asked.of, call)
        return Asked.of(call)

    async def _carried_out(self, asked: Asked) -> Reply:
        call, name = asked.call, asked.operation.name
        if (command := COMMANDS.get(name)) is not None:
            done = await command(self._surface, asked)
            return Reply(
                call_id=call.call_id,
                outcome="adopted" if done.adopted else "accepted",
                revision=done.revision,
                receipt=Receipt(client_id=call.client_id, key=asked.caller.key, operation=name, run_id=done.run_id),
                answer=done.answer,
            )
        if name in TOLD:
            told = await self._sessions.answer(asked)
            outcome = "adopted" if told.adopted else "accepted"
            return Reply(call_id=call.call_id, outcome=outcome, revision=told.revision, answer=told.answer)
        if name in CHORES:
            answer = await self._chores.answer(asked)
        elif (question := QUESTIONS.get(name)) is not None:
            answer = await self._lanes.run(asked.operation.lane, question, self._reader, asked)
        else:
            answer = await self._handlers[name](asked)
        return Reply(call_id=call.call_id, outcome="accepted", answer=answer)

    # --- what needs more than the reader --------------------------------------------------------------------------

    async def _workflow_list(self, asked: Asked) -> JsonObject:
        return await self._lanes.run(Lane.LONG, workflows.listed, self._surface, asked)

    async def _workflow_check(self, asked: Asked) -> JsonObject:
        return await workflows.checked(self._surface, asked)

    async def _run_logs(self, asked: Asked) -> JsonObject:
        return await self._lanes.run(Lane.LONG, self.following.lines, asked)

    async def _view_get(self, asked: Asked) -> JsonObject:
        payload: ViewGet = asked.payload
        _check_subject(asked, payload)
        if payload.session is not None:
            return await self._sessions.view(payload.session, payload.epoch)
        if asked.call.run_id is None:
            raise MessageInvalid("$.run_id", "or the payload's session has to be there")
        view = (await self._lanes.run(Lane.LONG, self._looks.document, asked.run_id)).view
        assert view is not None, "asked for from the beginning"
        return view

    async def _view_page(self, asked: Asked) -> JsonObject:
        payload: ViewPage = asked.payload
        return await self._lanes.run(Lane.LONG, self._looks.page, asked.run_id, payload)

    async def _events_read(self, asked: Asked) -> JsonObject:
        payload: EventsRead = asked.payload
        wanted = Wanted(run_id=asked.call.run_id, types=payload.types, values=payload.values, limit=payload.limit)
        await self._subscribe(asked)
        return await self._lanes.run(Lane.LONG, events_page, self._reader.log, wanted, payload.after)

    async def _content_read(self, asked: Asked) -> JsonObject:
        payload: ContentRead = asked.payload
        return await self._lanes.run(Lane.LONG, self._contents.part, payload.position, payload.field, payload.part)

    async def _view_subscribe(self, asked: Asked) -> JsonObject:
        payload: ViewSubscribe = asked.payload
        _check_subject(asked, payload)
        if payload.session is None:
            return await self._subscribe(asked)
        await self._sessions.check(payload.session, payload.epoch)
        return {}

    async def _subscribe(self, asked: Asked) -> JsonObject:
        await self._lanes.run(Lane.QUICK, self.following.check, asked)
        return {}

    async def _host_status(self, _: Asked) -> JsonObject:
        facts, connected = self._surface.host.facts(), self._connected()
        return await self._lanes.run(
            Lane.QUICK, host_status, self._surface.holder, facts, connected.connections, connected.subscriptions
        )

    async def _host_stop(self, asked: Asked) -> JsonObject:
        payload: HostStop = asked.payload
        self._surface.host.stop(payload.grace)
        return {"stopping": True}


def _check_subject(asked: Asked, payload: ViewGet | ViewSubscribe) -> None:
    """A view is about one thing, and only a session has a coordinator."""
    if payload.session is not None and asked.call.run_id is not None:
        raise MessageInvalid("$.run_id", "or the payload's session has to be there, and not both")
    if payload.epoch is not None and payload.session is None:
        raise MessageInvalid("$.payload.epoch", "is that of a session, and none is named")


def place_of(error: BaseException) -> str:
    """Where an error was raised; its text may hold anything and is not told."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
