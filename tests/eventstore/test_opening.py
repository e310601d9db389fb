"""Opening a store: a new one is built whole, what a crash left is put right, and what is set is asserted."""

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

from runwright.eventstore import database, opening
from runwright.eventstore.errors import StoreMissing
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.table import APPLICATION_ID, EVENTS_LAYOUT, Layout
from support.rows import LAYOUT, Counts
from support.stores import appending, opened


def adopting(home: Path) -> None:
    """Open and close a store, wherever it came from."""
    EventLog.open(home, layout=LAYOUT, control=Counts(), adopting=True).close()


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


def test_a_whole_store_opens_in_either_state(home: Path) -> None:
    """And nothing of the look that precedes is left behind."""
    adopting(home)
    with EventLog.open(home, layout=LAYOUT, control=Counts(), adopting=True) as log:
        assert not (home / "look").exists()
        assert log.head().position >= 41


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
