"""Any sequence of commands keeps every invariant, and what is not applied writes nothing."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from hypothesis import example, given, settings

from runwright.engine.commands.worker import Authority, WorkerTransition
from runwright.eventstore.log import EventLog
from runwright.projections.control.registry import CONTROL
from support.stage import Stage, settled, stage
from support.walking import STEPS, claim, host, walk
from support.working import work
from support.world import Call


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_every_invariant_holds_after_any_commands(steps: list[tuple[Any, str, int]]) -> None:
    """Laws 4, 6, 7 and 8 as invariants; only what is applied writes; repeats are never applied twice."""
    walk(steps)


@given(STEPS)
@example([(claim, "run-1", 1), (work, "run-1", 0), (work, "run-1", 6), (host, "run-1", 7)])
@settings(max_examples=15, deadline=None)
def test_a_batch_means_what_its_units_mean_one_after_another(steps: list[tuple[Any, str, int]]) -> None:
    """The same calls over the real log, answered one by one or committed together, leave the same rows."""
    calls = walk(steps).calls
    assert _rows(calls, together=False) == _rows(calls, together=True)


def _rows(calls: list[Call], *, together: bool) -> dict[str, list[Any]]:
    with TemporaryDirectory() as folder, stage(Path(folder) / "home") as real:
        played = Together(real) if together else real
        for call in calls:
            call(played)
        if isinstance(played, Together):
            for each in played.waiting:
                settled(each)
        return {each.name: real.rows(each) for each in CONTROL if each.name != "definitions"}


class InOrder:
    """A log that lets nothing overtake; which is urgent is another question."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def transact(self, unit: Callable[[Any], Any], *, urgent: bool = False) -> Any:
        """Submit a unit."""
        del urgent
        return self._log.transact(unit)


class Together(Stage):
    """A stage that submits and does not wait, so that many units share a commit."""

    def __init__(self, real: Stage) -> None:
        super().__init__(cast(EventLog, InOrder(real.log)), real.clock)
        self.waiting: list[Any] = []

    def ask(self, command: Any, *, key: str | None = None) -> Any:
        """Ask as a client."""
        self.waiting.append(self.transitions.command(self.caller(key), command))

    def host(self, command: Any) -> Any:
        """Ask as the holder."""
        self.waiting.append(self.transitions.host(command))

    def tell(self, authority: Authority, *transitions: WorkerTransition) -> Any:
        """Ask as a worker."""
        self.waiting.append(self.transitions.worker(authority, transitions))

    def wait(self, seconds: float) -> None:
        """Let time pass between two units."""
        self.waiting.append(self.log.transact(lambda tx: self.clock.advance(seconds)))
