"""The state directory: made private, and refused where it is not."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from runwright.eventstore.adoption import store_standing
from runwright.eventstore.errors import StoreMissing, UnsafeHome, UnusableHome
from runwright.eventstore.home import MOST_BYTES, Home, create_file
from runwright.eventstore.reader import LogReader
from support.stores import opened


def mode(path: Path) -> int:
    """Answer the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_directory_is_private_whatever_the_umask(tmp_path: Path) -> None:
    """0700 from its first instant."""
    before = os.umask(0)
    try:
        Home(tmp_path / "a" / "home").prepare()
    finally:
        os.umask(before)
    assert mode(tmp_path / "a" / "home") == 0o700


def test_an_empty_directory_is_made_private(tmp_path: Path) -> None:
    """Somebody made it for us, with the usual mode."""
    (tmp_path / "home").mkdir(mode=0o755)
    (tmp_path / "home").chmod(0o755)
    Home(tmp_path / "home").prepare()
    assert mode(tmp_path / "home") == 0o700


def test_a_used_directory_that_others_may_enter_is_refused_unchanged(tmp_path: Path) -> None:
    """It may be somebody's project: its mode is not ours to change."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "notes").touch()
    (tmp_path / "home").chmod(0o755)
    with pytest.raises(UnsafeHome, match="chmod 700"):
        Home(tmp_path / "home").prepare()
    assert mode(tmp_path / "home") == 0o755


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    """The directory has to be one."""
    (tmp_path / "home").touch()
    with pytest.raises(UnsafeHome, match="no directory"):
        Home(tmp_path / "home").prepare()


def test_what_could_never_be_a_directory_is_named(tmp_path: Path) -> None:
    """A file above it, and a path that SQLite cannot take: no system error gets out, and nothing is made."""
    (tmp_path / "file").touch()
    for above in (tmp_path / "file" / "home", tmp_path / "file" / "a" / "home"):
        with pytest.raises(UnusableHome, match="something above it is no directory"):
            Home(above).prepare()
        with pytest.raises(UnusableHome, match="something above it is no directory"):
            Home(above).check()
    with pytest.raises(UnusableHome, match="the system refuses it"):
        Home(tmp_path / ("x" * 300)).prepare()
    long = tmp_path / "long"
    while len(str(long)) < MOST_BYTES - 100:
        long = long / ("x" * 90)
    with pytest.raises(UnusableHome, match=f"SQLite can take {MOST_BYTES}"):
        Home(long / ("x" * 101)).prepare()
    assert not (tmp_path / "long").exists()


def test_the_longest_path_that_is_taken_holds_a_store(tmp_path: Path) -> None:
    """Also where it is opened again, and looked at in a folder of its own."""
    home = tmp_path.resolve() / "long"
    while len(str(home)) < MOST_BYTES - 100:
        home = home / ("x" * 90)
    home = home / ("x" * (MOST_BYTES - len(str(home)) - 1))
    assert len(str(home)) == MOST_BYTES
    for _ in range(2):
        opened(home).close()
    assert LogReader.open(home).head().position == 1


def test_nothing_is_not_the_same_as_a_file(tmp_path: Path) -> None:
    """Whoever asks about a store hears which of them it is."""
    (tmp_path / "home").touch()
    with pytest.raises(UnsafeHome, match="no directory"):
        LogReader.open(tmp_path / "home")
    with pytest.raises(UnsafeHome, match="no directory"):
        store_standing(tmp_path / "home")
    with pytest.raises(StoreMissing):
        LogReader.open(tmp_path / "missing")


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("/")], ids=["file", "link"])
def test_the_folder_of_runs_is_checked_too(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A run that could not make its own folder would only find out when it begins."""
    home = Home(tmp_path / "home")
    home.prepare()
    make(home.runs)
    with pytest.raises(UnsafeHome, match=r"runs is not safe to use: it has to be a folder"):
        home.check()


def test_a_line_to_type_can_be_typed(tmp_path: Path) -> None:
    """Paths in it are quoted."""
    (tmp_path / "my home; ls").mkdir()
    (tmp_path / "my home; ls" / "notes").touch()
    (tmp_path / "my home; ls").chmod(0o755)
    with pytest.raises(UnsafeHome) as unsafe:
        Home(tmp_path / "my home; ls").prepare()
    assert f"`chmod 700 '{tmp_path / 'my home; ls'}'`" in unsafe.value.hint


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """With the command that mends it."""
    home = Home(tmp_path / "home")
    home.prepare()
    home.log.touch(mode=0o644)
    home.log.chmod(0o644)
    with pytest.raises(UnsafeHome, match="chmod 600"):
        home.check()


@pytest.mark.parametrize("name", ["log", "lock", "store_id", "views", "receipts_key"])
def test_a_link_is_refused(tmp_path: Path, name: str) -> None:
    """Wherever it leads: the store's files stand in the directory itself."""
    home = Home(tmp_path / "home")
    home.prepare()
    (tmp_path / "elsewhere").touch(mode=0o600)
    getattr(home, name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeHome, match="link"):
        home.check()


def test_something_that_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    home = Home(tmp_path / "home")
    home.prepare()
    os.mkfifo(home.log, mode=0o600)
    with pytest.raises(UnsafeHome, match="plain file"):
        home.check()


def test_what_belongs_to_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns it can put anything there."""
    home = Home(tmp_path / "home")
    home.prepare()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnsafeHome, match="another user"):
        home.check()


@pytest.mark.parametrize("name", ["log.sqlite", "log.sqlite-wal", "log.sqlite-shm", "receipts.key"])
@pytest.mark.parametrize("kept", [0o400, 0o200, 0o000])
def test_a_file_kept_from_its_owner_is_refused_before_anything_is_opened(tmp_path: Path, name: str, kept: int) -> None:
    """By name and with what to type; else SQLite would leave files beside it that are of no use afterwards either."""
    opened(tmp_path / "home").close()
    file = tmp_path / "home" / name
    file.touch()
    file.chmod(kept)
    names = sorted(each.name for each in (tmp_path / "home").iterdir())
    with pytest.raises(UnusableHome) as refused:
        opened(tmp_path / "home")
    assert refused.value.hint == f"Run `chmod 600 {file}`."
    assert sorted(each.name for each in (tmp_path / "home").iterdir()) == names
    file.chmod(0o600)
    opened(tmp_path / "home").close()


def test_a_file_is_private_from_its_first_instant(tmp_path: Path) -> None:
    """Whatever the umask is, and never an existing one."""
    before = os.umask(0)
    try:
        os.close(create_file(tmp_path / "a"))
        os.umask(0o777)
        os.close(create_file(tmp_path / "b"))
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == mode(tmp_path / "b") == 0o600
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "a")


@pytest.mark.parametrize("run_id", ["", ".", "..", "a/b", "/a", "a\0b"])
def test_a_run_folder_never_leaves_the_directory(tmp_path: Path, run_id: str) -> None:
    """An ID is checked before it becomes a path."""
    with pytest.raises(ValueError, match="no path"):
        Home(tmp_path).run_folder(run_id)
    assert Home(tmp_path).run_folder("01J").parent.parent == tmp_path
