"""Erasing private values: which ones, the commit that erases them, and the scrub that removes the bytes."""

from collections.abc import Callable, Collection, Sequence

from attrs import frozen
from sqlalchemy import func, select

from runwright.eventstore.envelope import ANY
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.log import LogRedacted, LogScrubbed
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.table import events, is_erasure
from runwright.eventstore.transaction import Tx
from runwright.eventstore.transfer.text import read_text

_LOG = "log"
_RUN = "run/"


@frozen(kw_only=True)
class ErasurePlan:
    """What an erasure takes, worked out before its transaction; `erase` looks only at what came after.

    Attributes:
        streams: The streams of the runs.
        positions: Where their private values stand.
        seen: The head at that moment.
    """

    streams: frozenset[str]
    positions: tuple[int, ...]
    seen: int


@frozen(kw_only=True)
class OpenScrub:
    """An erasure whose bytes may still stand in a file of the store.

    Attributes:
        run: The root whose tree was redacted, or the run whose input was erased.
        position: The position of the event that recorded the erasure.
        events: How many events lost their private values.
    """

    run: str
    position: int
    events: int


def plan(reader: LogReader, runs: Collection[str]) -> ErasurePlan:
    """Find the private values of some runs.

    Args:
        reader: The log.
        runs: The run IDs: a root and all its continuations and restarts, or one run.
    """
    seen = reader.head().position
    streams = frozenset(f"{_RUN}{run}" for run in runs)
    found: list[int] = []
    for stream in sorted(streams):
        held = select(events.c.position).where(
            events.c.stream == stream, events.c.body.is_not(None), events.c.position <= seen
        )
        found.extend(position for (position,) in reader.rows(held))
    return ErasurePlan(streams=streams, positions=tuple(sorted(found)), seen=seen)


def erase(tx: Tx, planned: ErasurePlan) -> int:
    """Erase the planned values with this commit, and those that the runs got since the plan was made.

    The event that records the erasure (``log.redacted``, ``run.input_erased``) has to be appended in the
    same transaction, or the log does not verify.

    Returns:
        How many events lose their private values.
    """
    positions = list(planned.positions)
    at = planned.seen
    while (event := tx.event(at := at + 1)) is not None:
        if event.stream in planned.streams and event.body is not None:
            positions.append(at)
    tx.erase(positions)
    return len(positions)


def redact(tx: Tx, planned: ErasurePlan, *, root: str, by: str, reason: str, actor: str, command: str | None) -> int:
    """Erase a run tree and record it; whether the tree may be erased is for the caller to decide.

    Args:
        tx: The transaction.
        planned: The plan over every run of the tree.
        root: The tree's root.
        by: Who asked.
        reason: Why; kept as a private value of the ``log`` stream, which is never erased.
        actor: The actor of the event.
        command: The key of the command.

    Returns:
        How many events lose their private values.
    """
    count = erase(tx, planned)
    redacted = LogRedacted(run=root, events=count, by=by, reason=Content.text(reason))
    tx.append(_LOG, ANY, [redacted], actor=actor, command=command)
    return count


def open_scrubs(reader: LogReader) -> tuple[OpenScrub, ...]:
    """Find the erasures that no ``log.scrubbed`` has closed; reads the index of erasures, not the log."""
    found: dict[str, OpenScrub] = {}
    recorded = select(events.c.position, events.c.stream, events.c.type, events.c.data)
    for position, stream, kind, data in reader.rows(recorded.where(is_erasure).order_by(events.c.position)):
        run = stream.removeprefix(_RUN) if stream != _LOG else _field(data, "run")
        if not isinstance(run, str):
            continue
        if kind == LogScrubbed.type:
            found.pop(run, None)
            continue
        count = _field(data, "events") if kind == LogRedacted.type else _erased(reader, stream)
        found[run] = OpenScrub(run=run, position=position, events=count if isinstance(count, int) else 0)
    return tuple(found.values())


def redacted(reader: LogReader) -> frozenset[str]:
    """Name the roots whose trees were redacted; reads the index of erasures, not the log."""
    recorded = select(events.c.data).where(is_erasure, events.c.type == LogRedacted.type)
    return frozenset(str(_field(data, "run")) for (data,) in reader.rows(recorded))


def try_scrub(
    log: EventLog, *, by: str, actor: str, before: Callable[[OpenScrub], None] | None = None
) -> tuple[OpenScrub, ...]:
    """Try to remove the bytes of everything erased, and record it where that went through.

    An erasure leaves zeroes in the pages it wrote, but the old pages stay in the WAL until a truncating
    checkpoint, which an open reader delays. Call it after an erasure, when idle, and at start.

    Args:
        log: The held log.
        by: Who the event names.
        actor: The actor of the event.
        before: Called for each open scrub before it is closed, to remove what stands beside the store; it
            may be called again for the same one.

    Returns:
        The scrubs that are still open: none, or all that were.
    """
    pending = open_scrubs(log)
    if not pending:
        return ()
    for each in pending:
        if before is not None:
            before(each)
    if not log.checkpoint(truncate=True):
        return pending
    closed = [LogScrubbed(run=each.run, events=each.events, by=by) for each in pending]

    def record(tx: Tx) -> None:
        tx.append(_LOG, ANY, closed, actor=actor)

    log.transact(record).result()
    return ()


def _erased(reader: LogReader, stream: str) -> int:
    count = select(func.count()).where(events.c.stream == stream, events.c.digest.is_not(None), events.c.body.is_(None))
    rows: Sequence[tuple[int]] = reader.rows(count)
    return rows[0][0]


def _field(data: str, name: str) -> object:
    content = read_text(data)
    return content.get(name) if isinstance(content, dict) else None
