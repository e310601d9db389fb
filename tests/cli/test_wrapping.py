"""What is said at a narrow terminal breaks between words, and a line to type never: it is there to be copied."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from runwright.cli.catalogue import GROUPS
from runwright.cli.main import main
from runwright.cli.rendering.wrapping import wrapped
from support.command_line import CommandLine

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
WORDS = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="`"), min_size=1, max_size=30)
TYPED = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: f"`runwright {' '.join(words)}`")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@given(pieces=st.lists(WORDS | TYPED, min_size=1, max_size=20), width=st.integers(1, 60))
def test_nothing_but_the_space_between_two_pieces_is_broken(pieces: list[str], width: int) -> None:
    """Each piece stands whole in one line; only one that is too long by itself is wider than the terminal."""
    text = " ".join(pieces)
    lines = [each.plain for each in wrapped(Text(text), width)]
    assert " ".join(lines) == text
    left = list(pieces)
    for line in lines:
        here = [left.pop(0)]
        while " ".join(here) != line:
            here.append(left.pop(0))
        assert len(here) == 1 or cell_len(line) <= width
    assert not left


def test_a_line_to_type_behind_a_colon_runs_to_the_end() -> None:
    """Without backticks, too, and what was styled stays so."""
    text = Text.assemble(("hint:  ", "bold"), "To carry it on: runwright resume 01m8rnphx11w6sfknz5t --accept-source")
    lines = list(wrapped(text, 40))
    assert [each.plain for each in lines] == [
        "hint:  To carry it on:",
        "runwright resume 01m8rnphx11w6sfknz5t --accept-source",
    ]
    assert str(lines[0].spans[0].style) == "bold"
    assert [each.plain for each in wrapped(Text("one\n\ntwo three"), 5)] == ["one", "", "two", "three"]


def test_what_goes_on_below_begins_where_the_line_began() -> None:
    """An indented line stays indented, and within the width."""
    text = Text("  What is kept in memory only is not here any more: executor 'default'.")
    assert [each.plain for each in wrapped(text, 30)] == [
        "  What is kept in memory only",
        "  is not here any more:",
        "  executor 'default'.",
    ]


def test_an_example_is_shown_as_it_is_typed(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the help, at a terminal that it is too long for."""
    for name, value in {"COLUMNS": "40", "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    assert (
        "   runwright resolve 9f3c21 done --result '\"ok\"' --reason 'seen in the mailbox'\n"
        in cli("resolve", "--help").out
    )


def test_help_stands_in_columns_and_cuts_nothing(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns each command's name is whole, what they do stands below each other, no list of choices breaks."""
    monkeypatch.setenv("COLUMNS", "80")
    catalogue = cli("--help").out.split(" Options ")[0]
    rows = re.findall(r"^│ (\S+)( +)(?=\S)", catalogue, re.MULTILINE)
    assert [name for name, _ in rows] == [name for _, commands in GROUPS for name, _ in commands]
    assert len({len(name + blanks) for name, blanks in rows}) == 1
    for name, _ in rows:
        shown = cli(name, "--help").out
        assert "…" not in shown.split(" Example")[0], name
        assert "<=x" not in shown, name
        for choices in re.findall(r"\[(\w+\|[^ ]*)", shown):
            assert choices.endswith("]"), (name, choices)


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_every_hint_can_be_copied(cli: CommandLine, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Whatever a command refuses, or leads on to, at whatever width."""
    doubt = cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", "--json", code=5).document["run_id"]
    queued = cli.queue("sample", "greet")
    lines = (
        ("wait", queued, "--timeout", "0.1"), ("pause", queued), ("cancel", "zzzz"), ("show", "@last", "plna"),
        ("resume", doubt), ("status", doubt), ("restart", doubt), ("answer", doubt), ("status", "--session", "none"),
        ("run", "smaple"), ("run", "sample", "greet", "--agent", "consol"), ("config", "capactiy"), ("shwo",),
        ("config", "capacity", "many"), ("replay", doubt, "--at", "1"), ("replay", "zzzz", "--from", "out"),
        ("host", "status"), ("log", "redact", doubt, "--reason", "x"), ("workflows",),
        ("runs", "--cursor", "x"), ("store", "adopt"), ("init", "a b"),
    )  # fmt: skip
    cli("log", "export", "-o", "out")
    cli("init", "a b")

    def said(width: int, line: tuple[str, ...]) -> str:
        for name, value in {"COLUMNS": str(width), "LINES": "50", "TERM": "xterm-256color"}.items():
            monkeypatch.setenv(name, value)
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        main(line)
        return ANSI.sub("", terminal.getvalue())

    for line in lines:
        wide, narrow = said(2000, line), said(columns, line)
        assert narrow.split() == wide.split(), line
        for typed in re.findall(r"`[^`]+`|^    runwright .*", wide, re.MULTILINE):
            assert any(typed in each for each in narrow.splitlines()), (line, typed, narrow)
        for each in narrow.splitlines():
            assert len(each) <= columns or re.search(r"`.*`|runwright |^\S+$|^    ", each), (line, each)
