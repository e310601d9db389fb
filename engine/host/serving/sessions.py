"""Sessions as coordinators see them: what they tell, and the view that hands each its one current message (page 07)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from runwright.engine.commands.session import (
    AttachSession,
    CurrentMessage,
    DeliverMessage,
    DetachSession,
    ReportSession,
    ReportTurn,
    SavedTurn,
    SessionCommand,
    SessionView,
    TurnEnd,
    TurnReceipt,
)
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.errors import ConflictError
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.attendance import Attendance
from runwright.engine.host.serving.bounds import EVIDENCE_PAUSE, SESSION_PAUSE
from runwright.engine.host.serving.hearing import Hearing
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.host.serving.values import field_of, value_of
from runwright.engine.protocol import conversation as messages
from runwright.engine.protocol.fields import document
from runwright.engine.protocol.limits import INLINE
from runwright.engine.protocol.operations import Lane
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import JsonObject

#: Sends a view with the position that it stands at; returns when there is room for the next.
Show = Callable[[JsonObject, int], Awaitable[None]]


@frozen(kw_only=True)
class Told:
    """What came of what a coordinator told.

    Attributes:
        adopted: Whether it was known already.
        revision: The revision of the run that it is about.
        answer: What is answered.
    """

    adopted: bool
    revision: int | None = None
    answer: JsonObject


@frozen(kw_only=True)
class Sessions:
    """The conversation side of the protocol.

    Args:
        engine: The engine.
        log: The log.
        lanes: The threads.
        hearing: Tells that a session has changed.
        attendance: Tells who is missed.
    """

    engine: AsyncEngine
    log: LogReader
    lanes: Lanes
    hearing: Hearing
    attendance: Attendance

    # --- what is told ---------------------------------------------------------------------------------------------

    async def answer(self, asked: Asked) -> Told:
        """Take in what a coordinator tells.

        Raises:
            ConflictError: Another coordinator has the session (``claim_lost``), or the turn is another one.
        """
        told = await TOLD[asked.operation.name](self, asked)
        self.hearing.told(asked.payload.session)
        return told

    async def attach(self, asked: Asked) -> Told:
        """Take a session; where its agent rests, that is the first report."""
        payload: messages.SessionAttach = asked.payload
        result = await self._tell(asked, AttachSession(session=payload.session, agent=payload.agent))
        epoch: str = result.value.epoch
        if payload.idle and payload.nothing_pending:
            await self._tell(
                asked, ReportSession(session=payload.session, epoch=epoch, idle=True, nothing_pending=True)
            )
        return Told(adopted=False, answer=document(messages.SessionAttached(session=payload.session, epoch=epoch)))

    async def detach(self, asked: Asked) -> Told:
        """Leave a session."""
        payload: messages.SessionDetach = asked.payload
        return _told(await self._tell(asked, DetachSession(session=payload.session, epoch=payload.epoch)))

    async def settled(self, asked: Asked) -> Told:
        """The agent rests."""
        payload: messages.SessionSettled = asked.payload
        return _told(
            await self._tell(
                asked,
                ReportSession(
                    session=payload.session,
                    epoch=payload.epoch,
                    idle=True,
                    nothing_pending=True,
                    person_spoke=payload.person_spoke,
                ),
            )
        )

    async def report(self, asked: Asked) -> Told:
        """What the branch holds of a message."""
        payload: messages.SessionReport = asked.payload
        return _told(
            await self._tell(
                asked,
                ReportSession(
                    session=payload.session,
                    epoch=payload.epoch,
                    message=payload.message,
                    entry=payload.entry,
                    idle=payload.idle,
                    nothing_pending=payload.nothing_pending,
                    person_spoke=payload.person_spoke,
                ),
            )
        )

    async def turn(self, asked: Asked) -> Told:
        """A turn began, or ended."""
        payload: messages.TurnReport = asked.payload
        ending: Any = payload.ended
        result = await self._tell(
            asked,
            ReportTurn(
                session=payload.session,
                epoch=payload.epoch,
                turn=payload.turn,
                message=payload.message,
                run=asked.run_id,
                ended=None
                if ending is None
                else TurnEnd(stop_reason=ending.stop_reason, entry=ending.entry, text=ending.text),
            ),
        )
        receipt: TurnReceipt = result.value
        found = messages.TurnReceipt(schema=receipt.schema, ownership=receipt.ownership, turn=_turn(receipt.turn))
        return Told(adopted=isinstance(result, Adopted), revision=result.revision, answer=document(found))

    async def _tell(self, asked: Asked, command: SessionCommand) -> Applied[Any] | Adopted[Any]:
        return await self.engine.tell_session(command, actor=asked.actor)

    # --- what is shown --------------------------------------------------------------------------------------------

    async def check(self, session: str, epoch: str | None) -> None:
        """Refuse a coordinator that is not the present one."""
        _fence(await self.engine.session_view(session, epoch=epoch), epoch)

    async def view(self, session: str, epoch: str | None) -> JsonObject:
        """A session as it stands; its coordinator is handed its message, if one is due.

        Raises:
            ConflictError: Another coordinator has the session.
        """
        return await self._document(await self._look(session, epoch))

    async def follow(self, session: str, epoch: str | None, show: Show) -> None:
        """Show a session now and whenever it changes; its coordinator is handed each message as it is due.

        What waits for evidence is shown again after a while: an absence that proved nothing then may prove something.
        """
        seen: SessionView | None = None
        async with self.hearing.of(session) as news:
            while True:
                again = seen is not None and seen.current is not None and seen.current.state == "pending"
                try:
                    async with asyncio.timeout(EVIDENCE_PAUSE if again else None):
                        await news.wait()
                except TimeoutError:
                    seen = None
                news.clear()
                place = self.log.head().position
                view = await self._look(session, epoch)
                if view != seen:
                    await show(await self._document(view), place)
                    seen = _handed(view)
                await asyncio.sleep(SESSION_PAUSE)

    async def _look(self, session: str, epoch: str | None) -> SessionView:
        """A session's view; where it says `deliver`, that is committed, and this very view has to leave."""
        while True:
            view = await self.engine.session_view(session, epoch=epoch)
            _fence(view, epoch)
            current = view.current
            if current is None or not current.deliver:
                return view
            if epoch is None:
                return evolve(view, current=evolve(current, deliver=False))
            try:
                command = DeliverMessage(session=session, epoch=epoch, message=current.message)
                handed = await self.engine.tell_session(command, actor=f"session:{session}")
            except ConflictError as error:
                if error.code != "revision_changed":
                    raise
                continue  # something happened in between: look again
            return evolve(view, current=evolve(current, starts_turn=handed.value.starts_turn))

    async def _document(self, view: SessionView) -> JsonObject:
        current = view.current
        shown = None if current is None else await self.lanes.run(Lane.QUICK, self._message, current)
        return {
            **document(
                messages.SessionViewed(
                    session=view.session,
                    # One that is missed may come back, and a tool of its agent looks here under which epoch.
                    epoch=view.epoch or self.attendance.missed(view.session),
                    run_id=view.run,
                    turn=_turn(view.turn),
                    current=None,
                    pending=view.pending,
                    wake_ups=view.wake_ups,
                )
            ),
            "current": shown,
        }

    def _message(self, current: CurrentMessage) -> JsonObject:
        """The current message; its values stand in the frame that hands it out, where they are small."""
        recorded = self.log.event(current.position)
        room = INLINE if current.deliver else 0
        viewed = messages.MessageViewed(
            message=current.message,
            kind=current.kind,
            run_id=current.run,
            state=current.state,
            starts_turn=current.starts_turn,
            deliver=current.deliver,
            position=current.position,
            size=current.size,
            digest=current.digest,
            content=None,
            text=None,
        )
        values = {
            name: value_of(current.position, name, field_of(recorded, name), room=room) for name in ("content", "text")
        }
        return {**document(viewed), **values}


_Tell: TypeAlias = Callable[[Sessions, Asked], Awaitable[Told]]

TOLD: Final[Mapping[str, _Tell]] = MappingProxyType(
    {
        "session.attach": Sessions.attach,
        "session.detach": Sessions.detach,
        "session.settled": Sessions.settled,
        "session.report": Sessions.report,
        "turn.report": Sessions.turn,
    }
)


def _told(result: Applied[Any] | Adopted[Any]) -> Told:
    runs = tuple(getattr(result.value, "touched", ()))
    return Told(adopted=isinstance(result, Adopted), answer=document(messages.SessionTold(runs=runs)))


def _turn(turn: SavedTurn | None) -> messages.TurnViewed | None:
    if turn is None:
        return None
    return messages.TurnViewed(
        turn=turn.turn,
        message=turn.message,
        run_id=turn.run,
        session=turn.session,
        state=turn.state,
        stop_reason=turn.stop_reason,
    )


def _fence(view: SessionView, epoch: str | None) -> None:
    """Refuse whoever is not the present coordinator, and says that it is one."""
    if epoch is not None and view.epoch != epoch:
        reason = "missing" if view.epoch is None else "owner_changed"
        raise ConflictError(Conflict("claim_lost", {"session": view.session, "reason": reason}))


def _handed(view: SessionView) -> SessionView:
    """What a view looks like once its message has been handed out: nobody has to be shown that."""
    current = view.current
    if current is None or not current.deliver:
        return view
    wake_ups = view.wake_ups + (1 if current.starts_turn else 0)
    return evolve(view, wake_ups=wake_ups, current=evolve(current, deliver=False, starts_turn=False))
