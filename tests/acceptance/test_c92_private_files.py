"""C92: whatever the state directory holds belongs to its owner alone, from the first instant."""

import stat
import threading
from pathlib import Path

import pytest

from support.command_line import CommandLine


def test_c92_private_from_the_first_instant(cli: CommandLine, umask: None) -> None:
    """C92: under the most open umask every folder is 0700 and every file 0600, whenever somebody looks."""
    seen: set[tuple[str, bool, int]] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            for path in (cli.home, *cli.home.rglob("*"), *cli.project.glob("copy.sqlite*")):
                try:
                    mode = path.lstat().st_mode
                except FileNotFoundError:
                    continue  # it came and went
                seen.add((path.name, stat.S_ISDIR(mode), stat.S_IMODE(mode)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        cli("run", "--inline", "world.py:contracts", "-s", "mode=repeatable")
        cli("store", "backup", "copy.sqlite")
    finally:
        done.set()
        watcher.join()
    assert {(name, mode) for name, folder, mode in seen if mode != (0o700 if folder else 0o600)} == set()
    names = {name for name, _, _ in seen}
    assert {
        "log.sqlite",
        "log.sqlite-wal",
        "log.sqlite-shm",
        "store.id",
        "receipts.key",
        "host.lock",
        "copy.sqlite",
    } <= names


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
