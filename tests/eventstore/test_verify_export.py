"""Whatever is changed in an export is found and named, and what nobody changed verifies."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore.chain import genesis
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.events.log import LogRedacted
from runwright.eventstore.events.run import RunInputErased
from runwright.eventstore.transfer.errors import ExportDamaged, HeadUnreadable
from runwright.eventstore.transfer.jsonl import ExportHead, write_event, write_head
from runwright.eventstore.verdict import format_head, parse_head
from runwright.eventstore.verify_export import read_export, verify_export
from support.chained import LOG_ID, chained, erased, log_created, native, rechained, run_events
from support.standalone import first_bad_position
from support.verified_exports import EVENTS, LAST, WHOLE, check


@pytest.mark.parametrize("with_values", [True, False])
def test_an_export_that_nobody_changed_verifies(tmp_path: Path, with_values: bool) -> None:
    """With and without values, the verdict names the head that the log has."""
    verdict = check(tmp_path, native(EVENTS, with_values=with_values))
    assert verdict.ok
    assert (verdict.events, verdict.log_id, verdict.complete) == (LAST, LOG_ID, True)
    assert verdict.head == Head(LAST, EVENTS[-1].hash)
    assert verdict.values is with_values


def line_of(whole: bytes, offset: int) -> int:
    """The line, and so the position, that a byte belongs to."""
    return whole[:offset].count(b"\n")


@pytest.mark.parametrize("with_values", [True, False])
def test_no_byte_can_be_changed(tmp_path: Path, with_values: bool) -> None:
    """Each byte of the file in turn is another one: the fault is found at its line."""
    whole = b"".join(native(EVENTS, with_values=with_values))
    path = tmp_path / "log.jsonl"
    dice = random.Random(7)
    for offset, byte in enumerate(whole):
        for other in {byte ^ 1, dice.choice([byte ^ 0x20, *b'\n "}0', dice.randrange(256)])} - {byte}:
            path.write_bytes(whole[:offset] + bytes([other]) + whole[offset + 1 :])
            verdict = verify_export(path)
            place = f"byte {offset} became {other:#x}"
            assert not verdict.ok, place
            line = line_of(whole, offset)
            # A head line that claims another end is refuted only by the end itself.
            ends = {LAST + 1} if line == 0 else set()
            assert verdict.position in {line} | ends, (place, verdict)


def test_no_byte_can_be_added_or_taken(tmp_path: Path) -> None:
    """Each byte in turn is gone, or stands twice, or has a space before it."""
    whole = b"".join(WHOLE)
    for offset in range(len(whole)):
        byte = whole[offset : offset + 1]
        for middle in (b"", b" " + byte if offset % 2 else byte * 2):
            assert not check(tmp_path, [whole[:offset], middle, whole[offset + 1 :]]).ok, offset


@pytest.mark.parametrize("extra", [b"\n", b" ", b"\r\n", b"{}\n", b"\0", WHOLE[-1], WHOLE[0]])
def test_nothing_may_follow_the_last_line(tmp_path: Path, extra: bytes) -> None:
    """Whatever is added at the end is named at the position after the last event."""
    verdict = check(tmp_path, [*WHOLE, extra])
    assert (verdict.ok, verdict.position) == (False, LAST + 1)


@pytest.mark.parametrize("position", range(1, LAST))
def test_a_dropped_line_is_a_missing_event(tmp_path: Path, position: int) -> None:
    """Any event but the last is gone: named by its position."""
    verdict = check(tmp_path, WHOLE[:position] + WHOLE[position + 1 :])
    assert (verdict.problem, verdict.position) == ("event_missing", position)


@pytest.mark.parametrize("first", range(1, LAST))
@pytest.mark.parametrize("second", range(2, LAST + 1))
def test_two_swapped_lines_are_reordered_events(tmp_path: Path, first: int, second: int) -> None:
    """Any two events change places: the first of both places is named."""
    if first >= second:
        return
    lines = list(WHOLE)
    lines[first], lines[second] = lines[second], lines[first]
    verdict = check(tmp_path, lines)
    assert (verdict.problem, verdict.position) == ("events_reordered", first)


def test_a_line_that_stands_twice_is_reordered(tmp_path: Path) -> None:
    """A repeated event is named where it stands the second time."""
    verdict = check(tmp_path, [*WHOLE[:4], WHOLE[3], *WHOLE[4:]])
    assert (verdict.problem, verdict.position) == ("events_reordered", 4)


def test_renumbered_events_are_told_from_missing_ones(tmp_path: Path) -> None:
    """An event with nothing but another number is a changed event, not a missing one."""
    events = [*EVENTS[:4], evolve(EVENTS[4], position=99), *EVENTS[5:]]
    verdict = check(tmp_path, native(events))
    assert (verdict.problem, verdict.position) == ("event_changed", 5)


@pytest.mark.parametrize("kept", range(LAST))
def test_a_cut_tail_shows_by_the_head_line(tmp_path: Path, kept: int) -> None:
    """Whole lines are gone from the end: the first missing position is named."""
    verdict = check(tmp_path, WHOLE[: kept + 1])
    assert (verdict.problem, verdict.position) == ("tail_missing", kept + 1)


def test_a_cut_tail_with_a_mended_head_line_shows_by_the_kept_head(tmp_path: Path) -> None:
    """Who also mends the head line is found by a head that was kept elsewhere."""
    short = EVENTS[:6]
    kept = Head(LAST, EVENTS[-1].hash)
    assert check(tmp_path, native(short)).ok
    verdict = check(tmp_path, native(short), head=kept)
    assert (verdict.problem, verdict.position) == ("tail_missing", 7)


def test_a_cut_within_a_line_is_found_at_every_byte(tmp_path: Path) -> None:
    """The file ends anywhere: never whole, and the position is that of the line it ends in."""
    whole = b"".join(WHOLE)
    for length in range(len(whole)):
        verdict = check(tmp_path, [whole[:length]])
        assert (verdict.problem, verdict.position) == ("tail_missing", line_of(whole, length)), length


def test_a_rewritten_chain_shows_by_the_kept_head(tmp_path: Path) -> None:
    """A log that is whole in itself is not the one that the kept head was taken from."""
    forged = rechained([*EVENTS[:3], evolve(EVENTS[3], actor="nobody"), *EVENTS[4:]])
    assert check(tmp_path, native(forged)).ok
    for kept in (EVENTS[3], EVENTS[-1]):
        verdict = check(tmp_path, native(forged), head=Head(kept.position, kept.hash))
        assert (verdict.problem, verdict.position) == ("head_differs", kept.position)
    assert check(tmp_path, native(forged), head=Head(2, EVENTS[1].hash)).ok


FORGERIES: dict[str, Callable[[RecordedEvent], RecordedEvent]] = {
    "actor": lambda e: evolve(e, actor="client:eve"),
    "at": lambda e: evolve(e, at=e.at + 1),
    "command": lambda e: evolve(e, command=None),
    "data": lambda e: evolve(e, data='{"forged":1}'),
    "digest": lambda e: evolve(e, digest=bytes(32)),
    "no digest": lambda e: evolve(e, digest=None, salt=None, body=None),
    "generation": lambda e: evolve(e, generation=(e.generation or 0) + 1),
    "hash": lambda e: evolve(e, hash=bytes(32)),
    "stream": lambda e: evolve(e, stream="run/other"),
    "type": lambda e: evolve(e, type="run.cancelled"),
    "version": lambda e: evolve(e, version=e.version + 1),
}


@pytest.mark.parametrize("field", FORGERIES)
def test_a_forged_column_is_a_changed_event(tmp_path: Path, field: str) -> None:
    """Each column the chain covers, changed to another valid value."""
    events = [*EVENTS[:3], FORGERIES[field](EVENTS[3]), *EVENTS[4:]]
    verdict = check(tmp_path, native(events))
    assert (verdict.problem, verdict.position) == ("event_changed", 4)


BODIES: dict[str, Callable[[RecordedEvent], RecordedEvent]] = {
    "body": lambda e: evolve(e, body='{"input":{"media":"text/plain","value":"x"}}'),
    "salt": lambda e: evolve(e, salt=bytes(16)),
    "body gone": lambda e: evolve(e, body=None),
    "salt gone": lambda e: evolve(e, salt=None),
}


@pytest.mark.parametrize("change", BODIES)
def test_a_forged_private_value_is_a_changed_body(tmp_path: Path, change: str) -> None:
    """The chain vouches for private values by the digest."""
    events = [*EVENTS[:3], BODIES[change](EVENTS[3]), *EVENTS[4:]]
    verdict = check(tmp_path, native(events))
    assert (verdict.problem, verdict.position) == ("body_changed", 4)


def test_a_body_on_an_event_that_never_had_one_is_found(tmp_path: Path) -> None:
    """No digest, no body."""
    events = [*EVENTS[:1], evolve(EVENTS[1], salt=bytes(16), body="{}"), *EVENTS[2:]]
    verdict = check(tmp_path, native(events))
    assert (verdict.problem, verdict.position) == ("body_changed", 2)


def test_a_salt_cannot_swallow_the_beginning_of_a_body(tmp_path: Path) -> None:
    """The hash joins salt and body without a border; the salt's length is the border."""
    line = write_event(evolve(EVENTS[3], salt=(EVENTS[3].salt or b"") + b" "), with_values=True)
    verdict = check(tmp_path, [*WHOLE[:4], line, *WHOLE[5:]])
    assert (verdict.problem, verdict.position) == ("not_canonical", 4)


def test_a_body_that_is_gone_needs_an_erasure_on_record(tmp_path: Path) -> None:
    """Where the file holds private values, one that is not there was erased, or taken."""
    verdict = check(tmp_path, native([*EVENTS[:3], erased(EVENTS[3]), *EVENTS[4:]]))
    assert (verdict.problem, verdict.position) == ("body_missing", 4)


def erasing_log(*ends: tuple[str, LogRedacted | RunInputErased]) -> list[RecordedEvent]:
    """A root with a continuation and a run beside them, then an end; root and continuation are erased."""
    tree = run_events("01JZROOT000000000000") + run_events("01JZCHLD000000000000", root="01JZROOT000000000000")
    events = chained([log_created(), *tree, *run_events("01JZBSDE000000000000"), *ends])
    return [erased(e) if "ROOT" in e.stream or "CHLD" in e.stream else e for e in events]


def test_a_redaction_explains_the_whole_tree(tmp_path: Path) -> None:
    """`log.redacted` names the root; its continuations are found by their own first events."""
    redacted = LogRedacted(run="01JZROOT000000000000", events=4, by="operator")
    assert check(tmp_path, native(erasing_log(("log", redacted)))).ok
    other = LogRedacted(run="01JZBSDE000000000000", events=4, by="operator")
    assert check(tmp_path, native(erasing_log(("log", other)))).problem == "body_missing"


def test_an_erased_input_explains_its_own_run_only(tmp_path: Path) -> None:
    """`run.input_erased` covers its stream and no other of the tree."""
    ends = [("run/01JZROOT000000000000", RunInputErased())]
    verdict = check(tmp_path, native(erasing_log(*ends)))
    assert (verdict.problem, verdict.position) == ("body_missing", 8)
    ends.append(("run/01JZCHLD000000000000", RunInputErased()))
    assert check(tmp_path, native(erasing_log(*ends))).ok


HEADS: dict[str, dict[str, Any]] = {
    "first": {"first": 2},
    "last is less": {"last": LAST - 1},
    "log_id": {"log_id": "01JZ0000000000000001"},
    "previous": {"previous": bytes(32)},
    "complete": {"complete": False},
    "nothing": {"first": 0, "last": 0},
}


@pytest.mark.parametrize("change", HEADS)
def test_the_head_line_is_held_to_the_events(tmp_path: Path, change: str) -> None:
    """Each field of the head line is checked against what follows."""
    head = ExportHead(log_id=LOG_ID, first=1, last=LAST, previous=genesis(LOG_ID))
    verdict = check(tmp_path, [write_head(evolve(head, **HEADS[change])), *WHOLE[1:]])
    assert not verdict.ok
    if change != "complete":
        assert (verdict.problem, verdict.position) == ("head_changed", 0)


def test_a_field_more_or_less_is_refused(tmp_path: Path) -> None:
    """Fields that the chain does not know cannot ride along, in the head line or an event's."""
    more = WHOLE[4].replace(b'"salt":', b'"saint":1,"salt":')
    assert check(tmp_path, [*WHOLE[:4], more, *WHOLE[5:]]).position == 4
    assert check(tmp_path, [WHOLE[0].replace(b'"last":', b'"lasr":1,"last":'), *WHOLE[1:]]).position == 0
    assert check(tmp_path, [WHOLE[0].replace(b'{"first"', b'{"complete":true,"first"'), *WHOLE[1:]]).position == 0


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_damage_is_found(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Random splices of the file's own pieces: whatever differs from the export does not hold."""
    whole = b"".join(WHOLE)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), min_size=2, max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    order = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=6))
    spliced = b"".join(pieces[each] for each in order)
    verdict = check(tmp_path_factory.mktemp("splice"), [spliced])
    assert verdict.ok is (spliced == whole)


def test_a_second_verifier_agrees(tmp_path: Path) -> None:
    """A script of the standard library alone, written from the format's description, finds the same places."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(WHOLE))
    assert first_bad_position(path) is None
    for position in range(1, LAST + 1):
        lines = [*WHOLE[:position], WHOLE[position].replace(b'"at":18', b'"at":17'), *WHOLE[position + 1 :]]
        path.write_bytes(b"".join(lines))
        assert first_bad_position(path) == verify_export(path).position == position


def test_events_are_read_back_as_they_were(tmp_path: Path) -> None:
    """`read_export` answers the stored texts themselves, and stops with an error where one does not hold."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(WHOLE))
    assert [(e.position, e.data, e.salt, e.body, e.hash) for e in read_export(path)] == [
        (e.position, e.data, e.salt, e.body, e.hash) for e in EVENTS
    ]
    path.write_bytes(b"".join(WHOLE[:-1]))
    with pytest.raises(ExportDamaged) as refused:
        list(read_export(path))
    assert (refused.value.problem, refused.value.position) == ("tail_missing", LAST)


def test_a_kept_head_is_read_as_it_is_written() -> None:
    """`POSITION:HASH` and nothing else."""
    head = Head(LAST, EVENTS[-1].hash)
    assert parse_head(format_head(head)) == head
    for text in ("", "1", "0:" + "a" * 64, "1:" + "A" * 64, "1:" + "a" * 63, "x:" + "a" * 64, "01:" + "a" * 64):
        with pytest.raises(HeadUnreadable):
            parse_head(text)


def test_progress_is_told(tmp_path: Path) -> None:
    """The last call says that everything was read."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(WHOLE))
    calls: list[tuple[int, int]] = []
    verify_export(path, progress=lambda at, last: calls.append((at, last)))
    assert calls[-1] == (LAST, LAST)
