"""C69: a damaged store is refused with its path, what failed and what to do, and not one byte of it is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.sound import contents

PAGE = 4096


def overwrite(page: int) -> Callable[[Path], object]:
    """Put noise in the place of a page."""

    def damage(file: Path) -> None:
        with file.open("r+b") as opened:
            opened.seek((page - 1) * PAGE)
            opened.write(b"\xa5" * PAGE)

    return damage


def halve(file: Path) -> None:
    """Cut the second half off."""
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2 // PAGE * PAGE)


DAMAGES: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "page 12": (overwrite(12), {"store_corrupt"}),
    "page 2": (overwrite(2), {"store_corrupt"}),
    "half": (halve, {"store_corrupt"}),
    "empty": (lambda file: file.write_bytes(b""), {"store_corrupt"}),
    "text": (lambda file: file.write_text("this is a letter\n" * 100), {"store_foreign"}),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_c69_a_damaged_file_is_told_apart_and_left_alone(cli: CommandLine, name: str) -> None:
    """C69: exit 4, few lines, the file and the next step named; `log verify` still says what can be read."""
    for _ in range(3):
        cli("run", "--inline", "world.py:rounds")
    damage, codes = DAMAGES[name]
    damage(cli.home / "log.sqlite")
    before = contents(cli.home)
    refused = 0
    for line in (("status",), ("runs",), ("start", "world.py:four"), ("log", "export"), ("store", "status")):
        # A page that a command does not read harms it not; whoever meets it says so.
        answer = cli.ask(*line)
        assert answer.code in (0, 4), line
        if answer.code == 4:
            refused += 1
            assert len(answer.err.splitlines()) <= 6
            assert "log.sqlite" in answer.err
        if answer.code == 4 and line != ("log", "export"):
            failure = cli(*line, "--json", code=4).document["error"]
            assert failure["code"] in codes
            assert failure["hint"]
    assert refused >= (1 if name == "page 12" else 5)
    verdict = cli.ask("log", "verify", "--json")
    assert verdict.code in (1, 4)
    if verdict.code == 1:
        assert verdict.document["ok"] is False
    if name == "page 12":
        return  # a command that did not meet it may have begun its work
    assert {path: digest for path, digest in contents(cli.home).items() if not path.endswith("host.lock")} == {
        path: digest for path, digest in before.items() if not path.endswith("host.lock")
    }
