"""Is the socket's place the home, or one as private where that path is too long?"""

import os
import stat
from pathlib import Path

import pytest

from runwright.engine.protocol.place import MOST_BYTES, prepare_folder, socket_path
from runwright.eventstore.errors import UnsafeHome, UnusableHome

LOG = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A home whose path is too long for a socket."""
    return tmp_path.joinpath(*["x" * 40] * 4)


def test_it_stands_in_the_home(tmp_path: Path) -> None:
    """A home with a short path holds its socket."""
    home = Path("/tmp/home")
    assert socket_path(home, LOG) == home / "host.sock"


def test_a_long_path_gets_a_private_folder(deep: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The user's runtime folder is used, in it a folder of our own that is named by the log's ID."""
    runtime = Path("/tmp") / f"rw{os.getpid()}"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    try:
        path = socket_path(deep, LOG)
        assert path == runtime / f"runwright-{LOG}" / "host.sock"
        assert len(os.fsencode(path)) <= MOST_BYTES
        prepare_folder(path)
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert socket_path(deep, LOG) == path
        path.parent.chmod(0o755)
        with pytest.raises(UnsafeHome, match="others may enter"):
            socket_path(deep, LOG)
        path.parent.rmdir()
        path.parent.write_text("")
        with pytest.raises(UnsafeHome, match="no folder"):
            socket_path(deep, LOG)
        path.parent.unlink()
        path.parent.symlink_to("/tmp")
        with pytest.raises(UnsafeHome, match="no folder"):
            prepare_folder(path)
        path.parent.unlink()
    finally:
        runtime.rmdir()


def test_another_users_folder_is_refused(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever made the folder first could read every frame: it has to be ours."""
    runtime = Path("/tmp") / f"rw{os.getpid()}"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    path = socket_path(deep, LOG)
    try:
        prepare_folder(path)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(UnsafeHome, match="another user"):
            socket_path(deep, LOG)
    finally:
        path.parent.rmdir()
        runtime.rmdir()


def test_a_runtime_folder_that_is_none_is_passed_over(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative, missing or too deep one is not used; where nothing is short enough, it is said."""
    for value in ("", "relative", "/no/such/folder", "/tmp/" + "y" * 100):
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
        assert socket_path(deep, LOG).is_relative_to("/tmp")
    with pytest.raises(UnusableHome, match="too long"):
        socket_path(deep, LOG * 4)
