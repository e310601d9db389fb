"""The processes of this machine as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from runwright.engine import process_table


@pytest.mark.parametrize("listed", [True, False], ids=["as the system lists them", "looked for"])
def test_children_are_all_children(monkeypatch: pytest.MonkeyPatch, listed: bool) -> None:
    """Those that live, and those that have ended and were not fetched yet, whether the system lists them or not."""
    read = Path.read_text

    def lacking(path: Path, *args: object, **how: str) -> str:
        if path.name == "children":
            raise FileNotFoundError
        return read(path, *args, **how)  # type: ignore[arg-type]

    if not listed:
        monkeypatch.setattr(Path, "read_text", lacking)
    before = set(process_table.children())
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    ended = subprocess.Popen([sys.executable, "-c", "print()"], stdout=subprocess.PIPE)
    assert ended.stdout is not None
    ended.stdout.read()
    try:
        assert set(process_table.children()) - before == {living.pid, ended.pid}
    finally:
        living.communicate()
        ended.wait()
        ended.stdout.close()
    assert not {living.pid, ended.pid} & set(process_table.children())
