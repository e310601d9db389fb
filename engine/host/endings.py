"""The ends of workers: seen first, and only then recorded."""

import asyncio
import logging
import signal
from collections.abc import Callable
from typing import Final

from runwright.engine.commands.host import GiveUpWorker, HostCommand, RecordExit
from runwright.engine.commands.worker import Authority, ExitWorker
from runwright.engine.embedded.holder import Holder
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.host.limits import EXIT_GRACE, HEARING, RECORD_PAUSE, RECORD_TRIES, TERM_GRACE
from runwright.engine.host.spawning import Child
from runwright.engine.host.supervision import Supervision, Verdict
from runwright.engine.tasks import own_task
from runwright.eventstore.errors import StoreError

_log = logging.getLogger("runwright.host")

#: What a worker's end counts as among the host's troubles.
_CODES: Final = {
    "crashed": "worker_crashed",
    "orphaned": "host_unavailable",
    "timed_out": "worker_timed_out",
    "rejected": "protocol_rejected",
}


class Endings:
    """Puts workers away, and remembers those that cannot be.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        stopping: Whether the host is stopping: then a store that takes nothing is not waited for.
        trouble: Told the code of what goes wrong.
    """

    def __init__(
        self,
        holder: Holder,
        bridge: LoopBridge,
        *,
        stopping: Callable[[], bool],
        trouble: Callable[[str], object],
    ) -> None:
        self._holder = holder
        self._bridge = bridge
        self._stopping = stopping
        self._trouble = trouble
        #: Workers that could not be ended, with who waits for their ends, by their run.
        self._undying: dict[str, tuple[str, asyncio.Task[None]]] = {}

    async def blocked(self, run_id: str) -> bool:
        """Whether a worker of a run lives that could not be ended: then the run is parked once more."""
        undying = self._undying.get(run_id)
        if undying is None:
            return False
        await self.record(GiveUpWorker(run_id=run_id, worker=undying[0]))
        return True

    async def late(self) -> None:
        """Wait for the ends of the workers that could not be ended."""
        await asyncio.gather(*(task for _, task in self._undying.values()))

    async def put_away(
        self,
        child: Child,
        claiming: "asyncio.Task[Authority | None]",
        supervision: Supervision | None,
        verdict: Verdict,
    ) -> str | None:
        """See the end of a child, and only then have it recorded."""
        if verdict.outcome == "crashed" or verdict == Verdict(None):
            # It said all there is to say and exits in its own time, or is exiting already: how, is told in the reason.
            patience = EXIT_GRACE if verdict.outcome is None else HEARING
            await asyncio.wait({own_task(child.exited())}, timeout=patience)
        gone = await child.end(TERM_GRACE)
        authority = await claiming
        if authority is None:
            return None
        run_id, worker = authority.run_id, authority.worker
        if not gone:
            _log.error("run %s: its worker cannot be ended", run_id)
            self._trouble("worker_unkillable")
            await self.record(GiveUpWorker(run_id=run_id, worker=worker))
            self._undying[run_id] = worker, own_task(self._outlast(child, authority, supervision, verdict))
            return None
        return await self._settle(child, authority, supervision, verdict)

    async def _outlast(
        self, child: Child, authority: Authority, supervision: Supervision | None, verdict: Verdict
    ) -> None:
        """Wait for the end of a worker that could not be ended, and record it then."""
        await child.ended()
        await self._settle(child, authority, supervision, verdict)
        del self._undying[authority.run_id]

    async def _settle(
        self, child: Child, authority: Authority, supervision: Supervision | None, verdict: Verdict
    ) -> str | None:
        run_id, worker = authority.run_id, authority.worker
        exited = None if supervision is None else supervision.exited
        named = supervision is not None and bool(supervision.processes)
        match verdict.outcome:
            case None if not named:
                pass  # its own word stands
            case None | "claim_lost":
                if exited is None:
                    await self._say_lost(authority)
                await self.record(RecordExit(run_id=run_id, worker=worker, outcome="crashed"))
            case outcome:
                self._trouble(_CODES[outcome])
                detail = verdict.detail or (_cause(child.status) if outcome == "crashed" else None)
                await self.record(RecordExit(run_id=run_id, worker=worker, outcome=outcome, detail=detail))
        return exited.outcome if exited is not None else verdict.outcome

    async def _say_lost(self, authority: Authority) -> None:
        """Say on a worker's behalf that it lost its claim; where it has not, its end is recorded as it was seen."""
        try:
            await self._bridge.wrap(self._holder.transitions.worker(authority, [ExitWorker(outcome="claim_lost")]))
        except StoreError as error:
            _log.warning("run %s: %s", authority.run_id, error.code)

    async def record(self, command: HostCommand) -> None:
        """Have an end recorded; nothing else carries the run on before, so a store that cannot is asked again."""
        tries = 0
        while True:
            try:
                await self._bridge.wrap(self._holder.transitions.host(command))
            except StoreError as error:
                tries += 1
                self._trouble(error.code)
                _log.warning("run %s: the end of a worker was not recorded: %s", command.run_id, error.code)
                if self._holder.log.failed is not None or (self._stopping() and tries >= RECORD_TRIES):
                    return  # the next holder finds it open
            else:
                return
            await asyncio.sleep(RECORD_PAUSE)


def _cause(status: int | None) -> str | None:
    if status is None:
        return None
    if status == -signal.SIGKILL:
        return "signal 9, as when the system runs out of memory"
    return f"signal {-status}" if status < 0 else f"exit code {status}"
