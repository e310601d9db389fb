"""What a verification answers: the faults it found, the first bad position first."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from attrs import frozen

from runwright.eventstore.envelope import Head
from runwright.eventstore.transfer.errors import HeadUnreadable

#: Everything that a verification can find wrong; closed.
Problem: TypeAlias = Literal[
    "store_cut",
    "page_corrupt",
    "event_changed",
    "event_missing",
    "events_reordered",
    "tail_missing",
    "body_changed",
    "body_missing",
    "not_canonical",
    "head_changed",
    "no_export",
    "head_differs",
    "row_differs",
]

#: What each of them says, for the reference.
PROBLEMS: Final[Mapping[Problem, str]] = MappingProxyType(
    {
        "store_cut": "The file is shorter than its own header says.",
        "page_corrupt": "SQLite itself finds the file damaged.",
        "event_changed": "An event is not the one that the chain recorded.",
        "event_missing": "An event is gone from the middle.",
        "events_reordered": "An event stands at another place than it was recorded at.",
        "tail_missing": "The last events are gone.",
        "body_changed": "A private value is not the one that was recorded.",
        "body_missing": "A private value is gone and no erasure is recorded.",
        "not_canonical": "A line of an export is not its own canonical form.",
        "head_changed": "The head line of an export, or the head row of a store, is not what the chain says.",
        "no_export": "The file is something else than a native export of Runwright.",
        "head_differs": "The log is whole in itself and not the one that the kept head belongs to.",
        "row_differs": "A table says what does not follow from the events, or was itself changed.",
    }
)

_HEAD = re.compile(r"([1-9][0-9]{0,18}):([0-9a-f]{64})")

#: The position that names the head line of an export, which stands before the first event.
HEAD_LINE: Final = 0


@frozen
class Fault:
    """One thing that is wrong.

    Attributes:
        problem: What is wrong, one of the closed list.
        position: The first bad position; 0 is the head line of an export; ``None`` where the damage
            cannot be pinned to an event.
        detail: One sentence; never a private value.
    """

    problem: Problem
    position: int | None
    detail: str


@frozen(kw_only=True)
class Verdict:
    """The answer of a verification.

    Attributes:
        faults: What is wrong, the first bad position first; empty when everything holds.
        events: How many events were found whole before the first fault.
        log_id: The log's ID as far as it could be read.
        head: The last event that was found whole, or ``None``.
        complete: Whether this is the whole log and not a part of it.
        values: Whether private values were there to be checked.
    """

    faults: tuple[Fault, ...] = ()
    events: int = 0
    log_id: str | None = None
    head: Head | None = None
    complete: bool = True
    values: bool = False

    @property
    def ok(self) -> bool:
        """Say whether everything holds."""
        return not self.faults

    @property
    def position(self) -> int | None:
        """Name the first bad position, as `Fault.position` does."""
        return self.faults[0].position if self.faults else None

    @property
    def problem(self) -> Problem | None:
        """Name what is wrong there."""
        return self.faults[0].problem if self.faults else None

    @property
    def detail(self) -> str:
        """Say in one sentence what is wrong there."""
        return self.faults[0].detail if self.faults else ""


def parse_head(text: str) -> Head:
    """Read a head that somebody kept, as ``log head`` prints it.

    Args:
        text: ``POSITION:HASH``, the hash in 64 lower-case hex digits.

    Raises:
        HeadUnreadable: The text has another form.
    """
    match = _HEAD.fullmatch(text.strip())
    if match is None:
        raise HeadUnreadable
    return Head(position=int(match[1]), hash=bytes.fromhex(match[2]))


def format_head(head: Head) -> str:
    """Write a head the way `parse_head` reads it."""
    return f"{head.position}:{head.hash.hex()}"
