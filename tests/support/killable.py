"""A launcher whose workers a test kills where it likes, under a holder that lives on."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright import Surroundings, Workflow
from runwright.engine.commands.worker import Authority, WorkerTransition
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.results import Result
from runwright.engine.testing.staging import Given, Staging


@frozen
class Kill:
    """Where a worker dies.

    Attributes:
        launch: The how-many-th worker of the store, from 1.
        message: The how-many-th list of transitions that it sends, from 1.
        keep: How many transitions of that list are committed before it is gone.
    """

    launch: int
    message: int
    keep: int


class Vanished(Exception):
    """The worker is gone without a word."""


class Killable(Staging[Any]):
    """A store whose workers die where they are told to; the story that a test tells of it is a function.

    Args:
        workflow: The workflow that is started.
        kills: Where workers die.
        story: What is done with the engine and the run; its answer is what `play` answers.
        effects: What its effects come to.
    """

    def __init__(
        self, workflow: Workflow[Any], kills: Sequence[Kill], story: Callable[[AsyncEngine, str], Any], **effects: Any
    ) -> None:
        super().__init__(Given(workflow=workflow, input={}, effects=effects, cwd=Path.cwd()))
        self._workflow = workflow
        self._kills = {(each.launch, each.message): each.keep for each in kills}
        self._story = story
        self._sent: dict[str, int] = {}
        self.killed = 0

    async def drive(self, engine: AsyncEngine) -> Any:
        """Start the run, and do what the test does with it."""
        transitions = engine._holder.transitions
        submit = transitions.worker

        def dying(authority: Authority, told: Sequence[WorkerTransition]) -> "Future[list[Result[object]]]":
            number = self._sent[authority.worker] = self._sent.get(authority.worker, 0) + 1
            keep = self._kills.pop((len(self._sent), number), None)
            if keep is None:
                return submit(authority, told)
            if keep:
                submit(authority, told[:keep]).result()
            self.killed += 1
            gone: Future[list[Result[object]]] = Future()
            gone.set_exception(Vanished())
            return gone

        transitions.worker = dying  # type: ignore[method-assign, assignment]  # the worker's end of its channel
        surroundings = Surroundings(cwd=self.given.cwd)
        run_id = await engine.start(self._workflow, {}, key="killable", surroundings=surroundings)
        return await self._story(engine, run_id)
