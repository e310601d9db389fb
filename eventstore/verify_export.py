"""Verification of a native export, offline: every byte of the file is part of what holds or does not."""

from collections.abc import Callable, Generator, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from attrs import define, field

from runwright.eventstore.chain import genesis
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.erased import ErasureLedger
from runwright.eventstore.home import SQLITE_MAGIC
from runwright.eventstore.transfer.errors import ExportDamaged, ExportUnreadable, NoExport
from runwright.eventstore.transfer.jsonl import (
    HEAD_BEGINNINGS,
    LINE_BYTES_MAX,
    ExportHead,
    ExportLine,
    LineRefused,
    read_event,
    read_head,
)
from runwright.eventstore.verdict import HEAD_LINE, Fault, Verdict
from runwright.eventstore.verify_part import PartWalk
from runwright.eventstore.walk import ChainWalk, body_fault, log_begun_by, tail_fault

#: Called with the position reached and the last one of the file.
Progress = Callable[[int, int], None]

#: How many lines behind a bad head line are looked at for an event, before the file is taken for no export.
_LOOKED_AT: Final = 100

_NO_EXPORT: Final = "It is no native export of Runwright."
_DATABASE: Final = (
    "It is a database, and no export; a backup is read as log.sqlite in a folder of its own, named with --home."
)

#: Hands on the events that hold and returns the fault that ends them.
_Reading: TypeAlias = Generator[RecordedEvent, None, Fault | None]


def verify_export(source: Path, *, head: Head | None = None, progress: Progress | None = None) -> Verdict:
    """Check every byte of a native export against the chain; needs no store.

    A whole export has to follow from the log's ID to its last line. In a part of a log every event has to
    follow from the hash that stands beside it, and no event of the part may be missing.

    Args:
        source: The file.
        head: A head that was kept elsewhere and that the log has to contain.
        progress: Called now and then with the position reached and the last one.

    Returns:
        The verdict: the first bad position and what is wrong there.

    Raises:
        ExportUnreadable: The file cannot be read at all.
    """
    reading = ExportReading(source, head=head, progress=progress)
    for _ in reading.events():
        pass
    return reading.verdict


def read_export(source: Path) -> Iterator[RecordedEvent]:
    """Answer the events of an export, each verified before it is handed on.

    Raises:
        ExportDamaged: At the first event that does not hold.
        NoExport: The file is something else.
        ExportUnreadable: The file cannot be read at all.
    """
    reading = ExportReading(source)
    yield from reading.events()
    if not reading.verdict.ok:
        raise damaged(source, reading.verdict)


def damaged(source: Path, verdict: Verdict) -> ExportDamaged | NoExport:
    """Make the error that a failed verdict over an export stands for."""
    if verdict.problem == "no_export":
        return NoExport(source, verdict.detail)
    return ExportDamaged(source, verdict.position, str(verdict.problem), verdict.detail)


@define
class ExportReading:
    """One pass over an export; `events` stops at the first fault, and `verdict` then says which.

    Attributes:
        source: The file.
        head: A head that was kept elsewhere.
        progress: Called now and then with the position reached and the last one.
        verdict: The answer, once `events` is exhausted.
        opening: The head line, as soon as the first event was handed on.
    """

    source: Path
    head: Head | None = None
    progress: Progress | None = None
    verdict: Verdict = field(factory=Verdict, init=False)
    opening: ExportHead | None = field(default=None, init=False)
    _ledger: ErasureLedger = field(factory=ErasureLedger, init=False)
    _last: RecordedEvent | None = field(default=None, init=False)
    _events: int = field(default=0, init=False)

    def events(self) -> Iterator[RecordedEvent]:
        """Hand on each event once it holds; the file is read line by line.

        Raises:
            ExportUnreadable: The file cannot be read at all.
        """
        try:
            with self.source.open("rb") as file:
                fault = yield from self._read(_lines(file))
        except OSError as error:
            raise ExportUnreadable(self.source, error.strerror or "it cannot be read") from None
        self._conclude(fault)

    def _read(self, lines: Iterator[bytes]) -> _Reading:
        first = next(lines, b"")
        opening = _opening(first)
        if isinstance(opening, Fault):
            if not (_begins_export(first) or any(map(_is_event, islice(lines, _LOOKED_AT)))):
                return Fault("no_export", None, _DATABASE if first.startswith(SQLITE_MAGIC) else _NO_EXPORT)
            return opening
        self.opening = opening
        if opening.complete:
            return (yield from self._whole(opening, lines))
        return (yield from self._part(opening, lines))

    def _whole(self, opening: ExportHead, lines: Iterator[bytes]) -> _Reading:
        walk = ChainWalk(opening.previous)
        for raw in lines:
            line = _event_line(raw, walk.expected, complete=True)
            if isinstance(line, Fault):
                return line
            if not walk.fits(line.event):
                return walk.diagnose(line.event, _rest(lines))
            fault = self._held(line.event)
            if fault is not None:
                return fault
            yield line.event
        return self._whole_end(opening)

    def _part(self, opening: ExportHead, lines: Iterator[bytes]) -> _Reading:
        walk = PartWalk(opening)
        for raw in lines:
            line = _event_line(raw, walk.next_guess, complete=False)
            if isinstance(line, Fault):
                return line
            fault = walk.step(line.event, line.previous or b"") or self._held(line.event)
            if fault is not None:
                return fault
            yield line.event
        return walk.end() or self._kept_end(covered=False)

    def _held(self, event: RecordedEvent) -> Fault | None:
        """Check what the chain leaves open: whose log it begins, private values, a kept head."""
        fault = self._begun(event) or body_fault(event)
        if fault is not None:
            return fault
        kept = self.head
        if kept is not None and event.position == kept.position and event.hash != kept.hash:
            detail = f"Event {event.position} is not the one that the kept head was taken from."
            return Fault("head_differs", event.position, detail)
        self._ledger.saw(event)
        self._last = event
        self._events += 1
        if self.progress is not None and self.opening is not None and self._events % 1000 == 0:
            self.progress(event.position, self.opening.last)
        return None

    def _begun(self, event: RecordedEvent) -> Fault | None:
        """Check that the first event begins the log of the head line: without it, no store could be read."""
        if event.position != 1 or self.opening is None or log_begun_by(event) == self.opening.log_id:
            return None
        return Fault("event_changed", 1, "Event 1 is not the one that this log begins with.")

    def _whole_end(self, opening: ExportHead) -> Fault | None:
        found = 0 if self._last is None else self._last.position
        fault = tail_fault(self._at, Head(position=opening.last, hash=b""), "the head line's last event")
        if fault is None and found != opening.last:
            detail = f"The head line says that event {opening.last} is the last, and events up to {found} follow."
            fault = Fault("head_changed", HEAD_LINE, detail)
        missing = self._ledger.unexplained() if self._ledger.values else None
        if fault is None and missing is not None:
            detail = f"The private values of event {missing} are gone, and no erasure is recorded."
            fault = Fault("body_missing", missing, detail)
        return fault or self._kept_end(covered=True)

    def _kept_end(self, *, covered: bool) -> Fault | None:
        """Check that the kept head was met; a part of a log that does not reach it cannot vouch for it."""
        if self.head is None:
            return None
        if covered:
            return tail_fault(self._at, self.head, "the kept head")
        if self._last is not None and self._last.position == self.head.position:
            return None
        detail = f"This part of the log does not end at position {self.head.position}: compare a whole export."
        return Fault("head_differs", self.head.position, detail)

    def _conclude(self, fault: Fault | None) -> None:
        opening = self.opening
        if self.progress is not None and opening is not None and fault is None:
            self.progress(opening.last, opening.last)
        self.verdict = Verdict(
            faults=() if fault is None else (fault,),
            events=self._events,
            log_id=None if opening is None else opening.log_id,
            head=self._at,
            complete=opening is None or opening.complete,
            values=self._ledger.values,
        )

    @property
    def unexplained(self) -> int | None:
        """The first event whose private values are not in the file although no erasure is recorded."""
        return self._ledger.unexplained()

    @property
    def _at(self) -> Head | None:
        return None if self._last is None else Head(position=self._last.position, hash=self._last.hash)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Answer the lines with their ends; one that never ends is cut at the bound and so refused."""
    while line := file.readline(LINE_BYTES_MAX):
        yield line


def _opening(raw: bytes) -> ExportHead | Fault:
    if not raw:
        return Fault("tail_missing", HEAD_LINE, "The file is empty.")
    if not raw.endswith(b"\n"):
        return Fault("tail_missing", HEAD_LINE, "The file ends within its head line.")
    try:
        opening = read_head(raw[:-1])
    except LineRefused as refusal:
        return Fault("head_changed", HEAD_LINE, f"The head line was changed: {refusal}.")
    if opening.first < 1 or opening.last < opening.first:
        return Fault("head_changed", HEAD_LINE, "The head line's first and last positions contradict each other.")
    if opening.complete and opening.first != 1:
        return Fault("head_changed", HEAD_LINE, "A whole log begins at position 1, and the head line says otherwise.")
    if opening.first == 1 and opening.previous != genesis(opening.log_id):
        return Fault("head_changed", HEAD_LINE, "The head line's hash does not belong to its log ID.")
    return opening


def _begins_export(raw: bytes) -> bool:
    """Say whether a first line, or what is left of it, begins as that of an export does."""
    return any(raw.startswith(each) or each.startswith(raw) for each in HEAD_BEGINNINGS)


def _is_event(raw: bytes) -> bool:
    """Say whether a line is an event's, of a whole export or of a part."""
    return any(isinstance(_event_line(raw, 0, complete=each), ExportLine) for each in (True, False))


def _event_line(raw: bytes, place: int, *, complete: bool) -> ExportLine | Fault:
    if not raw.endswith(b"\n"):
        return Fault("tail_missing", place, f"The file ends within the line of event {place}.")
    try:
        return read_event(raw[:-1], complete=complete)
    except LineRefused as refusal:
        return Fault("not_canonical", place, f"The line of event {place} was changed: {refusal}.")


def _rest(lines: Iterator[bytes]) -> Iterator[RecordedEvent]:
    """Answer what can still be read after a fault, to tell moved events from missing ones."""
    for raw in lines:
        line = _event_line(raw, 0, complete=True)
        if isinstance(line, ExportLine):
            yield line.event
