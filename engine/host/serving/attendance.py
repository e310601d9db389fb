"""Who is there: the connections that speak for each session's coordinator; one without any is missed after a while."""

import asyncio
import logging
from contextlib import suppress

from attrs import define, field, frozen

from runwright.engine.commands.session import MissSession, ReturnSession
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.errors import ConflictError
from runwright.engine.host.serving import bounds
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.protocol.envelopes import Reply
from runwright.engine.protocol.failures import is_ours
from runwright.engine.protocol.operations import Lane
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Applied
from runwright.engine.tasks import end_task, own_task
from runwright.eventstore.log import LogReader
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.turns import TURNS

_log = logging.getLogger("runwright.host")


@define(eq=False)
class Voice:
    """One connection, as whoever speaks on it is known by.

    Attributes:
        gone: Whether it has ended.
    """

    gone: bool = False


@define(eq=False)
class _Watched:
    """The coordinator of one session.

    Attributes:
        epoch: Its epoch.
        voices: The connections that have spoken for it.
        timer: Runs while there is none.
        missing: The word that it is missed, on its way to the log.
        missed: Whether the log has it.
    """

    epoch: str
    voices: set[Voice] = field(factory=set)
    timer: asyncio.TimerHandle | None = None
    missing: "asyncio.Task[None] | None" = None
    missed: bool = False

    def calm(self) -> None:
        """Somebody is there, or nobody asks any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


@frozen(kw_only=True)
class Attendance:
    """Misses a coordinator whose last connection has been gone for a while, and takes it back when it speaks again.

    A run with an open turn is shown at work, on the word of its session's coordinator. One whose program was ended
    cannot take that back, so the host says for it that it is gone. That ends no turn and fences nobody: whatever it
    says next, in the same epoch, brings it back first.

    Args:
        engine: The engine.
        log: The log.
        lanes: The threads.
        actor: Who is said to miss it.
    """

    engine: AsyncEngine
    log: LogReader
    lanes: Lanes
    actor: str
    _watched: dict[str, _Watched] = field(factory=dict, init=False)

    async def begin(self) -> None:
        """Expect the coordinators back that were attached to an earlier host, where a turn of a run is open."""
        for session, epoch in await self.lanes.run(Lane.QUICK, self._at_work):
            self._wait(session, self._of(session, epoch))

    def close(self) -> None:
        """Miss nobody any more."""
        for each in self._watched.values():
            each.calm()
            if each.missing is not None:
                end_task(each.missing)
        self._watched.clear()

    async def hear(self, asked: Asked, voice: Voice) -> None:
        """Take a coordinator back that was missed, before anything is done about what it says; but for a farewell."""
        session, epoch = _speaker(asked)
        found = self._watched.get(session)
        if found is None or found.epoch != epoch or asked.operation.name == "session.detach":
            return
        if found.missing is not None:
            await asyncio.wait({found.missing})
        if found.missed:
            self._enter(session, epoch, voice)
            await self._take_back(session, found)

    def heard(self, asked: Asked, voice: Voice, reply: Reply) -> None:
        """Remember on which connection a coordinator was understood."""
        session, epoch = _speaker(asked)
        match asked.operation.name:
            case "session.attach" if reply.answer is not None:
                self._enter(session, str(reply.answer["epoch"]), voice)
            case "session.detach":
                self._forget(session, epoch)
            case _ if session and epoch:
                self._enter(session, epoch, voice)
            case _:
                pass

    def left(self, voice: Voice) -> None:
        """A connection has ended."""
        voice.gone = True
        for session, each in self._watched.items():
            if voice in each.voices:
                each.voices.discard(voice)
                if not each.voices:
                    self._wait(session, each)

    def missed(self, session: str) -> str | None:
        """The epoch of a session's coordinator where that is missed: it has it still, should it come back."""
        found = self._watched.get(session)
        return found.epoch if found is not None and found.missed else None

    # --- inside ---------------------------------------------------------------------------------------------------

    def _at_work(self) -> list[tuple[str, str]]:
        """The sessions with an open turn of a run, and its epoch; in a thread."""
        with moment_of(self.log) as moment:
            held = [each.session for each in moment.rows.find(RESERVATIONS)]
            turns = [turn for each in held for turn in moment.rows.find(TURNS, session=each, state="open")]
        return [(each.session, each.epoch) for each in turns if each.run_id is not None]

    def _enter(self, session: str, epoch: str, voice: Voice) -> None:
        found = self._of(session, epoch)
        if not voice.gone:
            found.calm()
            found.voices.add(voice)
        elif not found.voices:
            self._wait(session, found)

    def _of(self, session: str, epoch: str) -> _Watched:
        """What is known of a coordinator; another epoch's is known no more, nor whoever was heard of longest ago."""
        found = self._watched.pop(session, None)
        if found is None or found.epoch != epoch:
            if found is not None:
                found.calm()
            found = _Watched(epoch)
        self._watched[session] = found
        while len(self._watched) > bounds.MOST_WATCHED:
            self._watched.pop(next(iter(self._watched))).calm()
        return found

    def _forget(self, session: str, epoch: str) -> None:
        found = self._watched.get(session)
        if found is not None and found.epoch == epoch:
            del self._watched[session]
            found.calm()

    def _wait(self, session: str, of: _Watched) -> None:
        of.calm()
        of.timer = asyncio.get_running_loop().call_later(bounds.ABSENCE, self._miss, session, of)

    def _miss(self, session: str, of: _Watched) -> None:
        of.timer = None
        if not of.missed and of.missing is None:
            of.missing = own_task(self._say_missed(session, of), name=f"missing {session}")

    async def _say_missed(self, session: str, of: _Watched) -> None:
        try:
            said = await self.engine.tell_session(MissSession(session=session, epoch=of.epoch), actor=self.actor)
            of.missed = isinstance(said, Applied)
            if of.missed and of.voices:
                await self._take_back(session, of)  # it spoke in the same moment
        except ConflictError:
            pass  # another coordinator has attached, or this one has left
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep a run shown at work for good
            if not is_ours(error):
                _log.error("a coordinator could not be missed: %s", type(error).__name__)
            self._wait(session, of)
            return
        finally:
            of.missing = None
        if not (of.missed or of.voices):
            self._forget(session, of.epoch)  # none of its turns is open

    async def _take_back(self, session: str, of: _Watched) -> None:
        with suppress(ConflictError):  # where another has attached meanwhile, whatever this one wanted says so
            await self.engine.tell_session(ReturnSession(session=session, epoch=of.epoch), actor=f"session:{session}")
        of.missed = False


def _speaker(asked: Asked) -> tuple[str, str]:
    """The session in whose name something is said, and under which epoch; empty where there is none."""
    return getattr(asked.payload, "session", None) or "", getattr(asked.payload, "epoch", None) or ""
