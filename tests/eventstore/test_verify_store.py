"""A store holds or does not: its file, its chain, its tail and what was erased from it."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from runwright.eventstore import identity, opening
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import StoreCorrupt, StoreForeign, StoreMissing, StoreNewer, StoreUnavailable
from runwright.eventstore.events.log import LogRedacted
from runwright.eventstore.home import Home
from runwright.eventstore.log import EventLog
from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.eventstore.verify import verify_store
from support.audited import RUN_A, append, make_store, open_log, tamper
from support.chained import run_events


def test_a_store_that_nobody_changed_verifies(tmp_path: Path) -> None:
    """The verdict names the head and the log, by the folder's name and by the file's."""
    head = make_store(tmp_path)
    for path in (tmp_path, tmp_path / "log.sqlite"):
        for deep in (False, True):
            verdict = verify_store(path, deep=deep, head=head)
            assert verdict.ok, verdict
            assert (verdict.head, verdict.events) == (head, 11)


@pytest.mark.parametrize("name", ["nothing", "nothing/log.sqlite"])
def test_what_is_not_there_is_named_itself(tmp_path: Path, name: str) -> None:
    """The folder, or the file, that was asked about; never the one around it."""
    with pytest.raises(StoreMissing) as missing:
        verify_store(tmp_path / name)
    assert missing.value.path == tmp_path / name


def test_verification_leaves_a_store_as_it_was(tmp_path: Path) -> None:
    """Not one byte is written, and no file is left beside it."""
    make_store(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    verify_store(tmp_path, deep=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_store_is_verified_beside_its_holder(tmp_path: Path) -> None:
    """Events still in the WAL count, and commits meanwhile do no harm."""
    with open_log(tmp_path) as log:
        append(log, run_events(RUN_A))
        verdict = verify_store(tmp_path)
        assert verdict.ok, verdict
        assert verdict.head == log.head()
        append(log, [("run/other", event) for _, event in run_events("other")])
        assert verify_store(tmp_path).ok


def test_a_store_without_a_first_event_is_none_yet(tmp_path: Path) -> None:
    """Whoever built it was killed before the first event: there is no log yet, and opening begins it."""
    home = Home(tmp_path)
    home.prepare()
    opening.build(home, EVENTS_LAYOUT)
    for noted in (False, True):
        if noted:
            identity.write(home, "00" * 16, Head(0, bytes(32)))
        with pytest.raises(StoreMissing):
            verify_store(tmp_path)
    open_log(tmp_path).close()
    assert verify_store(tmp_path).ok


def test_a_store_whose_events_are_all_gone_is_named_and_not_begun_anew(tmp_path: Path) -> None:
    """With the head row gone as well, store.id still tells that there were some."""
    make_store(tmp_path)
    tamper(tmp_path, "DELETE FROM events", "DELETE FROM head")
    verdict = verify_store(tmp_path)
    assert (verdict.problem, verdict.position) == ("head_changed", 1)
    with pytest.raises(StoreCorrupt, match="its events are gone"):
        open_log(tmp_path)


EDITS = {
    "data": ("UPDATE events SET data = replace(data, '9', '8') WHERE position = 2", "event_changed", 2),
    "one byte of a text": ("UPDATE events SET actor = 'operatoR' WHERE position = 4", "event_changed", 4),
    "stamp": ("UPDATE events SET at = at + 1 WHERE position = 5", "event_changed", 5),
    "type": ("UPDATE events SET type = 'run.failed' WHERE position = 11", "event_changed", 11),
    "stream": ("UPDATE events SET stream = 'run/x' WHERE position = 3", "event_changed", 3),
    "version": ("UPDATE events SET version = 99 WHERE position = 3", "event_changed", 3),
    "generation": ("UPDATE events SET generation = 7 WHERE position = 6", "event_changed", 6),
    "command": ("UPDATE events SET command = 'x' WHERE position = 6", "event_changed", 6),
    "hash": ("UPDATE events SET hash = zeroblob(32) WHERE position = 7", "event_changed", 7),
    "hash of the last": ("UPDATE events SET hash = zeroblob(32) WHERE position = 11", "event_changed", 11),
    "digest": ("UPDATE events SET digest = zeroblob(32) WHERE position = 4", "event_changed", 4),
    "short hash": ("UPDATE events SET hash = x'00' WHERE position = 7", "event_changed", 7),
    "text that is none": ("UPDATE events SET data = CAST(x'ff' AS TEXT) WHERE position = 8", "event_changed", 8),
    "body": ("UPDATE events SET body = replace(body, 'canary', 'finch') WHERE position = 4", "body_changed", 4),
    "body that is no text": ("UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE position = 4", "event_changed", 4),
    "salt": ("UPDATE events SET salt = zeroblob(16) WHERE position = 4", "body_changed", 4),
    "body alone gone": ("UPDATE events SET body = NULL WHERE position = 4", "body_changed", 4),
    "erased in secret": ("UPDATE events SET body = NULL, salt = NULL WHERE position = 4", "body_missing", 4),
    "deleted": ("DELETE FROM events WHERE position = 5", "event_missing", 5),
    "deleted first": ("DELETE FROM events WHERE position = 1", "event_missing", 1),
    "tail": ("DELETE FROM events WHERE position > 8", "tail_missing", 9),
    "everything": ("DELETE FROM events", "tail_missing", 1),
    "head row": ("UPDATE head SET position = 9", "head_changed", 10),
    "head row gone": ("DELETE FROM head", "head_changed", 11),
    "head row's hash": ("UPDATE head SET hash = zeroblob(32)", "event_changed", 11),
    "renumbered": ("UPDATE events SET position = 99 WHERE position = 11", "event_changed", 11),
    "log ID": ("""UPDATE events SET data = replace(data, '"log_id":"', '"log_id":"0') WHERE position = 1""",
               "event_changed", 1),
    "first event of another kind": ("UPDATE events SET type = 'log.barrier' WHERE position = 1", "event_changed", 1),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_behind_the_triggers_is_named(tmp_path: Path, edit: str) -> None:
    """Each column and each row, changed with a database shell: position and problem are right."""
    make_store(tmp_path)
    statement, problem, position = EDITS[edit]
    tamper(tmp_path, statement)
    verdict = verify_store(tmp_path, deep=True)
    assert (verdict.problem, verdict.position) == (problem, position), verdict
    assert "canary" not in verdict.detail


@pytest.mark.parametrize(("first", "second"), [(4, 5), (3, 9), (1, 2), (10, 11)])
def test_swapped_rows_are_reordered_events(tmp_path: Path, first: int, second: int) -> None:
    """Two events with their numbers exchanged: the first of both places is named."""
    make_store(tmp_path)
    move = "UPDATE events SET position = {} WHERE position = {}"
    tamper(tmp_path, move.format(99, first), move.format(first, second), move.format(second, 99))
    verdict = verify_store(tmp_path)
    assert (verdict.problem, verdict.position) == ("events_reordered", first)


def test_a_row_pushed_in_is_named_at_its_place(tmp_path: Path) -> None:
    """Everything behind is renumbered: the chain stops fitting where the stranger stands."""
    make_store(tmp_path)
    tamper(
        tmp_path,
        "UPDATE events SET position = position + 1000 WHERE position >= 6",
        "UPDATE events SET position = position - 999 WHERE position >= 1000",
        "INSERT INTO events SELECT 6, 'run/eve', 1, type, at, actor, generation, command, data, digest, hash, salt,"
        " body FROM events WHERE position = 5",
        "UPDATE head SET position = 12",
    )
    verdict = verify_store(tmp_path)
    assert (verdict.ok, verdict.position) == (False, 6)


def test_a_row_deleted_and_the_rest_renumbered_is_named(tmp_path: Path) -> None:
    """Closing the gap does not mend the chain."""
    make_store(tmp_path)
    tamper(
        tmp_path,
        "DELETE FROM events WHERE position = 6",
        "UPDATE events SET position = position + 1000 WHERE position > 6",
        "UPDATE events SET position = position - 1001 WHERE position > 1000",
        "UPDATE head SET position = 10",
    )
    verdict = verify_store(tmp_path)
    assert (verdict.problem, verdict.position) == ("event_changed", 6)


def test_a_tail_cut_with_its_head_row_shows_by_the_kept_head(tmp_path: Path) -> None:
    """Who also rewrites the head row is found by a head that was kept elsewhere."""
    kept = make_store(tmp_path)
    tamper(
        tmp_path,
        "DELETE FROM events WHERE position > 8",
        "UPDATE head SET (position, hash) = (SELECT position, hash FROM events WHERE position = 8)",
    )
    assert verify_store(tmp_path).ok
    verdict = verify_store(tmp_path, head=kept)
    assert (verdict.problem, verdict.position) == ("tail_missing", 9)
    other = verify_store(tmp_path, head=Head(5, bytes(32)))
    assert (other.problem, other.position) == ("head_differs", 5)


def test_only_the_table_of_events_is_needed(tmp_path: Path) -> None:
    """A store of another layout can still be verified."""
    make_store(tmp_path)
    tamper(tmp_path, "CREATE TABLE other (x)", "DROP TABLE head", "DROP INDEX events_erasures")
    assert verify_store(tmp_path).ok
    tamper(tmp_path, "UPDATE events SET at = 1 WHERE position = 3")
    assert verify_store(tmp_path).position == 3


def test_a_cut_file_says_how_much_can_be_read(tmp_path: Path) -> None:
    """Half a file and an empty one are told from a damaged one; what stands before the cut is counted."""
    with open_log(tmp_path) as log:
        for number in range(200):
            append(log, run_events(f"run{number}"))
    log_file = tmp_path / "log.sqlite"
    size = log_file.stat().st_size
    os.truncate(log_file, size // 2)
    before = log_file.read_bytes()
    verdict = verify_store(tmp_path)
    assert verdict.problem == "store_cut"
    assert verdict.events > 100
    assert verdict.position == verdict.events + 1
    assert log_file.read_bytes() == before
    for length in (5000, 100, 50, 0):
        os.truncate(log_file, length)
        assert verify_store(tmp_path).problem == "store_cut"


def test_a_damaged_page_is_named_by_its_first_event(tmp_path: Path) -> None:
    """Any one page of the file is overwritten: found each time, without an exception."""
    with open_log(tmp_path) as log:
        for number in range(40):
            append(log, run_events(f"run{number}"))
    log_file = tmp_path / "log.sqlite"
    whole = log_file.read_bytes()
    named = 0
    for page in range(2, len(whole) // 4096 + 1):
        start = (page - 1) * 4096
        log_file.write_bytes(whole[:start] + b"\xa5" * 4096 + whole[start + 4096 :])
        verdict = verify_store(tmp_path)
        assert verdict.problem == "page_corrupt", page
        named += verdict.position is not None
    assert named > 10
    log_file.write_bytes(whole[:100] + b"\xa5" * 3996 + whole[4096:])
    assert verify_store(tmp_path).problem == "page_corrupt"


def test_what_is_no_store_is_told_apart(tmp_path: Path) -> None:
    """No file, a text, another application's database, a newer store: errors of their own, bytes unchanged."""
    log_file = tmp_path / "log.sqlite"
    with pytest.raises(StoreMissing):
        verify_store(tmp_path)
    log_file.write_text("hello " * 50)
    with pytest.raises(StoreForeign):
        verify_store(tmp_path)
    log_file.unlink()
    other = sqlite3.connect(log_file)
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(StoreForeign):
        verify_store(tmp_path)
    log_file.unlink()
    make_store(tmp_path)
    tamper(tmp_path, "PRAGMA user_version = 2")
    before = log_file.read_bytes()
    with pytest.raises(StoreNewer):
        verify_store(tmp_path)
    assert log_file.read_bytes() == before


def test_an_erasure_on_record_explains_missing_values(tmp_path: Path) -> None:
    """A redaction that names the root, wherever it stands after the erased events."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        append(log, [("log", LogRedacted(run=RUN_A, events=2, by="operator"))])
    tamper(tmp_path, f"UPDATE events SET body = NULL, salt = NULL WHERE stream = 'run/{RUN_A}'")
    assert verify_store(tmp_path).ok
    tamper(tmp_path, "UPDATE events SET body = NULL, salt = NULL WHERE position = 5")
    assert (verify_store(tmp_path).problem, verify_store(tmp_path).position) == ("body_missing", 5)


def test_progress_is_told(tmp_path: Path) -> None:
    """The last call names the end."""
    make_store(tmp_path)
    calls: list[tuple[int, int]] = []
    verify_store(tmp_path, progress=lambda at, last: calls.append((at, last)))
    assert calls[-1] == (11, 11)


def test_a_store_that_somebody_opens_meanwhile_is_read_again(tmp_path: Path) -> None:
    """It was at rest when the verification began: what a holder then writes is no damage."""
    make_store(tmp_path)
    held: list[EventLog] = []

    def meanwhile(_at: int, _last: int) -> None:
        if not held:
            held.append(open_log(tmp_path))
            append(held[0], run_events("more"))

    try:
        verdict = verify_store(tmp_path, progress=meanwhile)
        assert verdict.ok, verdict
        assert verdict.head == held[0].head()
    finally:
        held[0].close()


def test_a_transaction_to_be_rolled_back_is_no_damage(tmp_path: Path) -> None:
    """On a file system without a WAL a killed holder leaves a journal; opening once rolls it back."""
    with open_log(tmp_path, unsafe_filesystem=True) as log:
        append(log, run_events(RUN_A))
        head = log.head()
    code = (
        "import os, sqlite3, sys\n"
        "shell = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "shell.execute('PRAGMA cache_size=1')\n"
        "shell.execute('BEGIN IMMEDIATE')\n"
        "shell.execute('UPDATE head SET position = 1')\n"
        "shell.execute('CREATE TABLE t (x)')\n"
        "shell.execute('INSERT INTO t VALUES (zeroblob(200000))')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "log.sqlite")], check=True)
    assert (tmp_path / "log.sqlite-journal").stat().st_size
    with pytest.raises(StoreUnavailable):
        verify_store(tmp_path)
    with open_log(tmp_path, unsafe_filesystem=True):
        pass
    assert verify_store(tmp_path, head=head).ok
