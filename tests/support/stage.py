"""A stage for transitions: a real log, a clock that a test moves, and short words for what is asked."""

import itertools
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from runwright.engine.commands.client import Caller, ClientCommand, QueueRun
from runwright.engine.commands.host import ClaimRun, HostCommand
from runwright.engine.commands.worker import Authority, Ready, WorkerTransition
from runwright.engine.graph.definition import Definition
from runwright.engine.results import Applied, Result
from runwright.engine.transitions.store import Transitions
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.log import EventLog
from runwright.eventstore.values import Json
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.projection import Projection

V = TypeVar("V")
RowT = TypeVar("RowT")

PROCESS = ProcessIdentity(boot="boot", namespace="ns", pid=1, start=1)


class TestClock:
    """A clock that stands still until a test moves it; both hands move together."""

    __test__ = False

    def __init__(self) -> None:
        self.us = 1_700_000_000_000_000

    def now(self) -> int:
        """UTC in microseconds."""
        return self.us

    def monotonic(self) -> float:
        """Seconds."""
        return self.us / 1_000_000

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.us += round(seconds * 1_000_000)


class Stage:
    """Transitions over a log, for one holder's epoch."""

    def __init__(self, log: EventLog, clock: TestClock, *, epoch: str = "epoch", seed: int = 1) -> None:
        self.log = log
        self.clock = clock
        self.epoch = epoch
        self._random = Random(f"{seed}/{epoch}")
        self._numbers = itertools.count(1)
        self._last: Authority | None = None
        self.transitions = Transitions(
            log, clock=clock, random=self._random.randbytes, epoch=epoch, receipts_key=b"r" * 32
        )

    def succeed(self, epoch: str) -> "Stage":
        """The next holder of the same log: leases and caches of this one are gone."""
        return Stage(self.log, self.clock, epoch=epoch)

    def caller(self, key: str | None = None) -> Caller:
        """A person at the command line, with a new key where none is given."""
        key = f"key-{self.epoch}-{next(self._numbers)}" if key is None else key
        return Caller(client="cli", key=key, actor="client:cli")

    def ask(self, command: ClientCommand, *, key: str | None = None) -> Result[Any]:
        """Ask as a client."""
        return settled(self.transitions.command(self.caller(key), command))

    def host(self, command: HostCommand) -> Result[Any]:
        """Ask as the holder."""
        return settled(self.transitions.host(command))

    def tell(self, authority: Authority, *transitions: WorkerTransition) -> list[Result[Any]]:
        """Ask as a worker."""
        return settled(self.transitions.worker(authority, transitions))

    def queue(self, definition: Definition, run_id: str = "run-1", value: Json = None, **more: Any) -> str:
        """Queue a run and answer its ID."""
        key = more.pop("key", None)
        result = self.ask(queue_command(definition, run_id, value, **more), key=key)
        assert isinstance(result, Applied), result
        return run_id

    def claim(self, run_id: str = "run-1", *, ready: bool = True) -> Authority:
        """Claim a run for a new worker, and let it say ``ready``."""
        number = next(self._numbers)
        owner, token = f"{self.epoch}:{self.epoch}w{number}", f"{number:064x}"
        result = self.host(ClaimRun(run_id=run_id, owner=owner, token_hash=token_hash(token), process=PROCESS))
        assert isinstance(result, Applied), result
        self._last = authority = Authority(run_id=run_id, owner=owner, token=token, generation=result.value)
        if ready:
            self.applied(authority, Ready())
        return authority

    @property
    def last(self) -> Authority:
        """The worker that claimed last."""
        assert self._last is not None
        return self._last

    def applied(self, authority: Authority, *transitions: WorkerTransition) -> list[Any]:
        """Have every transition of a list applied, and answer their values."""
        results = self.tell(authority, *transitions)
        assert len(results) == len(transitions), results
        for result in results:
            assert isinstance(result, Applied), results
        return [result.value for result in results if isinstance(result, Applied)]

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)

    def row(self, projection: Projection[RowT], *key: str | int) -> RowT:
        """Answer a row that must be there."""
        found = settled(self.log.transact(lambda tx: tx.control.get(projection, *key)))  # type: ignore[attr-defined]
        assert found is not None, (projection.name, key)
        return found  # type: ignore[no-any-return]

    def rows(self, projection: Projection[RowT], **equals: Any) -> list[RowT]:
        """Answer rows by equal values."""
        return settled(self.log.transact(lambda tx: tx.control.find(projection, **equals)))  # type: ignore[attr-defined]

    def types(self, run_id: str = "run-1", after: int = 0) -> list[str]:
        """Name the events of a run after a version."""
        return [each.type for each in self.log.read(f"run/{run_id}") if each.version > after]

    def revision(self, run_id: str = "run-1") -> int:
        """Answer the version of a run's stream."""
        return len(self.types(run_id))


def queue_command(definition: Definition, run_id: str, value: Json = None, **more: Any) -> QueueRun:
    """The command that queues a run of a definition."""
    facts: dict[str, Any] = {
        "run_id": run_id,
        "workflow": definition.workflow,
        "reference": f"object:{definition.workflow}",
        "definition": definition.digest,
        "snapshot": definition.snapshot(),
        "sources": None,
        "paths": None,
        "input": value,
        "max_steps": definition.max_steps,
        "timeout": None,
    }
    return QueueRun(**{**facts, **more})


def settled(future: "Future[V]") -> V:
    """Wait for an answer, but not for ever."""
    return future.result(timeout=30)


@contextmanager
def stage(home: Path) -> Iterator[Stage]:
    """Open a log in a folder and put a stage over it."""
    clock = TestClock()
    log = EventLog.open(home, layout=LAYOUT, control=ControlRows(), clock=clock.now)
    try:
        yield Stage(log, clock)
    finally:
        log.close()
