"""What is driven: which runs, when, and who hears of it; everything here happens on one loop."""

import asyncio
import logging
from typing import Any

from attrs import frozen

from runwright.engine.commands.client import QueueRun
from runwright.engine.commands.host import FireTimer, ParkIdleRun
from runwright.engine.embedded.code import Code, ProgramFacts
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.launcher import Launcher
from runwright.engine.embedded.presentation import Presenting
from runwright.engine.embedded.scheduler import Scheduler
from runwright.engine.embedded.timers import Timers
from runwright.engine.embedded.watch import Watch
from runwright.engine.errors import PreflightError, Unsupported
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.reading.moment import moment_of
from runwright.engine.tasks import end_task, own_task
from runwright.engine.transitions.definitions import Definitions, DefinitionUnreadable
from runwright.eventstore.errors import StoreError
from runwright.projections.control.queue import QUEUE, QueueRow
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RunRow
from runwright.projections.control.timers import TIMERS, TimerRow

_log = logging.getLogger("runwright.engine")

#: How many runs one engine drives at once, unless it is told otherwise.
CAPACITY = 256

#: Seconds after which a timer that the store could not take is fired again.
AGAIN = 1.0
#: Seconds after which a recovery that the store could not take is tried again.
RECOVER_AGAIN = 2.0


@frozen
class Look:
    """How a run stands for whoever drives it."""

    run: RunRow
    queue: QueueRow
    timers: tuple[TimerRow, ...]

    @property
    def moves(self) -> bool:
        """Whether the run goes on without anybody asking: a worker, a place in the queue, or a timer moves it."""
        if self.run.finished_at is not None or self.run.paused:
            return False
        if self.queue.owner is not None or self.queue.eligible:
            return True
        return any(each.kind not in ("run", "delivery") for each in self.timers)


class Driving:
    """Starts, follows and ends the drives of one engine.

    Args:
        holder: The open store.
        code: Who is asked about workflows' code.
        launcher: Who carries runs out.
        capacity: How many runs are driven at once.
    """

    def __init__(self, holder: Holder, code: Code, launcher: Launcher, capacity: int) -> None:
        loop = asyncio.get_running_loop()
        self.bridge = LoopBridge(loop)
        self.watch = Watch()
        self._holder = holder
        self._launcher = launcher
        self._stopping = False
        self._timers = Timers(holder.clock, loop, self._due)
        self._presenting = Presenting(holder, self.bridge, code)
        #: Runs whose end owes their session a message.
        self._in_sessions: set[str] = set()
        self._scheduler = Scheduler(capacity=capacity, drive=self._drive, after=self._ended)
        #: What was queued here and never launched yet.
        self._queued: dict[str, QueueRun] = {}
        self._definitions = Definitions()
        #: How the last launch of a run ended, until its end was looked at.
        self._outcomes: dict[str, str | None] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        #: Runs of which a timer has fallen due and was not yet seen to.
        self._firing: set[str] = set()
        #: Goes on with a recovery that the store could not take when it was opened.
        self._recovery: asyncio.Task[None] | None = None

    @property
    def stopping(self) -> bool:
        """Whether nothing more is begun here."""
        return self._stopping

    def begin(self) -> None:
        """Restore timers, and drive what may go on by itself and whose workflow was handed in."""
        with moment_of(self._holder.log) as moment:
            timers = moment.rows.find(TIMERS)
            eligible = moment.rows.find(QUEUE, eligible=True)
        for timer in timers:
            self._timers.set(timer.run_id, timer.kind, timer.due, absolute=timer.absolute)
        for row in sorted(eligible, key=lambda row: row.order):
            self.look(row.run_id)
        self._presenting.begin()
        if self._holder.unrecovered:
            self._recovery = own_task(self._recover(), name="recovery")

    def queued(self, command: QueueRun, program: ProgramFacts) -> None:
        """Drive a run that was just queued here."""
        run_id = command.run_id
        self._launcher.take(run_id, program)
        if command.session is None:
            self._queued[run_id] = command
        if command.timeout is not None or command.session is not None:
            # It has a timer, or waits for its session's idle boundary, before which its files may change.
            self.look(run_id)
        else:
            self._scheduler.submit(run_id, self._holder.log.head().position, command.project or "")

    def take(self, run_id: str, program: ProgramFacts) -> None:
        """Drive a run whenever it may go on, from now on."""
        self._launcher.take(run_id, program)

    def taken(self, run_id: str) -> bool:
        """Whether this engine drives the run, or will when it may go on."""
        return self._launcher.taken(run_id)

    def peek(self, run_id: str) -> Look:
        """Read how a run stands, and do nothing about it.

        Raises:
            NotFound: There is no such run.
        """
        with moment_of(self._holder.log) as moment:
            run = moment.run(run_id)
            queue = moment.rows.get(QUEUE, run_id)
            assert queue is not None, "queued by the same event as the run"
            timers = tuple(moment.rows.find(TIMERS, run_id=run_id)) if run.finished_at is None else ()
        return Look(run, queue, timers)

    def look(self, run_id: str) -> Look:
        """Look at a run after something about it changed: timers, eligibility, and who waits for it.

        Raises:
            NotFound: There is no such run.
        """
        look = self.peek(run_id)
        run, queue = look.run, look.queue
        if run.session is not None:
            self._in_sessions.add(run_id)
        self._timers.keep(run_id, frozenset(each.kind for each in look.timers))
        for each in look.timers:
            self._timers.set(run_id, each.kind, each.due, absolute=each.absolute)
        if run.finished_at is not None:
            self._forget(run_id)
        elif queue.eligible and queue.owner is None and self._drivable(run):
            self._scheduler.submit(run_id, queue.order, run.project or "")
        self.watch.tell(run_id)
        return look

    @property
    def settled(self) -> bool:
        """Whether no run is under way, waits for a place or a time, or has to be told of."""
        return (
            not (self._scheduler.busy or self._timers or self._tasks or self._recovering) and self._presenting.settled
        )

    @property
    def _recovering(self) -> bool:
        return self._recovery is not None and not self._recovery.done()

    def driving(self, run_id: str) -> bool:
        """Whether the run has a worker here, or waits for a place."""
        return self._scheduler.driving(run_id)

    def moves(self, look: Look) -> bool:
        """Whether a run goes on without anybody asking, here."""
        if not look.moves:
            return False
        run_id = look.run.run_id
        by_timer = (not look.queue.eligible and look.queue.owner is None) or run_id in self._firing
        return self._scheduler.driving(run_id) or by_timer or run_id in self._holder.unrecovered

    def asked(self, look: Look) -> bool:
        """Whether a run stands at a question that is open to somebody who is no worker."""
        if look.run.finished_at is not None or look.run.paused or look.queue.state != "parked" or look.queue.eligible:
            return False
        with moment_of(self._holder.log) as moment:
            return bool(moment.rows.find(REQUESTS, run_id=look.run.run_id, state="open"))

    def interrupt(self, run_id: str) -> None:
        """Stop driving a run that was just ended by a command; its worker ends what it started."""
        self._timers.keep(run_id, frozenset())
        self._scheduler.interrupt(run_id)
        self._in_sessions.add(run_id)  # whoever ended it did not say whether it has one
        self._forget(run_id)
        self.watch.tell(run_id)

    async def stop(self, grace: float) -> None:
        """Take nothing more, let every run stop at its next boundary, and end those that take too long."""
        until = asyncio.get_running_loop().time() + grace
        self._stopping = True
        self._launcher.stop()
        self._timers.close()
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait({self._recovery})
        await self._presenting.stop()
        self._scheduler.stop()
        await self._scheduler.drain(grace)
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=max(0.0, until - asyncio.get_running_loop().time()))
            for task in late:
                end_task(task)  # the check of an answer, for one: the next holder makes it anew
            if late:
                await asyncio.wait(late)
        self.watch.tell_all()

    def background(self, work: Any, name: str) -> None:
        """Keep a task until it is done."""
        task = own_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _recover(self) -> None:
        """A store hiccup strands no run: what was left undone at the opening is tried until it is done."""
        while self._holder.unrecovered:
            await asyncio.sleep(RECOVER_AGAIN)
            try:
                done = await asyncio.to_thread(self._holder.recover_again)
            except StoreError as error:
                _log.warning("recovery was put off: %s", error.code)
                continue
            for run_id in sorted(done):
                self.look(run_id)

    async def _drive(self, run_id: str) -> None:
        if not self._launcher.taken(run_id):
            return
        try:
            self._outcomes[run_id] = await self._launcher.launch(run_id, self._queued.pop(run_id, None))
        except asyncio.CancelledError:
            # Interrupted before it had anything to put away.
            return

    def _ended(self, run_id: str) -> None:
        outcome = self._outcomes.pop(run_id, None)
        if self._stopping:
            self.watch.tell(run_id)
        elif outcome == "finished":
            self._timers.keep(run_id, frozenset())
            self._forget(run_id)
            self.watch.tell(run_id)
        else:
            self.look(run_id)

    def _forget(self, run_id: str) -> None:
        self._launcher.forget(run_id)
        self._queued.pop(run_id, None)
        if run_id in self._in_sessions:
            self._in_sessions.discard(run_id)
            self._presenting.due(run_id)

    def _drivable(self, run: RunRow) -> bool:
        """Whether somebody here can carry out a run that may go on."""
        try:
            self._check_readable(run)
            return self._launcher.takes(run)
        except PreflightError as error:
            self.background(self._park(run, error), f"park {run.run_id}")
            return False

    def _check_readable(self, run: RunRow) -> None:
        """Refuse a run whose graph another version recorded in a form of its own."""
        with moment_of(self._holder.log) as moment:
            try:
                self._definitions.get(moment.event, moment.rows, run.definition)
            except DefinitionUnreadable:
                raise Unsupported(run.workflow) from None

    async def _park(self, run: RunRow, error: PreflightError) -> None:
        """Say in the log that nobody here can drive the run; one that never started keeps its place in the queue."""
        if run.started_at is None:
            return
        reason = "unsupported" if isinstance(error, Unsupported) else "environment_missing"
        park = ParkIdleRun(run_id=run.run_id, reason=reason, detail=error.message)
        try:
            await self.bridge.wrap(self._holder.transitions.host(park))
        except StoreError as trouble:
            _log.warning("run %s was not parked: %s", run.run_id, trouble.code)

    def _due(self, run_id: str, kind: str) -> None:
        self._firing.add(run_id)
        self.background(self._fire(run_id, kind), f"timer {kind} of {run_id}")

    async def _fire(self, run_id: str, kind: str) -> None:
        try:
            await self.bridge.wrap(self._holder.transitions.host(FireTimer(run_id=run_id, kind=kind)))
            self._firing.discard(run_id)
        except StoreError as error:
            self._firing.discard(run_id)
            if self._holder.log.failed is not None:
                self.watch.tell_all()  # the writer serves nobody any more: whoever waits hears why
                return
            _log.warning("timer %s of run %s was put off: %s", kind, run_id, error.code)
            if not self._stopping:
                self._timers.again(run_id, kind, AGAIN)
            return
        look = self.look(run_id)
        if look.run.finished_at is not None:
            # Its own time limit ended the run; the worker only has to hear of it.
            self._scheduler.interrupt(run_id)
