"""The state directory: made private, and refused where it is not."""

import os
import stat
from pathlib import Path

import pytest

from runwright.eventstore.errors import UnsafeHome
from runwright.eventstore.home import Home, create_file


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
