"""Replay: the exact rows as of any position, folded in memory from a log or an export."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from runwright.eventstore.codec import decode_event
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.reader import LogReader
from runwright.eventstore.transfer.errors import ExportDamaged, ExportUnreadable
from runwright.eventstore.transfer.jsonl import LineRefused, read_event, read_head
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.processes import PROCESSES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from runwright.projections.control.workers import WORKERS
from runwright.projections.errors import PositionUnknown, RunUnbegun, RunUnknown
from runwright.projections.projection import Projection
from runwright.projections.rows import MemoryRows, Rows
from runwright.projections.shown import shown

#: The projections that follow from a run's own stream alone.
OF_RUN: tuple[Projection[Any], ...] = (
    RUNS,
    QUEUE,
    RESERVATIONS,
    VISITS,
    MOUNTS,
    EFFECTS,
    REQUESTS,
    MESSAGES,
    TURNS,
    TIMERS,
    WORKERS,
    PROCESSES,
    TERMINAL,
)


def replay(
    events: Iterable[RecordedEvent],
    at: int | None = None,
    *,
    projections: Iterable[Projection[Any]] = CONTROL,
    remember: bool = False,
) -> MemoryRows:
    """Fold events in memory.

    Args:
        events: The events in order: a whole log, or with ``projections=OF_RUN`` one run's stream.
        at: The last position to fold; ``None`` for all.
        projections: What to fold.
        remember: Whether to remember which event touched each row last.

    Returns:
        The rows as of then; their ``position`` is that of the last event that was folded.

    Raises:
        ImpossibleEvent: An event does not fit the rows before it.
        EventUnreadable: An event does not fit its type.
    """
    rows = MemoryRows(projections, remember=remember)
    with _uncollected():
        for recorded in events:
            if at is not None and recorded.position > at:
                break
            rows.apply(_facts(recorded))
    return rows


def replay_log(reader: LogReader, at: int | None = None, *, remember: bool = False) -> MemoryRows:
    """Fold a whole log from its control facts; private values are never read.

    Raises:
        PositionUnknown: The log does not reach so far.
        ImpossibleEvent: An event does not fit the rows before it.
    """
    last = _within(at, reader)
    rows = MemoryRows(CONTROL, remember=remember)
    with _uncollected():
        for batch in reader.facts(upto=last):
            rows.apply_all(batch)
    return rows


def replay_run(reader: LogReader, run_id: str, at: int | None = None) -> MemoryRows:
    """Fold one run's part of a log.

    Raises:
        PositionUnknown: The log does not reach so far.
        RunUnknown: There is no such run, or not yet at that position (`RunUnbegun`).
    """
    _within(at, reader)
    return _of_run(iter(reader.read(f"run/{run_id}")), run_id, at)


def replay_run_of(events: Iterable[RecordedEvent], run_id: str, at: int | None = None) -> MemoryRows:
    """Fold one run's part of events from elsewhere, an export for one.

    Raises:
        RunUnknown: The run is not among them, or not yet at that position (`RunUnbegun`).
    """
    stream = f"run/{run_id}"
    return _of_run((each for each in events if each.stream == stream), run_id, at)


def read_export(path: Path) -> Iterator[RecordedEvent]:
    """Read the events of a native export, whole or in part; it is not verified beyond the form of its lines.

    Raises:
        ExportUnreadable: The file cannot be read.
        ExportDamaged: A line is not what an export holds.
    """
    last: int | None = None
    try:
        with path.open("rb") as lines:
            complete = read_head(next(lines, b"").removesuffix(b"\n")).complete
            for line in lines:
                recorded = read_event(line.removesuffix(b"\n"), complete=complete).event
                last = recorded.position
                yield recorded
    except OSError as error:
        raise ExportUnreadable(path, error.strerror or "the system refused") from None
    except LineRefused as refused:
        raise ExportDamaged(path, 1 if last is None else last + 1, "event_changed", f"{refused}.") from None


def rows_of_run(rows: Rows, run_id: str) -> dict[str, Json]:
    """Answer all control rows of one run, as `query` prints them: projection to a list of rows."""
    found: dict[str, Json] = {}
    for projection in OF_RUN:
        printed: list[Json] = [shown(projection, row) for row in rows.find(projection, run_id=run_id)]
        found[projection.name] = printed
    return found


def replay_document(rows: MemoryRows, run_id: str, position: int) -> JsonObject:
    """Answer what `replay --json` prints."""
    return {"run_id": run_id, "position": position, "rows": rows_of_run(rows, run_id)}


def _of_run(own: Iterator[RecordedEvent], run_id: str, at: int | None) -> MemoryRows:
    first = next(own, None)
    if first is None:
        raise RunUnknown(run_id)
    if at is not None and at < first.position:
        raise RunUnbegun(run_id, first.position, at)
    return replay(chain((first,), own), at, projections=OF_RUN)


def _within(at: int | None, reader: LogReader) -> int:
    last = reader.head().position
    if at is not None and not 1 <= at <= last:
        raise PositionUnknown(at, last)
    return last if at is None else at


def _facts(recorded: RecordedEvent) -> RecordedEvent:
    """Decode the control facts alone of an event that still has its private values as text."""
    if recorded.body is None:
        return recorded
    return RecordedEvent(
        recorded.position,
        recorded.stream,
        recorded.version,
        recorded.type,
        recorded.at,
        recorded.actor,
        recorded.generation,
        recorded.command,
        recorded.data,
        recorded.digest,
        recorded.hash,
        None,
        None,
        False,
        decode_event(recorded.type, recorded.data, None, recorded.position),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from walking over all rows again and again; a fold makes no cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
