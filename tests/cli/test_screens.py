"""The screens fit 80 columns at a terminal, on any ground, and say in words what they say in colour."""

import io
import re

import pytest

from runwright.cli.main import main
from support.command_line import CommandLine

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SCREENS: tuple[tuple[str, ...], ...] = (
    ("--help",), ("run", "--help"), ("log", "--help"), ("status",), ("status", "@last"), ("runs",), ("show", "@last"),
    ("effects",), ("events", "--limit", "20"), ("replay", "@last"), ("query",), ("query", "runs", "--limit", "2"),
    ("query", "visits"), ("check", "sample"), ("workflows",), ("config",), ("store", "status"), ("log", "verify"),
    ("projections", "verify"), ("run", "--inline", "sample", "greet"), ("show", "@last", "plan", "--values"),
)  # fmt: skip


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize("columns", [80, 120])
def test_screens_fit(cli: CommandLine, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """No screen is wider than the terminal, but for the lines that are there to be copied whole."""
    cli("run", "--inline", "sample", "greet", "-s", "count=3")
    cli(
        "run",
        "--inline",
        "sample",
        "a task that is long enough to fill more than a line of any terminal",
        "-s",
        "mode=fail",
        code=1,
    )
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    cli.queue("sample", "greet")
    for name, value in {"COLUMNS": str(columns), "LINES": "50", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    for line in SCREENS:
        terminal = Terminal()
        monkeypatch.setattr("sys.stdout", terminal)
        monkeypatch.setattr("sys.stderr", terminal)
        assert main(line) == 0
        shown = terminal.getvalue()
        assert ANSI.sub("", shown).strip(), line
        for each in re.split(r"[\r\n]+", ANSI.sub("", shown)):
            copied = "runwright " in each or re.search(r"[0-9a-f]{64}|/(tmp|private)/|^[^ ]+$", each)
            assert len(each.rstrip()) <= columns or copied, (line, each)


@pytest.mark.parametrize("word", ["completed", "failed", "queued", "ambiguous"])
def test_a_status_is_a_word_and_a_sign(word: str) -> None:
    """Colour carries no meaning alone: the plain text has the word, and a sign that is not another's."""
    from runwright.cli.rendering.marks import mark

    assert mark(word).plain.endswith(word)
    others = {mark(each).plain[0] for each in ("completed", "failed", "queued", "ambiguous", "running") if each != word}
    assert mark(word).plain[0] not in others
