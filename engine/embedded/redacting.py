"""Erasing the private values of ended run trees, in the log and beside it (page 02, "Erasing private values")."""

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias, cast

from attrs import evolve, frozen

from runwright.engine.errors import ConflictError
from runwright.engine.reading.moment import moment_of
from runwright.engine.reading.reader import Reader
from runwright.engine.results import Conflict
from runwright.engine.transitions.erasing import say_no_more
from runwright.eventstore.erasure import OpenScrub, plan, redact, redacted, try_scrub
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.transaction import Tx
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.rows import Rows

_log = logging.getLogger("runwright.engine")

#: Answers how many seconds after its end a run of a project loses its private values; ``None`` for never.
Ages: TypeAlias = Callable[[Path | None], float | None]

#: What the log says of a tree that was redacted because of its age.
_AGED: Final = "older than redact_after"


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
    done = _erase(log, run_id, reason=reason, by=by, actor=actor)
    return evolve(done, pending=bool(scrub(log, by=by, actor=actor)))


def plan_aged(log: LogReader, ages: Ages, now: int) -> tuple[Redaction, ...]:
    """Say which trees are old enough to lose their private values now, the oldest first; nothing is changed.

    A tree is taken whole or not at all. It stays while one of its runs lives, while nobody knows what became of one of
    its effects, and while something of it still has to reach its session.

    Args:
        log: The log.
        ages: How old the runs of each project may become.
        now: UTC in microseconds.
    """
    found: list[Redaction] = []
    for root in _aged(log, ages, now):
        with suppress(ConflictError):  # somebody restarted it this very moment
            found.append(plan_redaction(Reader(log), root))
    return tuple(found)


def redact_aged(
    log: EventLog, ages: Ages, now: int, *, by: str, actor: str, stopped: Callable[[], bool] = lambda: False
) -> int:
    """Erase the private values of each tree that `plan_aged` names, one commit for each; their bytes go with a scrub.

    Args:
        log: The log, held by this process.
        ages: How old the runs of each project may become.
        now: UTC in microseconds.
        by: Who the events name.
        actor: The actor of the events.
        stopped: Whether to leave the rest for another time.

    Returns:
        How many trees were redacted.
    """
    count = 0
    for root in _aged(log, ages, now):
        if stopped():
            break
        try:
            _erase(log, root, reason=_AGED, by=by, actor=actor, spare=True)
        except ConflictError as conflict:
            _log.info("run %s keeps its values for now: %s", root, conflict.code)
            continue
        count += 1
    return count


def _aged(log: LogReader, ages: Ages, now: int) -> Iterator[str]:
    """The roots of the trees that are old enough and that nothing keeps."""
    age_of, gone = cache(ages), redacted(log)
    with moment_of(log) as moment:
        trees = moment.ended_trees()
    for tree in trees:
        age = None if tree.root in gone else age_of(None if tree.project is None else Path(tree.project))
        if age is None or tree.ended_at + age * 1_000_000 > now:
            continue
        with moment_of(log) as moment:
            kept = _kept(moment.rows, moment.rows.find(RUNS, root=tree.root))
        if not kept:
            yield tree.root


def _erase(log: EventLog, run_id: str, *, reason: str, by: str, actor: str, spare: bool = False) -> Redaction:
    """Erase a tree in one commit; with ``spare`` only if nothing keeps it."""
    root, runs = _tree(log, run_id)
    planned = plan(log, runs)

    def unit(tx: Tx) -> int:
        # Asked again inside the transaction: somebody may have begun another run of the tree meanwhile.
        rows = cast(Rows, tx.control)
        tree = rows.find(RUNS, root=root)
        _refuse_live(tree)
        if spare and _kept(rows, tree):
            raise ConflictError(Conflict("revision_changed", {"run": root}))
        count = redact(tx, planned, root=root, by=by, reason=reason, actor=actor, command=None)
        say_no_more(tx, tree, actor=actor)
        return count

    return Redaction(root=root, runs=runs, events=log.transact(unit).result())


def _kept(rows: Rows, runs: Iterable[RunRow]) -> bool:
    """Whether somebody still needs a tree's values: who has to find out about an effect, or is still to be told."""
    for row in runs:
        if row.finished_at is None or rows.find(EFFECTS, run_id=row.run_id, state="ambiguous"):
            return True
        end = rows.get(TERMINAL, row.run_id)
        if end is not None and end.presentation in ("pending", "failed"):
            return True
        if rows.find(MESSAGES, run_id=row.run_id, state="pending"):
            return True
    return False


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
