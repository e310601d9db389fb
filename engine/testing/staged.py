"""One run of a workflow in a test, from its start to where nothing but somebody's command can move it."""

from collections.abc import Sequence

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.embedded.preflight import Surroundings
from runwright.engine.reading.history import History
from runwright.engine.testing.scripts import NoMore
from runwright.engine.testing.staging import Given, Staging

#: The key of the one start, so that a repeat after a crash adopts it.
_KEY = "test"


class Staged(Staging[Outcome]):
    """One run.

    Args:
        given: What the test gives.
        start: When it begins on the virtual clock (UTC microseconds); by default now.
    """

    def __init__(self, given: Given, start: int | None = None) -> None:
        super().__init__(given, start)
        #: What a run's checkpoint was answered.
        self._answers: dict[str, tuple[str, object]] = {}

    async def drive(self, engine: AsyncEngine) -> Outcome:
        """Start the run, answer what people are asked, and resolve what only a crash left uncertain."""
        given = self.given
        run_id = await engine.start(given.workflow, given.input, key=_KEY, surroundings=Surroundings(cwd=given.cwd))
        runs = [run_id]
        while True:
            if (answer := self._answers.get(runs[-1])) is None:
                outcome = await engine.wait(runs[-1], until="waiting")
                if self.crashed and await self.resolve(engine, runs[-1]):
                    continue
                answer = await self._answer(engine, runs[-1])
            if answer is None:
                break
            request, value = answer
            answered = await engine.answer(request, value, key=f"answer {request}")
            if answered.run_id != runs[-1]:
                runs.append(answered.run_id)
                await engine.drive(answered.run_id)
        # Read now: the store is gone when the test asks.
        history = _joined([engine.reader.history(each) for each in runs])
        return Outcome(runs[-1], outcome.status, outcome.error, lambda _: history)

    async def _answer(self, engine: AsyncEngine, run_id: str) -> tuple[str, object] | None:
        """The answer to what a person is asked; it is remembered, so that it can be given again after a crash."""
        for request in await engine.requests(run_id):
            script = self.scripts[2].of(request.path)
            if script is None:
                self.miss(request.path, "asks a person, and nobody answers")
                continue
            script.asked += 1
            try:
                value = script.function(request) if script.function else script.answer(request.request_id)
            except NoMore:
                self.miss(request.path, f"asked {script.asked} times, and has fewer answers")
                continue
            self._answers[run_id] = request.request_id, value
            return self._answers[run_id]
        return None


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
