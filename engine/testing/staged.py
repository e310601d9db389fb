"""One run of a workflow in a test, from its start to where nothing but somebody's command can move it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from attrs import frozen

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.execution.contexts import as_us
from runwright.engine.reading.history import History
from runwright.engine.reading.requests import Request
from runwright.engine.testing.scripts import NoMore
from runwright.engine.testing.sessions import SESSION, StandInSession
from runwright.engine.testing.staging import Given, Staging

#: The key of the one start, so that a repeat after a crash adopts it.
_KEY: Final = "test"
#: Who decides in a test.
_PERSON: Final = "test"


@frozen
class _Carried:
    """What a run's checkpoint was answered, so that it can be answered again after a crash."""

    request: str
    value: object


class Staged(Staging[Outcome]):
    """One run.

    Args:
        given: What the test gives.
        start: When it begins on the virtual clock (UTC microseconds); by default now.
    """

    def __init__(self, given: Given, start: int | None = None) -> None:
        super().__init__(given, start)
        self._session = StandInSession(self.agents, self.dump, given.cwd)
        self._carried: dict[str, _Carried] = {}

    async def drive(self, engine: AsyncEngine) -> Outcome:
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
        return Outcome(runs[-1], step.status, step.error, lambda _: history)

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
            script = self.scripts[2].of(request.path)
            if script is None:
                self.miss(request.path, "asks a person, and nobody answers")
                continue
            script.asked += 1
            try:
                value: Any = script.function(request) if script.function else script.answer(request.request_id)
            except NoMore:
                self.miss(request.path, f"asked {script.asked} times, and has fewer answers")
                continue
            if request.kind == "checkpoint":
                self._carried[run_id] = _Carried(request.request_id, value)
            elif value is None:
                await self._let_pass(request)
            else:
                choice, text = value if isinstance(value, tuple) else (value, None)
                key = f"decide {request.request_id}"
                await engine.decide(request.request_id, choice, text=text, by=_PERSON, key=key)
            return True
        return False

    async def _carry_on(self, engine: AsyncEngine, run_id: str) -> str | None:
        """Answer a run's checkpoint, where it stands at one, and drive the run that carries it on."""
        carried = self._carried.get(run_id)
        if carried is None:
            return None
        answered = await engine.answer(carried.request, carried.value, key=f"answer {carried.request}")
        await engine.drive(answered.run_id)
        return answered.run_id

    async def _let_pass(self, request: Request) -> None:
        """Let nobody answer in time."""
        if request.deadline is None:
            self.miss(request.path, "has no deadline, and nobody answers")
            return
        await self._sleep_until(request.deadline)

    async def _pass(self, engine: AsyncEngine, run_id: str) -> bool:
        """Let the time pass until the next of a run's timers is due; whether there is one."""
        found = (await engine.query("timers", where=[f"run_id={run_id}"])).items
        due = [datetime.fromisoformat(str(each["due"])) for each in found if each["kind"] != "run"]
        if due:
            await self._sleep_until(min(due))
        return bool(due)

    async def _sleep_until(self, due: datetime) -> None:
        left = (as_us(due) - self.clock.now()) / 1_000_000
        await asyncio.sleep(max(left, 0.001))


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
