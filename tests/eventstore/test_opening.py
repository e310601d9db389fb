"""Opening: a store is built whole, and whatever is not ours or not whole is refused and left as it was."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from runwright.eventstore import database, filesystem, opening
from runwright.eventstore.errors import (
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreInUse,
    StoreLayoutDiffers,
    StoreMissing,
    StoreNewer,
    UnsafeFilesystem,
    UnsafeHome,
)
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.table import APPLICATION_ID, EVENTS_DDL, EVENTS_LAYOUT, Layout
from support.rows import LAYOUT, Counts
from support.stores import appending, digests, finished, opened


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The home of a store that was closed in good order: one file, no WAL."""
    with opened(tmp_path / "home") as log:
        for number in range(40):
            log.transact(appending(f"run/{number}", finished("x" * 1_000))).result()
    return tmp_path / "home"


@pytest.fixture
def killed(tmp_path: Path, stopped: Path) -> Path:
    """The home of a store whose holder was killed: its last events stand in the WAL only."""
    with opened(stopped) as log:
        log.transact(appending("run/last", finished("y" * 1_000))).result()
        shutil.copytree(stopped, tmp_path / "copy")
    shutil.rmtree(stopped)
    (tmp_path / "copy").rename(stopped)
    (stopped / "store.id").unlink()  # a copy is told from its store elsewhere
    return stopped


@pytest.fixture(params=["stopped", "killed"])
def home(request: pytest.FixtureRequest) -> Path:
    """A store in either state."""
    return Path(request.getfixturevalue(request.param))


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


# --- a new store ------------------------------------------------------------------------------------------


def test_a_new_store_is_ours_from_its_first_instant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Header, tables and mode are right before the file has its name, and it has no journal then."""
    seen: list[tuple[bytes, list[str], int]] = []
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        if self.name == "log.sqlite.new":
            names = sorted(path.name for path in self.parent.iterdir())
            seen.append((self.read_bytes()[:100], names, stat.S_IMODE(self.stat().st_mode)))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with opened(tmp_path / "home") as log:
        ((head, names, mode),) = seen
        assert head.startswith(b"SQLite format 3\0")
        assert head[68:72] == APPLICATION_ID.to_bytes(4, "big")
        assert head[60:64] == (1).to_bytes(4, "big")
        assert head[18:20] == b"\1\1"
        assert names == ["host.lock", "log.sqlite.new"]
        assert mode == 0o600
        assert log.home.log.read_bytes()[18:20] == b"\2\2"


def test_every_file_is_private_from_the_start(tmp_path: Path) -> None:
    """With the most open umask, watched while the store is made and written."""
    home = tmp_path / "home"
    modes: set[tuple[str, int]] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for path in [home, *(home.iterdir() if home.exists() else [])]:
                try:
                    modes.add((path.name, stat.S_IMODE(path.lstat().st_mode)))
                except FileNotFoundError:
                    continue  # it came and went: a journal

    watcher = threading.Thread(target=watch)
    before = os.umask(0)
    try:
        watcher.start()
        with opened(home) as log:
            for _ in range(20):
                log.transact(appending("run/a")).result()
    finally:
        done.set()
        watcher.join()
        os.umask(before)
    assert {mode for name, mode in modes if name != "home" and name != "look"} == {0o600}
    assert {mode for name, mode in modes if name == "home"} == {0o700}
    assert {"log.sqlite", "log.sqlite-wal", "log.sqlite-shm", "host.lock"} <= {name for name, _ in modes}


@pytest.mark.parametrize("left", ["log.sqlite.new", "log.sqlite.new-journal"])
def test_what_a_crash_left_of_a_new_store_is_cleared(tmp_path: Path, left: str) -> None:
    """It never had its name, so nobody was told of it."""
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / left).write_bytes(b"half")
    with opened(tmp_path / "home") as log:
        assert log.head().position == 1
    assert not (tmp_path / "home" / left).exists()


def test_a_store_whose_maker_was_killed_before_the_first_event_begins(tmp_path: Path) -> None:
    """A reader finds no log there yet; the next holder writes its first event."""
    from runwright.eventstore.home import Home

    home = Home(tmp_path / "home")
    home.prepare()
    opening.build(home, LAYOUT)
    with pytest.raises(StoreMissing):
        LogReader.open(home.path, LAYOUT)
    with opened(home.path) as log:
        assert log.head().position == 1


def test_a_program_killed_while_it_opens_a_new_store_leaves_one_that_opens(tmp_path: Path) -> None:
    """At whichever system call that touches a file."""
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2]); from support.stores import opened\n"
        "left = int(sys.argv[3])\n"
        "def hook(event, args):\n"
        "    global left\n"
        "    if event.startswith(('open', 'os.', 'sqlite3.')) and 'home' in str(args):\n"
        "        left -= 1\n"
        "        if left == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(hook)\n"
        "opened(Path(sys.argv[1])).close(); print('through')"
    )
    tests = Path(__file__).parents[1]
    for moment in range(1, 60, 4):
        home = tmp_path / f"home{moment}"
        done = subprocess.run(
            [sys.executable, "-c", code, str(home), str(tests), str(moment)], capture_output=True, timeout=60
        )
        with opened(home) as log:
            assert log.head().position == 1
        if done.stdout:
            break
    else:
        pytest.fail("it was always killed")


# --- refusals ---------------------------------------------------------------------------------------------


def test_a_whole_store_opens_in_either_state(home: Path) -> None:
    """And nothing of the look that precedes is left behind."""
    adopting(home)
    with EventLog.open(home, layout=LAYOUT, control=Counts(), adopting=True) as log:
        assert not (home / "look").exists()
        assert log.head().position >= 41


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


def test_opening_looks_through_a_reader_of_the_same_process(stopped: Path) -> None:
    """No descriptor of the store is opened beside SQLite's own, or its locks would go."""
    with LogReader.open(stopped, LAYOUT) as reader, opened(stopped) as log:
        log.transact(appending("run/a")).result()
        assert reader.head() == log.head()
        opened_files: list[str] = []
        original = Path.open

        def watched(self: Path, *args: object, **options: object) -> object:
            opened_files.append(self.name)
            return original(self, *args, **options)  # type: ignore[call-overload]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", watched)
            LogReader.open(stopped, LAYOUT).close()
        assert "log.sqlite" not in opened_files


def test_another_process_that_reads_does_not_take_the_wal_away(tmp_path: Path) -> None:
    """Acknowledged events survive the end of readers and a crash of the writer."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2]); from support.stores import opened, appending\n"
        "log = opened(Path(sys.argv[1]))\n"
        "for _ in range(50): log.transact(appending('run/a')).result()\n"
        "from runwright.eventstore.log import LogReader\n"
        "LogReader.open(Path(sys.argv[1])).close()\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "log.transact(appending('run/a')).result(); os._exit(0)"
    )
    tests = Path(__file__).parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "home"), str(tests)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        for _ in range(3):
            with LogReader.open(tmp_path / "home") as reader:
                assert len(list(reader.read_all())) == 51
        holder.communicate("go\n")
    with opened(tmp_path / "home") as log:
        assert log.head().position == 52


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


def test_a_store_without_a_wal_gets_one_back(stopped: Path) -> None:
    """On a local disk, at the next opening."""
    opened(stopped, unsafe_filesystem=True).close()
    with opened(stopped) as log:
        log.transact(appending("run/a")).result()
        assert log.home.log.read_bytes()[18:20] == b"\2\2"


def test_a_hot_journal_is_rolled_back(stopped: Path, tmp_path: Path) -> None:
    """Killed in the middle of a commit without a WAL: the store opens with what was committed before."""
    with opened(stopped, unsafe_filesystem=True) as log:
        position = log.head().position
    with closing(sqlite3.connect(stopped / "log.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE counts SET events = 9, stream = stream || ?", ("x" * 9_000,))
        shutil.copytree(stopped, tmp_path / "copy")
        connection.execute("ROLLBACK")
    assert (tmp_path / "copy" / "log.sqlite-journal").stat().st_size > 0
    with EventLog.open(
        tmp_path / "copy", layout=LAYOUT, control=Counts(), unsafe_filesystem=True, adopting=True
    ) as log:
        assert log.head().position == position


def test_the_layout_of_the_events_alone_is_a_layout(tmp_path: Path) -> None:
    """Who keeps no rows needs no more."""
    from support.rows import Nothing

    with EventLog.open(tmp_path / "home", layout=EVENTS_LAYOUT, control=Nothing()) as log:
        assert log.transact(appending("run/a")).result().first == 2
    assert isinstance(EVENTS_LAYOUT, Layout)


def test_settings_are_asserted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of SQLite that ignores one is refused."""
    from runwright.eventstore.errors import StoreUnavailable

    monkeypatch.setattr(database, "_SETTINGS", [("synchronous", "NORMAL", 2)])
    with pytest.raises(StoreUnavailable, match="synchronous"):
        opened(tmp_path / "home")
