"""What a new holder does about the workers of the last one (page 05, "Recovery and progress")."""

import logging
import time

from runwright.engine.commands.host import RecordExit
from runwright.engine.embedded.leftovers import end_leftovers
from runwright.engine.transitions.store import Transitions
from runwright.eventstore.errors import StoreError
from runwright.eventstore.log import LogReader
from runwright.projections.control.queue import QUEUE, QueueRow
from runwright.projections.control.workers import WORKERS
from runwright.projections.sql_rows import SqlRows

_log = logging.getLogger("runwright.engine")

#: A store hiccup during recovery strands no run: each step is tried so often, with this pause (seconds).
TRIES = 5
PAUSE = 0.2


def recover(log: LogReader, transitions: Transitions, epoch: str) -> frozenset[str]:
    """Record the end of every worker of an earlier epoch; repeating it adds nothing.

    Args:
        log: The log.
        transitions: The way to change anything.
        epoch: The present epoch, whose own workers are left alone.

    Returns:
        The runs whose worker's end could not be recorded.
    """
    with log.snapshot() as snapshot:
        rows = SqlRows(snapshot.connection)
        claimed = [row for state in ("starting", "running") for row in rows.find(QUEUE, state=state)]
        left = {row.run_id: worker for row in claimed if (worker := _worker(row, epoch)) is not None}
        # A run that had ended or parked before its worker did has no claim any more, and still an open worker.
        for state in ("launched", "ready"):
            for row in rows.find(WORKERS, state=state):
                left.setdefault(row.run_id, row.worker)
    unkillable = end_leftovers(left)
    for run_id in unkillable:
        _log.error("run %s: a program of its last worker cannot be ended; the run stays as it is", run_id)
        del left[run_id]
    for attempt in range(TRIES):
        if not left:
            break
        if attempt:
            time.sleep(PAUSE)
        left = _record(transitions, left)
    return frozenset(left) | unkillable


def _record(transitions: Transitions, left: dict[str, str]) -> dict[str, str]:
    """Hand all ends in together, so that they share commits; answer those that were not taken."""
    answers = [
        (run_id, worker, transitions.host(RecordExit(run_id=run_id, worker=worker, outcome="orphaned")))
        for run_id, worker in left.items()
    ]
    again: dict[str, str] = {}
    for run_id, worker, answer in answers:
        try:
            answer.result()
        except StoreError as error:
            _log.warning("run %s: recovery was put off: %s", run_id, error.code)
            again[run_id] = worker
    return again


def _worker(row: QueueRow, epoch: str) -> str | None:
    """The worker that a claim of an earlier epoch belongs to."""
    if row.owner is None:
        return None
    host, _, worker = row.owner.partition(":")
    return None if host == epoch else worker
