"""C92: whatever the state directory holds belongs to its owner alone, from the first instant."""

import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command_line import CommandLine


@contextmanager
def watched(*folders: Path) -> Iterator[dict[str, int]]:
    """What stands in some folders while the block runs, however short: by name, every mode that is not its owner's."""
    seen: set[tuple[str, bool, int]] = set()
    found: dict[str, int] = {}
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            for path in (each for folder in folders for each in (folder, *folder.rglob("*"))):
                try:
                    mode = path.lstat().st_mode
                except FileNotFoundError:
                    continue  # it came and went
                seen.add((path.name, stat.S_ISDIR(mode), stat.S_IMODE(mode)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
        assert {(name, mode) for name, folder, mode in seen if mode != (0o700 if folder else 0o600)} == set()
        found.update({name: mode for name, _, mode in seen})


def test_c92_private_from_the_first_instant(cli: CommandLine, umask: None) -> None:
    """C92: under the most open umask every folder is 0700 and every file 0600, whenever somebody looks."""
    copies = cli.home.with_name("copies")
    copies.mkdir(mode=0o700)
    with watched(cli.home, copies) as found:
        cli("run", "--inline", "world.py:contracts", "-s", "mode=repeatable")
        cli("store", "backup", str(copies / "copy.sqlite"))
    files = {"log.sqlite", "log.sqlite-wal", "log.sqlite-shm", "store.id", "receipts.key", "host.lock", "copy.sqlite"}
    assert files <= found.keys()


def test_c92_what_a_host_makes_is_private_from_the_first_instant(cli: CommandLine, umask: None) -> None:
    """C92: its socket, its log, its views, and the folders of its runs."""
    with watched(cli.home) as found:
        cli("run", "world.py:contracts", "-s", "mode=failing", code=1)
        cli("projections", "rebuild", "run_list")
        cli("host", "stop")
    assert {"host.sock", "host.log", "views.sqlite", "output.log", "scratch", "log.sqlite"} <= found.keys()


@pytest.mark.parametrize("how", ["mode", "link", "file"])
def test_c92_what_others_could_enter_is_refused(cli: CommandLine, tmp_path: Path, how: str) -> None:
    """C92: a state directory that others may enter, or that is reached through a link, is refused by name."""
    cli.queue("world.py:four")
    if how == "mode":
        cli.home.chmod(0o755)
    elif how == "file":
        (cli.home / "log.sqlite").chmod(0o644)
    else:
        (cli.home / "log.sqlite").rename(tmp_path / "elsewhere.sqlite")
        (cli.home / "log.sqlite").symlink_to(tmp_path / "elsewhere.sqlite")
    for line in (("runs",), ("start", "world.py:four")):
        failure = cli(*line, "--json", code=4).document["error"]
        assert failure["code"] == "unsafe_home"
        assert str(cli.home) in failure["message"]
