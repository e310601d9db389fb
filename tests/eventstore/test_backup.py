"""A backup is one verified file with every event that was committed before it began."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runwright.eventstore.backup import backup
from runwright.eventstore.errors import StoreCorrupt, StoreForeign, StoreMissing, UnsafeHome
from runwright.eventstore.transfer.errors import TargetExists, TargetUnwritable
from runwright.eventstore.verify import verify_store
from support.audited import append, make_store, open_log, tamper
from support.chained import run_events


def test_a_backup_is_one_private_verified_file(tmp_path: Path) -> None:
    """0600, nothing beside it, the same head; also under an open umask."""
    head = make_store(tmp_path / "home")
    before = os.umask(0)
    try:
        verdict = backup(tmp_path / "home", tmp_path / "b.sqlite")
    finally:
        os.umask(before)
    assert verdict.head == head
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.sqlite", "home"]
    assert (tmp_path / "b.sqlite").stat().st_mode & 0o777 == 0o600
    assert verify_store(tmp_path / "b.sqlite", deep=True, head=head).ok


def test_a_backup_beside_a_busy_holder_has_all_that_came_before(tmp_path: Path) -> None:
    """Commits go on meanwhile; each copy holds what was committed before it began, and verifies."""
    stop = threading.Event()
    with open_log(tmp_path / "home") as log:

        def write() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                append(log, run_events(f"run{number}", "x" * 2000))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(5):
                before = log.head()
                verdict = backup(tmp_path / "home", tmp_path / f"{number}.sqlite")
                assert verdict.head is not None
                assert verdict.head.position >= before.position
                assert verify_store(tmp_path / f"{number}.sqlite", head=before).ok
        finally:
            stop.set()
            writer.join()


def test_progress_is_told(tmp_path: Path) -> None:
    """The last call says that every page was copied."""
    make_store(tmp_path / "home")
    calls: list[tuple[int, int]] = []
    backup(tmp_path / "home", tmp_path / "b.sqlite", progress=lambda done, pages: calls.append((done, pages)))
    assert calls[-1][0] == calls[-1][1] > 0


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file, a folder and a broken link in its place are left alone."""
    make_store(tmp_path / "home")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "folder", "link"):
        with pytest.raises(TargetExists):
            backup(tmp_path / "home", tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(TargetUnwritable):
        backup(tmp_path / "home", tmp_path / "no folder" / "b.sqlite")


def test_what_a_killed_backup_left_is_written_anew(tmp_path: Path) -> None:
    """A half copy and its journal, which would be rolled back into the next one; nobody has to clear them away."""
    head = make_store(tmp_path / "home")
    part = tmp_path / "b.sqlite.runwright.part"
    lines = (
        "import os, pathlib, sys; from runwright.eventstore import backup",
        "backup.whole.copy = lambda connection, part, progress: (",
        "    part.write_bytes(b'half'), part.with_name(part.name + '-journal').write_bytes(b'x' * 600), os._exit(9))",
        "backup.backup(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))",
    )
    killed = [sys.executable, "-c", "\n".join(lines), str(tmp_path / "home"), str(tmp_path / "b.sqlite")]
    assert subprocess.run(killed, check=False).returncode == 9
    assert part.read_bytes() == b"half"
    assert backup(tmp_path / "home", tmp_path / "b.sqlite").head == head
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.sqlite", "home"]


def test_two_backups_do_not_write_one_file(tmp_path: Path) -> None:
    """The second is refused, and the first becomes whole; a link or a file open to others is not taken for a rest."""
    make_store(tmp_path / "home")
    refused: list[str] = []

    def second(done: int, pages: int) -> None:
        with pytest.raises(TargetExists) as error:
            backup(tmp_path / "home", tmp_path / "b.sqlite")
        refused.append(error.value.path.name)

    assert backup(tmp_path / "home", tmp_path / "b.sqlite", progress=second).ok
    assert set(refused) == {"b.sqlite.runwright.part"}
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "c.sqlite.runwright.part").symlink_to("mine")
    with pytest.raises(UnsafeHome):
        backup(tmp_path / "home", tmp_path / "c.sqlite")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_store_that_does_not_verify_is_not_backed_up_in_silence(tmp_path: Path) -> None:
    """The copy is verified; when it fails, nothing stays that could pass for a backup."""
    make_store(tmp_path / "home")
    tamper(tmp_path / "home", "UPDATE events SET at = 1 WHERE position = 5")
    with pytest.raises(StoreCorrupt, match="Event 5"):
        backup(tmp_path / "home", tmp_path / "b.sqlite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


def test_what_is_no_store_is_told_apart(tmp_path: Path) -> None:
    """No store, and somebody else's file."""
    with pytest.raises(StoreMissing):
        backup(tmp_path / "none", tmp_path / "b.sqlite")
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "log.sqlite").write_text("x" * 200)
    with pytest.raises(StoreForeign):
        backup(tmp_path / "home", tmp_path / "b.sqlite")
    assert not (tmp_path / "b.sqlite").exists()
