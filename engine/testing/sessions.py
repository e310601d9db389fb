"""A session that a test plays: it shows what reaches it, and its agent's turns answer by a script."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from runwright.engine.agents.agent import AgentRequest
from runwright.engine.commands.session import (
    AttachSession,
    CurrentMessage,
    DeliverMessage,
    ReportSession,
    ReportTurn,
    StopReason,
    TurnEnd,
)
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.errors import AnswerRejected, ConflictError, InputInvalid
from runwright.engine.reading.requests import Request
from runwright.engine.testing.agents import StandInAgents
from runwright.engine.testing.due import next_due, seconds_until
from runwright.engine.testing.faults import Faults
from runwright.engine.testing.virtual_time import VirtualClock
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.request import RequestRejected
from runwright.eventstore.values import Json

#: The session that a test's run holds.
SESSION: Final = "testing"


class _TimeIsUp(Exception):
    """What an agent works on was closed before it answered."""


class StandInSession:
    """One session over all lives of a test's process; each life attaches anew, and what was shown stays shown.

    Args:
        agents: The scripts that its agent answers by.
        dump: Turns an answer for a path into JSON.
        faults: Told of what does not fit.
        clock: What a request's time is counted on.
        cwd: The folder that the run is started in.
    """

    def __init__(
        self,
        agents: StandInAgents,
        dump: Callable[[str, object], Json],
        faults: Faults,
        clock: VirtualClock,
        cwd: Path,
    ) -> None:
        self._agents = agents
        self._dump = dump
        self._faults = faults
        self._clock = clock
        self._cwd = cwd
        self._branch: set[str] = set()
        self._turns = itertools.count(1)
        self._engine: AsyncEngine
        self._epoch = ""

    async def attach(self, engine: AsyncEngine) -> None:
        """Attach to the engine of the next life."""
        self._engine = engine
        self._epoch = (await engine.tell_session(AttachSession(session=SESSION, agent="testing"))).value.epoch

    async def rest(self) -> None:
        """Reach an idle boundary."""
        await self._report(None)

    async def serve(self, run_id: str) -> bool:
        """Show what a run has for the session, and take the turns that come of it; answer whether there were any."""
        served = False
        told: set[str] = set()
        while (current := (await self._engine.session_view(SESSION)).current) is not None and current.run == run_id:
            if current.deliver:
                await self._take(current)
                served = True
            elif current.message in told:
                # All that can be told about it is known, and it may not be handed out yet.
                break
            else:
                told.add(current.message)
                await self._report(current.message)
        return served

    async def _take(self, current: CurrentMessage) -> None:
        """Be handed a message and show it; where it starts a turn, take that turn."""
        deliver = DeliverMessage(session=SESSION, epoch=self._epoch, message=current.message)
        try:
            handed = (await self._engine.tell_session(deliver)).value
        except ConflictError as refused:
            if refused.code != "revision_changed":
                raise
            return  # its run moved on meanwhile, and something else is to be shown first
        self._branch.add(current.message)
        await self._report(current.message, idle=not handed.starts_turn)
        if handed.starts_turn:
            await self._turn(current)

    async def _turn(self, current: CurrentMessage) -> None:
        turn = f"{self._epoch}-{next(self._turns)}"
        of: dict[str, Any] = {"session": SESSION, "epoch": self._epoch, "turn": turn}
        begun = ReportTurn(**of, message=current.message, run=current.run)
        if (await self._engine.tell_session(begun)).value.ownership != "active":
            return
        reason, text = await self._answer(current)
        end = TurnEnd(stop_reason=reason, entry=None if text is None else f"entry-{turn}", text=text)
        await self._engine.tell_session(ReportTurn(**of, message=current.message, run=current.run, ended=end))
        await self.rest()

    async def _answer(self, current: CurrentMessage) -> tuple[StopReason, str | None]:
        """What the agent's turn comes to: submissions until one is taken, or a visible answer."""
        request = await self._request(current)
        refused = None if request is None else await self._refusal(request)
        while request is not None:
            try:
                value = await self._in_time(request, await self._question(request, refused))
            except StoreError:
                raise
            except _TimeIsUp:
                break
            except Exception:  # noqa: BLE001 (an answer that is an exception stands for a provider that failed)
                return "error", None
            if request.kind == "assistant":
                if not isinstance(value, str):
                    await self._faults.wrong(request.path, f"an answer of type {type(value).__name__}", "a text")
                return "completed", value
            refused = await self._submit(request, value)
            if refused is None:
                break
        return "completed", None

    async def _in_time(self, request: Request, question: AgentRequest) -> object:
        """Have the agent answer while its request is open; as in reality, its time passes without a worker.

        Raises:
            _TimeIsUp: The request was closed first.
        """
        answer = asyncio.ensure_future(self._agents.run(question))
        try:
            while not answer.done():
                # In this order: what closes a request takes its timer away, too.
                due = await next_due(self._engine, request.run_id)
                if not await self._is_open(request):
                    raise _TimeIsUp
                await asyncio.wait({answer}, timeout=None if due is None else seconds_until(due, self._clock))
            return await answer
        finally:
            answer.cancel()

    async def _is_open(self, request: Request) -> bool:
        return any(each.request_id == request.request_id for each in await self._engine.requests(request.run_id))

    async def _submit(self, request: Request, value: object) -> str | None:
        """Submit an answer; why it was refused, where another one can follow."""
        try:
            document = self._dump(request.path, value)
            await self._engine.submit(request.request_id, document, session=SESSION, epoch=self._epoch)
        except AnswerRejected as rejected:
            return rejected.reason if rejected.left else None
        except InputInvalid as unfit:
            await self._faults.wrong(request.path, f"the answer: {unfit.path}: {unfit.problem}", "JSON")
        except ConflictError:
            # Its time was up, or its run ended, while the agent worked on it.
            return None
        return None

    async def _refusal(self, request: Request) -> str | None:
        """Why the last answer to a request was refused, whoever gave it in whichever life."""
        refused: str | None = None
        for recorded in await self._engine.events(request.run_id, types=[RequestRejected.type]):
            event = recorded.event
            if isinstance(event, RequestRejected) and event.request == request.request_id and event.reason is not None:
                refused = str(event.reason.value)
        return refused

    async def _request(self, current: CurrentMessage) -> Request | None:
        """The open request that a message asks for."""
        for each in await self._engine.requests(current.run):
            if current.message.startswith(f"step:{each.request_id}:"):
                return each
        return None

    async def _question(self, request: Request, refused: str | None) -> AgentRequest:
        (row,) = (await self._engine.query("requests", where=[f"request={request.request_id}"])).items
        return AgentRequest(
            prompt=request.prompt or "",
            schema=request.schema,
            run_id=request.run_id,
            path=request.path,
            visit=int(str(row["visit"])),
            attempt=int(str(row["attempt"])),
            request_id=request.request_id,
            deadline=request.deadline,
            cwd=self._cwd,
            scratch=self._cwd,
            resumed=False,
            refused=refused,
            update=_nowhere,
            log=_unheard,
        )

    async def _report(self, message: str | None, *, idle: bool = True) -> None:
        entry = f"entry-{message}" if message in self._branch else None
        await self._engine.tell_session(
            ReportSession(
                session=SESSION, epoch=self._epoch, message=message, entry=entry, idle=idle, nothing_pending=idle
            )
        )


def _nowhere(key: str = "overall", **progress: object) -> None:
    """A stand-in's progress is shown to nobody."""
    del key, progress


def _unheard(text: str) -> None:
    """A stand-in's words are kept nowhere."""
    del text
