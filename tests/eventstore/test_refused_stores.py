"""Opening refuses whatever is not ours, not whole, or not to be had, and leaves it as it was."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runwright.eventstore import filesystem
from runwright.eventstore.errors import (
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreInUse,
    StoreLayoutDiffers,
    StoreNewer,
    UnsafeFilesystem,
    UnsafeHome,
)
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.table import EVENTS_DDL
from support.rows import LAYOUT, Counts
from support.stores import appending, digests, opened


def refused(home: Path, error: type[StoreError], match: str | None = None) -> None:
    """Check that neither a holder nor a reader opens it, and that no byte of no file changes."""
    before = digests(home)
    with pytest.raises(error, match=match) as first:
        adopting(home)
    assert digests(home) == before | {"host.lock": digests(home)["host.lock"]}
    assert first.value.__cause__ is None
    assert "SQL" not in first.value.message.replace("SQLite", "")
    assert (home / "host.lock").read_text() == f"{os.getpid()}\n"


def adopting(home: Path) -> None:
    """Open and close a store, wherever it came from."""
    EventLog.open(home, layout=LAYOUT, control=Counts(), adopting=True).close()


def edited(home: Path, *statements: str) -> None:
    """Edit the store behind our back."""
    with closing(sqlite3.connect(home / "log.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)


def patched(path: Path, offset: int, data: bytes) -> None:
    """Overwrite bytes of a file."""
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_newer_store_is_refused(home: Path) -> None:
    """With both versions named."""
    patched(home / "log.sqlite", 60, (2).to_bytes(4, "big"))
    refused(home, StoreNewer, match=r"schema 2.*schemas up to 1")


def test_a_store_of_another_application_is_refused(home: Path) -> None:
    """By the number in its header."""
    patched(home / "log.sqlite", 68, b"ABCD")
    refused(home, StoreForeign, match="another application")


def test_a_file_that_is_no_database_is_refused(home: Path) -> None:
    """A text, for example."""
    (home / "log.sqlite").write_text("Dear diary,\n" * 50)
    refused(home, StoreForeign, match="no SQLite database")


def test_an_empty_file_is_refused(home: Path) -> None:
    """It was a store once, or never."""
    (home / "log.sqlite").write_bytes(b"")
    refused(home, StoreCorrupt, match="empty")


def test_less_than_a_header_is_refused(home: Path) -> None:
    """As damage, not as a foreign file."""
    (home / "log.sqlite").write_bytes((home / "log.sqlite").read_bytes()[:50])
    refused(home, StoreCorrupt, match="50 bytes")


def test_half_a_store_is_refused(stopped: Path) -> None:
    """Its header says how long it was."""
    whole = (stopped / "log.sqlite").read_bytes()
    (stopped / "log.sqlite").write_bytes(whole[: len(whole) // 2])
    refused(stopped, StoreCorrupt, match="bytes of")


def test_a_damaged_page_that_opening_reads_is_refused(home: Path) -> None:
    """SQLite's words about it stay inside."""
    patched(home / "log.sqlite", 4096, b"\xff" * 4096)
    refused(home, StoreCorrupt)


def test_damage_that_shows_later_is_a_typed_answer(stopped: Path) -> None:
    """Opening reads little; whoever meets the page then hears of it in our words, and nothing is written."""
    patched(stopped / "log.sqlite", 2 * 4096, b"\xff" * 4096)
    with opened(stopped) as log:
        with pytest.raises(StoreCorrupt) as corrupt:
            log.transact(appending("run/new")).result()
        assert corrupt.value.__cause__ is None
        assert log.head().position == 41


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (a)",
        "CREATE INDEX more ON events (at)",
        "DROP TRIGGER events_keep",
        "DROP TABLE counts",
        "ALTER TABLE counts ADD COLUMN more TEXT",
        "ALTER TABLE events RENAME COLUMN actor TO who",
        "UPDATE sqlite_schema SET sql = replace(sql, '300', '301') WHERE name = 'events'",
    ],
)
def test_another_layout_is_refused(home: Path, statement: str) -> None:
    """Whatever differs: literally, and with the way on."""
    edited(home, statement)
    refused(home, StoreLayoutDiffers, match="export")


def test_another_layout_is_refused_while_its_change_stands_in_the_wal(killed: Path, tmp_path: Path) -> None:
    """The look sees what the WAL says, and touches neither it nor its index."""
    with closing(sqlite3.connect(killed / "log.sqlite", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE more (a)")
        shutil.copytree(killed, tmp_path / "again")
    shutil.rmtree(killed)
    (tmp_path / "again").rename(killed)
    assert (killed / "log.sqlite-wal").stat().st_size > 0
    refused(killed, StoreLayoutDiffers, match="more")


def test_a_reader_with_a_layout_refuses_another_one(stopped: Path) -> None:
    """One without asks for the events only."""
    edited(stopped, "CREATE TABLE more (a)")
    with pytest.raises(StoreLayoutDiffers):
        LogReader.open(stopped, LAYOUT)
    with LogReader.open(stopped) as reader:
        assert len(list(reader.read_all())) == 41


@pytest.mark.parametrize(
    ("statements", "match"),
    [
        (("UPDATE head SET position = 3",), "head row"),
        (("UPDATE head SET hash = zeroblob(32)",), "head row"),
        (("DELETE FROM head",), "head row"),
        (
            (
                "DROP TRIGGER events_keep",
                "DELETE FROM events WHERE position = (SELECT max(position) FROM events)",
                "CREATE TRIGGER events_keep"
                + EVENTS_DDL.split("CREATE TRIGGER events_keep")[1].split("END;")[0]
                + "END",
            ),
            "head row",
        ),
        (
            (
                "DROP TRIGGER events_erase",
                "UPDATE events SET actor = 'x' WHERE position = (SELECT max(position) FROM events)",
                "CREATE TRIGGER events_erase"
                + EVENTS_DDL.split("CREATE TRIGGER events_erase")[1].split("END;")[0]
                + "END",
            ),
            "hash of its last event",
        ),
    ],
)
def test_a_tail_that_does_not_hold_is_refused(stopped: Path, statements: tuple[str, ...], match: str) -> None:
    """The head row and the last event's hash are looked at, and nothing more of the log."""
    edited(stopped, *statements)
    refused(stopped, StoreCorrupt, match=match)


def test_a_foreign_wal_is_refused(stopped: Path) -> None:
    """SQLite would mix it in, or throw it away."""
    (stopped / "log.sqlite-wal").touch(mode=0o600)
    (stopped / "log.sqlite-wal").write_bytes(b"not a WAL at all, but long enough to be one")
    refused(stopped, StoreForeign, match="not the WAL")


def test_a_wal_without_its_store_is_refused(killed: Path) -> None:
    """A new store under it would swallow it."""
    (killed / "log.sqlite").unlink()
    refused(killed, StoreForeign, match="without its store")


def test_a_foreign_journal_is_refused(stopped: Path) -> None:
    """SQLite would roll it back into the store."""
    (stopped / "log.sqlite-journal").touch(mode=0o600)
    (stopped / "log.sqlite-journal").write_bytes(b"x" * 100)
    refused(stopped, StoreForeign, match="not the journal")


def test_a_journal_that_was_never_finished_is_no_foreign_file(stopped: Path) -> None:
    """Killed before its journal was on the disk, a store opens: the journal has no magic yet, and all else is old."""
    begun = bytes(12) + bytes.fromhex("bc383183000000340000020000001000")
    (stopped / "log.sqlite-journal").touch(mode=0o600)
    (stopped / "log.sqlite-journal").write_bytes(begun.ljust(4616, b"\0"))
    opened(stopped).close()


def test_a_reader_leaves_a_refused_store_as_it_was(home: Path) -> None:
    """Also without the lock."""
    patched(home / "log.sqlite", 60, (2).to_bytes(4, "big"))
    before = digests(home)
    with pytest.raises(StoreNewer):
        LogReader.open(home)
    assert digests(home) == before


def test_a_link_to_a_store_is_refused(stopped: Path, tmp_path: Path) -> None:
    """Two paths to one store would have two locks."""
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "log.sqlite").symlink_to(stopped / "log.sqlite")
    with pytest.raises(UnsafeHome):
        opened(other)


def test_a_held_store_is_refused_to_a_second_holder(stopped: Path) -> None:
    """And the first goes on."""
    with opened(stopped) as log:
        with pytest.raises(StoreInUse) as used:
            opened(stopped)
        assert used.value.pid == os.getpid()
        assert log.transact(appending("run/a")).result().version == 1


def test_a_refused_store_is_not_kept_locked(stopped: Path) -> None:
    """Whoever mends it can open it."""
    edited(stopped, "CREATE TABLE more (a)")
    with pytest.raises(StoreLayoutDiffers):
        opened(stopped)
    edited(stopped, "DROP TABLE more")
    opened(stopped).close()


# --- network file systems ---------------------------------------------------------------------------------


@pytest.fixture
def on_network(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every folder be on a network file system, now that there is a store."""

    def check(folder: Path) -> None:
        raise UnsafeFilesystem(folder, "nfs")

    monkeypatch.setattr(filesystem, "check", check)


def test_a_network_file_system_is_refused_unless_somebody_insists(stopped: Path, on_network: None) -> None:
    """Then without a WAL, whose memory map is what such file systems break; and back on a local disk."""
    before = digests(stopped)
    with pytest.raises(UnsafeFilesystem):
        opened(stopped)
    assert digests(stopped) == before
    with opened(stopped, unsafe_filesystem=True) as log:
        log.transact(appending("run/a")).result()
        assert log.home.log.read_bytes()[18:20] == b"\1\1"
        assert not log.home.log.with_name("log.sqlite-wal").exists()
        assert log.without_wal
        with LogReader.open(stopped) as reader:
            assert reader.head() == log.head()
    assert (stopped / "log.sqlite").read_bytes()[18:20] == b"\1\1"
