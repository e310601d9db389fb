"""Import: the same log bit for bit, or no store at all."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from runwright.eventstore import erasure
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.errors import EventUnreadable, StoreForeign, StoreInUse, StoreReadonly
from runwright.eventstore.log import LogReader
from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.eventstore.transfer.errors import ExportDamaged, ExportIncomplete, ExportUnreadable, StoreExists
from runwright.eventstore.transfer.importing import import_log
from runwright.eventstore.transfer.selection import Selection
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify import verify_store
from runwright.eventstore.verify_export import verify_export
from support.audited import RUN_A, NoRows, append, export, make_store, open_log
from support.chained import LOG_ID, chained, log_created, native, rechained, run_events, small_log

HISTORIES = Path(__file__).parents[1] / "histories"


def bring(source: Path, home: Path, rows: NoRows | None = None, kept: Head | None = None) -> Verdict:
    """Import into a store of the events' layout."""
    return import_log(source, home, layout=EVENTS_LAYOUT, control=rows or NoRows(), kept=kept)


def table(home: Path) -> list[tuple[object, ...]]:
    """Every row of the log."""
    with closing(sqlite3.connect(home / "log.sqlite")) as shell:
        return shell.execute("SELECT * FROM events ORDER BY position").fetchall()


def remains(home: Path) -> set[str]:
    """What stands in a state directory besides the lock."""
    return {path.name for path in home.iterdir()} - {"host.lock"}


def test_an_imported_log_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    """Rows equal, heads equal, an export of the copy equal, and every event went to the control rows once."""
    head = make_store(tmp_path / "one")
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    rows = NoRows()
    verdict = bring(source, tmp_path / "two", rows, kept=head)
    assert verdict.head == head
    assert rows.applied == list(range(1, 12))
    assert table(tmp_path / "two") == table(tmp_path / "one")
    assert verify_store(tmp_path / "two", deep=True, head=head).ok
    with LogReader.open(tmp_path / "two", EVENTS_LAYOUT) as reader:
        assert reader.head() == head
    again = export(tmp_path / "two", tmp_path / "b.jsonl", with_values=True)
    assert again.read_bytes() == source.read_bytes()


def test_an_imported_store_is_private_and_read_only(tmp_path: Path) -> None:
    """0600 in 0700, and nobody writes it before it is adopted."""
    make_store(tmp_path / "one")
    bring(export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True), tmp_path / "two")
    assert (tmp_path / "two").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "two" / "log.sqlite").stat().st_mode & 0o777 == 0o600
    assert remains(tmp_path / "two") == {"log.sqlite"}
    with pytest.raises(StoreReadonly, match="store adopt"):
        open_log(tmp_path / "two")


def test_a_many_batched_import_keeps_the_head_row(tmp_path: Path) -> None:
    """More events than one batch."""
    with open_log(tmp_path / "one") as log:
        for number in range(450):
            append(log, run_events(f"run{number}"))
        head = log.head()
    bring(export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True), tmp_path / "two")
    assert verify_store(tmp_path / "two", head=head).ok


def test_a_home_with_a_store_is_refused(tmp_path: Path) -> None:
    """Its bytes stay as they were, a foreign or a damaged file in its place too."""
    make_store(tmp_path / "one")
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    before = (tmp_path / "one" / "log.sqlite").read_bytes()
    with pytest.raises(StoreExists):
        bring(source, tmp_path / "one")
    assert (tmp_path / "one" / "log.sqlite").read_bytes() == before
    assert verify_store(tmp_path / "one").ok
    with open_log(tmp_path / "one"):
        pass
    home = tmp_path / "two"
    home.mkdir(mode=0o700)
    (home / "log.sqlite").write_text("something else")
    (home / "log.sqlite").chmod(0o600)
    with pytest.raises(StoreForeign):
        bring(source, home)
    assert (home / "log.sqlite").read_text() == "something else"


def test_a_held_home_is_refused(tmp_path: Path) -> None:
    """Somebody holds the store."""
    make_store(tmp_path / "one")
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    with open_log(tmp_path / "one"), pytest.raises(StoreInUse):
        bring(source, tmp_path / "one")


def test_a_damaged_export_leaves_nothing(tmp_path: Path) -> None:
    """Whatever was done to the file: a typed error with the position, and no store."""
    head = make_store(tmp_path / "one")
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    lines = source.read_bytes().splitlines(keepends=True)
    damages = {
        "event_changed": [*lines[:6], lines[6].replace(b'"at":18', b'"at":17'), *lines[7:]],
        "event_missing": [*lines[:6], *lines[7:]],
        "events_reordered": [*lines[:6], lines[7], lines[6], *lines[8:]],
        "tail_missing": lines[:6],
        "body_changed": [*lines[:4], lines[4].replace(b"canary", b"finchy"), *lines[5:]],
        "not_canonical": [*lines[:6], b" " + lines[6], *lines[7:]],
        "head_changed": [lines[0].replace(b'"last":11', b'"last":10'), *lines[1:]],
    }
    for problem, damaged in damages.items():
        source.write_bytes(b"".join(damaged))
        with pytest.raises(ExportDamaged) as refused:
            bring(source, tmp_path / "two")
        assert refused.value.problem == problem
        assert refused.value.position == verify_export(source).position
        assert remains(tmp_path / "two") == set()
    source.write_bytes(b"".join(lines))
    with pytest.raises(ExportDamaged):
        bring(source, tmp_path / "two", kept=Head(head.position, bytes(32)))
    assert bring(source, tmp_path / "two").head == head


def test_a_part_and_an_export_without_values_are_not_imported(tmp_path: Path) -> None:
    """They verify, and cannot become a store that is the same."""
    make_store(tmp_path / "one")
    run = Selection(streams=frozenset({f"run/{RUN_A}"}))
    refused: list[dict[str, Any]] = [{"selection": run, "with_values": True}, {"with_values": False}]
    for number, options in enumerate(refused):
        source = export(tmp_path / "one", tmp_path / f"{number}.jsonl", **options)
        assert verify_export(source).ok
        with pytest.raises(ExportIncomplete, match="--with-values"):
            bring(source, tmp_path / "two")
        assert remains(tmp_path / "two") == set()


def test_a_missing_file_is_a_typed_error(tmp_path: Path) -> None:
    """And leaves nothing."""
    with pytest.raises(ExportUnreadable):
        bring(tmp_path / "none", tmp_path / "two")
    assert remains(tmp_path / "two") == set()


def test_a_redacted_log_is_imported_as_it_is(tmp_path: Path) -> None:
    """Erased values are missing with cause; an export in which all are erased is whole, too."""
    make_store(tmp_path / "one")
    with open_log(tmp_path / "one") as log:
        for run in ("01JZRUNA000000000000", "01JZRUNB000000000000"):
            plan = erasure.plan(log, [run])
            log.transact(
                lambda tx, plan=plan, run=run: erasure.redact(  # type: ignore[misc]
                    tx, plan, root=run, by="operator", reason="r", actor="operator", command=None
                )
            ).result()
        head = log.head()
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    assert bring(source, tmp_path / "two").head == head
    assert verify_store(tmp_path / "two").ok


def test_a_store_id_of_a_log_that_is_gone_is_no_adoption(tmp_path: Path) -> None:
    """Importing one's own export into a home whose log was moved away stays read-only."""
    make_store(tmp_path / "one")
    source = export(tmp_path / "one", tmp_path / "a.jsonl", with_values=True)
    (tmp_path / "one" / "log.sqlite").unlink()
    bring(source, tmp_path / "one")
    with pytest.raises(StoreReadonly):
        open_log(tmp_path / "one")


def test_a_chained_export_with_impossible_versions_is_refused(tmp_path: Path) -> None:
    """Who can rewrite the chain still cannot bring in what the table refuses; the error is ours."""
    events = small_log()
    forged = rechained([*events[:-1], evolve(events[-1], version=50)])
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"".join(native(forged)))
    assert verify_export(source).ok
    with pytest.raises(ExportIncomplete):
        bring(source, tmp_path / "two")
    assert remains(tmp_path / "two") == set()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"type": "run.exploded"}, "no such type"),
        ({"actor": "a\nb"}, "actor holds a control character"),
        ({"actor": "a" * 201}, "actor has 201 bytes"),
        ({"stream": "elsewhere/x"}, "stream is of no known kind"),
        ({"command": ""}, "command has 0 bytes"),
        ({"generation": -1}, "generation is no whole number"),
        ({"at": -1}, "time is none that a clock shows"),
        ({"at": 2**62}, "time is none that a clock shows"),
        ({"data": f'{{"output":4,"x":"{"y" * 2**16}"}}'}, "data has more than"),
        ({"data": '{"output":4,"x":1}'}, "missing field fingerprint"),
    ],
)
def test_a_chained_event_that_no_version_writes_is_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    """Who can rewrite the chain brings in nothing that commands would stumble over, and leaves no store."""
    events = small_log()
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"".join(native(rechained([*events[:-1], evolve(events[-1], **change)]))))
    assert verify_export(source).ok
    with pytest.raises(EventUnreadable, match=why) as refused:
        bring(source, tmp_path / "two")
    assert refused.value.position == events[-1].position
    assert remains(tmp_path / "two") == set()


@pytest.mark.parametrize("begins", [chained([*run_events(RUN_A)]), chained([log_created("another")], LOG_ID)])
def test_a_log_that_does_not_begin_as_its_head_line_says_is_refused(
    tmp_path: Path, begins: list[RecordedEvent]
) -> None:
    """An export that holds becomes a store that holds: its first event is the one that the store is read by."""
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"".join(native(begins)))
    verdict = verify_export(source)
    assert (verdict.problem, verdict.position) == ("event_changed", 1)
    with pytest.raises(ExportDamaged):
        bring(source, tmp_path / "two")
    assert remains(tmp_path / "two") == set()


def test_the_first_released_shape_still_verifies_and_imports(tmp_path: Path) -> None:
    """The checked-in export of version 1: verified, imported, exported again to the same bytes."""
    source = HISTORIES / "v1.jsonl"
    kept = json.loads((HISTORIES / "v1.head.json").read_text())
    verdict = verify_export(source)
    assert verdict.ok, verdict
    assert verdict.head == Head(kept["position"], bytes.fromhex(kept["hash"]))
    bring(source, tmp_path / "home")
    assert verify_store(tmp_path / "home", head=verdict.head).ok
    assert export(tmp_path / "home", tmp_path / "b.jsonl", with_values=True).read_bytes() == source.read_bytes()
    with LogReader.open(tmp_path / "home") as reader:
        assert [event.event for event in reader.read_all()]
