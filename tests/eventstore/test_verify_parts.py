"""A part of a history verifies by itself, and vouches for no more than it holds."""

from pathlib import Path

import pytest

from runwright.eventstore.envelope import Head
from support.chained import native_part
from support.verified_exports import EVENTS, check

#: A stream's positions in the small log, and a range of it.
RUN_A = [2, 4, 6, 8, 10]
RANGE = [3, 4, 5, 6, 7]


@pytest.mark.parametrize("chosen", [RUN_A, RANGE, [1, 2, 3], sorted({*RUN_A, *RANGE, 9, 11})])
def test_a_part_verifies_by_itself(tmp_path: Path, chosen: list[int]) -> None:
    """A run, a range and several runs hold without the events between them."""
    verdict = check(tmp_path, native_part(EVENTS, chosen))
    assert verdict.ok, verdict
    assert not verdict.complete
    assert verdict.events == len(chosen)


@pytest.mark.parametrize("chosen", [RUN_A, RANGE, [1, 2, 3]])
def test_no_byte_of_a_part_can_be_changed(tmp_path: Path, chosen: list[int]) -> None:
    """All but the log ID in the head line, which only a part that begins with the log can prove."""
    whole = b"".join(native_part(EVENTS, chosen))
    free = range(whole.index(b'"log_id"'), whole.index(b'"previous"')) if chosen[0] > 1 else range(0)
    for offset in range(len(whole)):
        changed = whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :]
        assert offset in free or not check(tmp_path, [changed]).ok, offset


@pytest.mark.parametrize("chosen", [RUN_A, RANGE])
def test_a_part_misses_no_line(tmp_path: Path, chosen: list[int]) -> None:
    """Lines dropped from a run or a range, or swapped in it, are found."""
    lines = native_part(EVENTS, chosen)
    for index in range(1, len(lines)):
        dropped = check(tmp_path, lines[:index] + lines[index + 1 :])
        assert dropped.problem == ("tail_missing" if index == len(lines) - 1 else "event_missing"), index
    for index in range(1, len(lines) - 1):
        swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
        assert not check(tmp_path, swapped).ok


def test_a_part_cannot_vouch_for_a_head_it_does_not_reach(tmp_path: Path) -> None:
    """Asked for a head, a part says so where it does not end there."""
    lines = native_part(EVENTS, RANGE)
    assert check(tmp_path, lines, head=Head(7, EVENTS[6].hash)).ok
    assert check(tmp_path, lines, head=Head(7, bytes(32))).problem == "head_differs"
    assert check(tmp_path, lines, head=Head(9, EVENTS[8].hash)).problem == "head_differs"
