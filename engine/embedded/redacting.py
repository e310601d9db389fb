"""Erasing the private values of an ended run tree, in the log and beside it (page 02, "Erasing private values")."""

import shutil
from typing import cast

from attrs import frozen

from runwright.engine.errors import ConflictError
from runwright.engine.reading.moment import moment_of
from runwright.engine.reading.reader import Reader
from runwright.engine.results import Conflict
from runwright.eventstore.erasure import OpenScrub, plan, redact, try_scrub
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.transaction import Tx
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.rows import Rows


@frozen(kw_only=True)
class Redaction:
    """What a redaction erases, or would.

    Attributes:
        root: The root of the run tree.
        runs: Every run of it.
        events: How many events lose their private values.
        pending: Whether bytes may still stand in a file of the store, because a reader is in the way.
    """

    root: str
    runs: tuple[str, ...]
    events: int
    pending: bool = False


def plan_redaction(reader: Reader, run_id: str) -> Redaction:
    """Say what redacting a run's tree would erase; nothing is changed.

    Raises:
        NotFound: There is no such run.
        ConflictError: A run of the tree is still live.
    """
    root, runs = _tree(reader.log, run_id)
    return Redaction(root=root, runs=runs, events=len(plan(reader.log, runs).positions))


def redact_tree(log: EventLog, run_id: str, *, reason: str, by: str, actor: str) -> Redaction:
    """Erase the private values of a run's whole tree, its captured output and its scratch folders.

    Args:
        log: The log, held by this process.
        run_id: Any run of the tree.
        reason: Why; it stays in the log.
        by: Who asked.
        actor: The actor of the event.

    Raises:
        NotFound: There is no such run.
        ConflictError: A run of the tree is still live; nothing was erased.
    """
    root, runs = _tree(log, run_id)
    planned = plan(log, runs)

    def unit(tx: Tx) -> int:
        # Asked again inside the transaction: somebody may have begun another run of the tree meanwhile.
        _refuse_live(cast(Rows, tx.control).find(RUNS, root=root))
        return redact(tx, planned, root=root, by=by, reason=reason, actor=actor, command=None)

    events = log.transact(unit).result()
    return Redaction(root=root, runs=runs, events=events, pending=bool(scrub(log, by=by, actor=actor)))


def scrub(log: EventLog, *, by: str, actor: str) -> tuple[OpenScrub, ...]:
    """Remove the bytes of everything erased, as far as no reader is in the way; answer what is still open."""

    def beside(each: OpenScrub) -> None:
        with moment_of(log) as moment:
            tree = moment.rows.find(RUNS, root=each.run)
        for run_id in {each.run, *(row.run_id for row in tree)}:
            shutil.rmtree(log.home.run_folder(run_id), ignore_errors=True)

    return try_scrub(log, by=by, actor=actor, before=beside)


def _tree(log: LogReader, run_id: str) -> tuple[str, tuple[str, ...]]:
    with moment_of(log) as moment:
        root = moment.run(run_id).root
        rows = moment.rows.find(RUNS, root=root)
    _refuse_live(rows)
    return root, tuple(each.run_id for each in rows)


def _refuse_live(rows: list[RunRow]) -> None:
    for row in rows:
        if row.finished_at is None:
            raise ConflictError(Conflict("still_live", {"run": row.run_id}))
