"""C73: a copy or a restored file is never merged or carried on in silence; a backup has all that came before it."""

import shutil
import threading
from pathlib import Path

import pytest

from runwright import Engine, Surroundings
from runwright.eventstore.verify import verify_store
from support.command_line import CommandLine
from support.killed import KILLED, drive
from support.sound import check_sound, contents

CONTRACTS = "world.py:contracts"


def test_c73_a_backup_beside_a_writer_is_whole(cli: CommandLine, tmp_path: Path) -> None:
    """C73: each copy has every event that was committed before it began, verifies, and opens elsewhere."""
    copies = 3
    with Engine.open(cli.home) as engine:
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                engine.run("world.py:four", {}, surroundings=Surroundings(cwd=cli.project))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(copies):
                before = engine.reader.head()
                cli("store", "backup", f"copy-{number}.sqlite")
                assert verify_store(cli.project / f"copy-{number}.sqlite", head=before).ok
        finally:
            stop.set()
            writer.join()
    cli("log", "verify", "copy-0.sqlite")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    shutil.copy(cli.project / "copy-0.sqlite", elsewhere / "log.sqlite")
    (elsewhere / "log.sqlite").chmod(0o600)
    cli("runs", "--home", str(elsewhere))
    refused = cli("start", "world.py:four", "--home", str(elsewhere), "--json", code=4).document["error"]
    assert refused["code"] == "store_readonly"
    cli("store", "adopt", "--home", str(elsewhere))
    cli("run", "--inline", "world.py:four", "--home", str(elsewhere))
    check_sound(elsewhere)


@pytest.mark.parametrize("mixed", ["an older file under the WAL", "only the main file"])
def test_c73_files_that_do_not_belong_together_are_not_merged(cli: CommandLine, tmp_path: Path, mixed: str) -> None:
    """C73: an older file under a WAL that was left, and a copy without its WAL: refused or read-only, never merged."""
    cli("run", "--inline", "world.py:four")
    shutil.copy(cli.home / "log.sqlite", tmp_path / "older.sqlite")
    assert drive(cli.home, cli.project, CONTRACTS, {"mode": "repeatable", "die": ["repeatable 1"]}) == KILLED
    assert (cli.home / "log.sqlite-wal").stat().st_size > 0
    home = cli.home
    if mixed == "only the main file":
        home = tmp_path / "elsewhere"
        shutil.copytree(cli.home, home, ignore=shutil.ignore_patterns("*-wal", "*-shm"))
    else:
        (tmp_path / "older.sqlite").chmod(0o600)
        (tmp_path / "older.sqlite").rename(home / "log.sqlite")
    before = contents(home)
    refused = cli("start", "world.py:four", "--home", str(home), "--json", code=4).document["error"]
    assert refused["code"] in ("store_readonly", "store_corrupt", "store_foreign")
    after = contents(home)
    assert after[str(home / "log.sqlite")] == before[str(home / "log.sqlite")]
