"""One run of a workflow in a test, from its start to where nothing but somebody's command can move it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from attrs import frozen

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.errors import ConflictError, InputInvalid
from runwright.engine.reading.history import History
from runwright.engine.reading.requests import Request
from runwright.engine.reading.status import Status
from runwright.engine.testing.due import next_due, seconds_until
from runwright.engine.testing.functions import called
from runwright.engine.testing.scripts import NoMore
from runwright.engine.testing.sessions import SESSION, StandInSession
from runwright.engine.testing.staging import Given, Staging
from runwright.eventstore.events.node import NodeFinished

#: The key of the one start, so that a repeat after a crash adopts it.
_KEY: Final = "test"
#: Who decides in a test.
_PERSON: Final = "test"
#: What an answer that does not fit should have been.
_DECISION: Final = "the name of a choice, a pair of it and a text, or None where its deadline passes"
_CHECKPOINT: Final = "a value of its own type, or JSON of it"
#: Why a choice or an answer is refused that comes too late; the run has gone on, or ended, without it.
_LATE: Final = frozenset({"revision_changed", "already_terminal"})


@frozen
class _Carried:
    """What a run's checkpoint was answered, so that it can be answered again after a crash."""

    request: str
    path: str
    value: object


class Played(Outcome):
    """How a run of a test stands; it shows why, too, because all that is private in it is the test's own."""

    def __init__(
        self, outcome: Outcome, status: Status, history: History, why: str | None, runs: Sequence[str]
    ) -> None:
        super().__init__(status.run_id, outcome.status, outcome.error, lambda _: history)
        #: The run that was started, and those that carried it on.
        self.runs = tuple(runs)
        self._ended = status.ended
        self._why = why

    def __repr__(self) -> str:
        return f"<Outcome: the run {self.told}>"

    @property
    def told(self) -> str:
        """How it stands and why, after *the run*."""
        stands = "ended" if self._ended else "stands"
        where = f" at {self.path[-1]!r}" if self.path else ""
        code = f" ({self.error.code})" if self.error is not None else ""
        return f"{stands} {self.status}{code}{where}{'' if self._why is None else f': {self._why}'}"


class Staged(Staging[Played]):
    """One run.

    Args:
        given: What the test gives.
        start: When it begins on the virtual clock (UTC microseconds); by default now.
    """

    def __init__(self, given: Given, start: int | None = None) -> None:
        super().__init__(given, start)
        self._session = StandInSession(self.agents, self.dump, self.faults, self.clock, given.cwd)
        self._carried: dict[str, _Carried] = {}

    async def drive(self, engine: AsyncEngine) -> Played:
        """Start the run, answer what is asked, and resolve what only a crash left uncertain."""
        given, session = self.given, SESSION if self.in_session else None
        if session is not None:
            await self._session.attach(engine)
        surroundings = Surroundings(cwd=given.cwd)
        runs = [await engine.start(given.workflow, given.input, key=_KEY, session=session, surroundings=surroundings)]
        if session is not None:
            await self._session.rest()
        while not isinstance(step := await self._step(engine, runs[-1]), Outcome):
            if step is not None:
                runs.append(step)
        # Read now: the store is gone when the test asks.
        history = _joined([engine.reader.history(each) for each in runs])
        status = await engine.status(runs[-1])
        return Played(step, status, history, await self._why(engine, status), runs)

    async def _step(self, engine: AsyncEngine, run_id: str) -> Outcome | str | None:
        """Let a run go on and do what is next about it.

        Returns:
            How it stands, where nothing is; the run that carries it on, where its checkpoint was answered; else
            ``None``.
        """
        if run_id not in self._carried:
            before = (await engine.status(run_id)).revision
            outcome = await engine.wait(run_id, until="asked")
            if self.crashed and await self.resolve(engine, run_id):
                return None
            if self.in_session and await self._session.serve(run_id):
                return None
            if not await self._ask_people(engine, run_id):
                # What was seen of a run that moved meanwhile is not how it stands.
                moved = (await engine.status(run_id)).revision != before
                passed = moved or (outcome.status != "paused" and await self._pass(engine, run_id))
                return None if passed else outcome
        return await self._carry_on(engine, run_id)

    async def _ask_people(self, engine: AsyncEngine, run_id: str) -> bool:
        """Answer what a person is asked, as far as the test says how; whether anything was."""
        for request in await engine.requests(run_id):
            if request.kind not in ("decision", "checkpoint"):
                continue
            value = await self._said(request)
            if request.kind == "checkpoint":
                self._carried[run_id] = _Carried(request.request_id, request.path, value)
            elif value is None:
                await self._let_pass(request)
            else:
                await self._decide(engine, request, value)
            return True
        return False

    async def _said(self, request: Request) -> object:
        """What the test has a person say."""
        script = self.scripts[2].of(request.path)
        if script is None:
            await self.faults.missing(request.path, "asks a person, and nobody answers")
        script.asked += 1
        if script.function is not None:
            return await called(script, self.faults, request.path, request.run_id, request)
        try:
            return script.answer(request.request_id)
        except NoMore:
            await self.faults.missing(request.path, script.spent())

    async def _decide(self, engine: AsyncEngine, request: Request, value: object) -> None:
        """Have a person choose."""
        choice, text = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
        if not isinstance(choice, str) or not isinstance(text, str | None):
            await self.faults.wrong(request.path, f"an answer of type {type(value).__name__}", _DECISION)
        try:
            key = f"decide {request.request_id}"
            await engine.decide(request.request_id, choice, text=text, by=_PERSON, key=key)
        except ConflictError as refused:
            if refused.code == "input_invalid":
                at = refused.evidence
                await self.faults.wrong(request.path, f"the answer: {at.get('path')} {at.get('problem')}", _DECISION)
            if refused.code not in _LATE:
                raise

    async def _carry_on(self, engine: AsyncEngine, run_id: str) -> str | None:
        """Answer a run's checkpoint, where it stands at one, and drive the run that carries it on."""
        carried = self._carried.get(run_id)
        if carried is None:
            return None
        try:
            answered = await engine.answer(carried.request, carried.value, key=f"answer {carried.request}")
        except InputInvalid as unfit:
            await self.faults.wrong(carried.path, f"the answer: {unfit.path}: {unfit.problem}", _CHECKPOINT)
        except ConflictError as refused:
            if refused.code not in _LATE:
                raise
            del self._carried[run_id]
            return None
        await engine.drive(answered.run_id)
        return answered.run_id

    async def _let_pass(self, request: Request) -> None:
        """Let nobody answer in time."""
        if request.deadline is None:
            await self.faults.missing(request.path, "has no deadline, and nobody answers")
        await self._sleep_until(request.deadline)

    async def _pass(self, engine: AsyncEngine, run_id: str) -> bool:
        """Let the time pass until the next of a run's timers is due; whether there is one."""
        due = await next_due(engine, run_id, besides="run")
        if due is not None:
            await self._sleep_until(due)
        return due is not None

    async def _sleep_until(self, due: datetime) -> None:
        await asyncio.sleep(seconds_until(due, self.clock))

    async def _why(self, engine: AsyncEngine, status: Status) -> str | None:
        """Why a run came to no good end: what its last bad node said, or why it stands where it does."""
        if status.reason is not None:
            return status.reason.detail or status.reason.code
        if status.error is None:
            return None
        said: str | None = None
        for recorded in await engine.events(status.run_id, types=[NodeFinished.type]):
            event = recorded.event
            if isinstance(event, NodeFinished) and event.outcome != "completed":
                said = None if event.error is None else str(event.error.value)
        return f"{status.error.message} {said or ''}".strip()


def _joined(histories: Sequence[History]) -> History:
    """What a chain of runs did, each carrying on what the one before it had reached."""
    prompts: dict[str, list[str]] = {}
    for each in histories:
        for path, asked in each.prompts.items():
            prompts.setdefault(path, []).extend(asked)
    return History(
        output=histories[-1].output,
        path=tuple(path for each in histories for path in each.path),
        outputs={path: output for each in histories for path, output in each.outputs.items()},
        prompts=prompts,
    )
