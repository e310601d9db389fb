"""What a new holder does about the workers of the last one (page 05, "Recovery and progress")."""

import logging
import time
from collections.abc import Iterable
from typing import Literal

from runwright.engine.commands.host import GiveUpWorker, HostCommand, RecordExit
from runwright.engine.embedded.leftovers import Leftover, end_leftovers
from runwright.engine.processes import is_alive
from runwright.engine.transitions.store import Transitions
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.log import LogReader
from runwright.projections.control.hosts import HOSTS
from runwright.projections.control.processes import PROCESSES, ProcessRow
from runwright.projections.control.queue import QUEUE, QueueRow
from runwright.projections.control.workers import WORKERS, WorkerRow
from runwright.projections.rows import Rows
from runwright.projections.sql_rows import SqlRows

_log = logging.getLogger("runwright.engine")

#: A store hiccup during recovery strands no run: each step is tried so often, with this pause (seconds).
TRIES = 5
PAUSE = 0.2


def recover(log: LogReader, transitions: Transitions, epoch: str, *, old_host_gone: bool = False) -> frozenset[str]:
    """End what the workers of earlier epochs left, and record their ends; repeating it adds nothing.

    Args:
        log: The log.
        transitions: The way to change anything.
        epoch: The present epoch, whose own workers are left alone.
        old_host_gone: Whether somebody vouches for it that nothing of an earlier holder lives in another container.

    Returns:
        The runs whose worker's end could not be recorded: something of it lives, or the store did not take it.
    """
    with log.snapshot() as snapshot:
        left = _leftovers(SqlRows(snapshot.connection), epoch)
    unkillable = end_leftovers(left.values())
    ends: dict[str, HostCommand] = {}
    for run_id, each in left.items():
        if run_id in unkillable:
            _log.error("run %s: a program of its last worker cannot be ended", run_id)
            ends[run_id] = GiveUpWorker(run_id=run_id, worker=each.worker)
            continue
        seen = old_host_gone or all(is_alive(process) is not None for process in each.named)
        end: Literal["seen", "unseen"] = "seen" if seen else "unseen"
        ends[run_id] = RecordExit(run_id=run_id, worker=each.worker, outcome="orphaned", end=end)
    for attempt in range(TRIES):
        if not ends:
            break
        if attempt:
            time.sleep(PAUSE)
        ends = _record(transitions, ends)
    return frozenset(ends) | unkillable


def _leftovers(rows: Rows, epoch: str) -> dict[str, Leftover]:
    """Every worker of an earlier epoch whose end is not known, by its run."""
    claimed = [row for state in ("starting", "running") for row in rows.find(QUEUE, state=state)]
    left = {row.run_id: worker for row in claimed if (worker := _worker(row, epoch)) is not None}
    own = {row.run_id for row in claimed} - left.keys()
    # A run that had ended or parked before its worker did has no claim any more, and still an open worker; or it
    # has another worker by now, and something that the first one named is still to be struck out.
    for row in (row for state in ("launched", "ready") for row in rows.find(WORKERS, state=state)):
        if row.run_id not in own:
            left.setdefault(row.run_id, row.worker)
    named: list[ProcessRow] = rows.find(PROCESSES)
    for process in named:
        if process.run_id not in own:
            left.setdefault(process.run_id, process.worker)
    return {run_id: _leftover(rows, run_id, worker, named) for run_id, worker in left.items()}


def _leftover(rows: Rows, run_id: str, worker: str, named: Iterable[ProcessRow]) -> Leftover:
    row = rows.get(WORKERS, worker)
    process = None if row is None else _identity(row)
    if process is not None and rows.find(
        HOSTS, boot=process.boot, namespace=process.namespace, pid=process.pid, start=process.start
    ):
        # It was carried out in the holder's own process, which may live on: only its programs are to end.
        process = None
    registered = tuple(_identity(each) for each in named if each.worker == worker)
    return Leftover(run_id=run_id, worker=worker, process=process, registered=registered)


def _identity(row: WorkerRow | ProcessRow) -> ProcessIdentity:
    return ProcessIdentity(boot=row.boot, namespace=row.namespace, pid=row.pid, start=row.start)


def _record(transitions: Transitions, ends: dict[str, HostCommand]) -> dict[str, HostCommand]:
    """Hand all ends in together, so that they share commits; answer those that were not taken."""
    answers = [(run_id, end, transitions.host(end)) for run_id, end in ends.items()]
    again: dict[str, HostCommand] = {}
    for run_id, end, answer in answers:
        try:
            answer.result()
        except StoreError as error:
            _log.warning("run %s: recovery was put off: %s", run_id, error.code)
            again[run_id] = end
    return again


def _worker(row: QueueRow, epoch: str) -> str | None:
    """The worker that a claim of an earlier epoch belongs to."""
    if row.owner is None:
        return None
    host, _, worker = row.owner.partition(":")
    return None if host == epoch else worker
