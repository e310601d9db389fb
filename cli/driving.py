"""Drives runs in this process and shows them, until they have ended or nothing here moves them any more."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import field, frozen

from runwright.cli.failures import INTERRUPTED
from runwright.cli.hosting import held_elsewhere, when_free
from runwright.cli.inline_questions import InlineQuestions
from runwright.cli.interview import asking_terminal
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.opening import reading
from runwright.cli.rendering.progress import Progress
from runwright.cli.showing import Feeder, fed, screen

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.engine.reading.status import Status

#: What a command does first with the open engine; answers the IDs of the runs to drive.
Begin = Callable[["AsyncEngine"], Awaitable[Sequence[str]]]

#: Seconds that a run may take to reach its next boundary when its time here is up, and when somebody leaves.
_GRACE = 10.0
_GRACE_LEAVING = 1.0


@frozen(kw_only=True)
class Driven:
    """How runs stand after they were driven.

    Attributes:
        statuses: One for each run, in order.
        left: Whether somebody left by a second Ctrl-C.
        outlived: Whether code of theirs may be at work here still: it cannot be stopped but with the process.
    """

    statuses: "list[Status]"
    left: bool
    outlived: bool = False


def drive(call: Invocation, agents: "Mapping[str, Agent]", begin: Begin, *, timeout: float | None) -> Driven:
    """Open the engine, begin, and follow the runs.

    Args:
        call: The invocation.
        agents: The executors by name.
        begin: Starts or resumes the runs.
        timeout: Seconds to follow them; then they stop at their next boundary.

    Raises:
        Refused: Another process holds the store.
    """
    from runwright.engine.tasks import new_loop
    from runwright.eventstore.errors import StoreInUse

    call.printed.settle()  # what loading printed is said before anything is shown
    call.printed.hear = _unheard
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            return when_free(call, lambda: runner.run(_drive(call, agents, begin, timeout)))
    except StoreInUse as error:
        raise held_elsewhere(call, error.message) from None


def leave(call: Invocation, code: int = INTERRUPTED) -> None:
    """End the process at once: user code that cannot be stopped must not keep the terminal."""
    call.out.stdout.flush()
    call.out.stderr.flush()
    os._exit(code)


async def _drive(call: Invocation, agents: "Mapping[str, Agent]", begin: Begin, timeout: float | None) -> Driven:
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.engine.embedded.driving import CAPACITY
    from runwright.engine.execution.calling import outlived

    capacity = call.settings.given("capacity")
    engine = await AsyncEngine.open(
        call.home,
        agents=agents,
        capacity=capacity if isinstance(capacity, int) else CAPACITY,
        client="cli",
        user=user_folder(),
        unsafe_filesystem=call.flags.unsafe_filesystem,
    )
    left = asyncio.Event()
    run_ids: Sequence[str] = ()
    try:
        after = engine.reader.head().position
        run_ids = await begin(engine)
        with (
            _shown(call, engine, run_ids, after) as feeder,
            _interrupts(call, engine, run_ids, feeder, left) as asked,
            asking_terminal(call) as terminal,
        ):
            questions = InlineQuestions(engine, terminal, feeder, lambda: not asked.tasks)
            until = None if timeout is None else time.monotonic() + timeout
            await _follow(engine, run_ids, timeout, left)
            while not left.is_set() and await questions.asked(run_ids):
                await _follow(engine, run_ids, None if until is None else until - time.monotonic(), left)
    finally:
        await engine.close(grace=_GRACE_LEAVING if left.is_set() else _GRACE)
    # Asked of the closed store: what to type next depends on nobody driving the runs any more.
    with reading(call) as store:
        from runwright.cli.chains import last_of_chain

        return Driven(
            statuses=[store.status(last_of_chain(store, each)) for each in run_ids],
            left=left.is_set(),
            outlived=left.is_set() or (call.printed.of_process and any(outlived(each) for each in run_ids)),
        )


async def _follow(engine: "AsyncEngine", run_ids: Sequence[str], timeout: float | None, left: asyncio.Event) -> None:
    async def all_of_them() -> None:
        await asyncio.gather(*(engine.wait(each, until="asked", timeout=timeout) for each in run_ids))

    leaving: asyncio.Task[object] = asyncio.create_task(left.wait())
    everything: asyncio.Task[object] = asyncio.create_task(all_of_them())
    try:
        await asyncio.wait([everything, leaving], return_when=asyncio.FIRST_COMPLETED)
        if everything.done():
            everything.result()
    finally:
        leaving.cancel()
        everything.cancel()
        await asyncio.gather(everything, leaving, return_exceptions=True)


@contextmanager
def _shown(call: Invocation, engine: "AsyncEngine", run_ids: Sequence[str], after: int) -> Iterator[Feeder | None]:
    """Show on stderr what the runs do, and what their code prints."""
    with screen(call, engine.reader, run_ids, after) as feeder:
        if feeder is None:
            yield None
            return
        with fed(feeder, engine.follow(after)):
            call.printed.hear, call.asking.hold = feeder.progress.printed, feeder.progress.hold
            try:
                yield feeder
                call.printed.settle()
            finally:
                call.printed.hear = _unheard


@contextmanager
def _interrupts(
    call: Invocation, engine: "AsyncEngine", run_ids: Sequence[str], feeder: Feeder | None, left: asyncio.Event
) -> Iterator["_Asked"]:
    """The first Ctrl-C asks for a pause at the boundary and keeps showing, the second leaves."""
    loop = asyncio.get_running_loop()
    asked = _Asked(call, engine, run_ids, None if feeder is None else feeder.progress, left)
    loop.add_signal_handler(signal.SIGINT, asked.interrupt)
    try:
        yield asked
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _unheard(_path: str, _line: str) -> None:
    """Say nothing: the line stands in its run's log."""


@frozen
class _Asked:
    call: Invocation
    engine: "AsyncEngine"
    run_ids: Sequence[str]
    progress: Progress | None
    left: asyncio.Event
    tasks: list[asyncio.Task[None]] = field(factory=list)

    def interrupt(self) -> None:
        """What Ctrl-C does, by how often it was pressed."""
        if self.tasks:
            self.left.set()
            return
        self.tasks.append(asyncio.get_running_loop().create_task(self._pause()))

    async def _pause(self) -> None:
        from runwright.engine.errors import ConflictError

        self._note("pausing at the next step; Ctrl-C again leaves now")
        for run_id in self.run_ids:
            try:
                await self.engine.pause(run_id)
            except ConflictError as error:
                if error.code == "not_started":
                    self._note("not started yet; Ctrl-C again leaves now")

    def _note(self, text: str) -> None:
        if self.call.asking.open:
            self.call.asking.remind(text)
        elif self.progress is not None:
            self.progress.note(text)
