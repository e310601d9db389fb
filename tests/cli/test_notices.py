"""What a run tells people reaches them: while it goes on and afterwards, and whole where that is asked for."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from runwright import AsyncEngine
from support.command_line import CommandLine
from support.command_processes import Project, at_terminal
from support.engine_session import attached
from support.golden import check

FLOW = Path(__file__).parent / "flows" / "telling.py"


@pytest.fixture
def telling(cli: CommandLine) -> CommandLine:
    """The telling workflow in the project."""
    shutil.copy(FLOW, cli.project / "telling.py")
    return cli


def test_whoever_follows_a_run_is_told(telling: CommandLine) -> None:
    """In a pipe each notification is a line of its own, before the end of its node; nothing steers the terminal."""
    told = telling("run", "--inline", "telling.py").err.splitlines()
    lines = [each.strip() for each in told]
    first = lines.index("» half  Half of 3 parts. \\x1b[31mThe rest follows.")
    assert lines[first + 1].startswith("✓ half")
    assert "» done  All of it is done." in lines


def test_a_run_shows_afterwards_what_it_told(telling: CommandLine, tmp_path: Path) -> None:
    """All of a run with time and node on a line each; one node's text whole; both for machines, too."""
    telling("run", "--inline", "telling.py")
    shown = telling("show", "@last").out.partition("Notifications\n")[2].splitlines()
    assert [each.split("  ", 3)[2:] for each in shown] == [
        ["half", "Half of 3 parts. \\x1b[31mThe rest follows."],
        ["done", "All of it is done."],
    ]
    assert (
        "      told\n      Half of 3 parts.\n      \\x1b[31mThe rest follows.\n" in telling("show", "@last", "half").out
    )
    assert "told" not in telling("show", "@last", "work").out
    check("show_notified", telling("show", "@last", "--json").document["notifications"], tmp_path)
    check("show_node_notified", telling("show", "@last", "half", "--values", "--json").document, tmp_path)


def test_what_was_erased_is_shown_as_erased(telling: CommandLine) -> None:
    """That something was told stays; what it was is nowhere."""
    telling("run", "--inline", "telling.py")
    telling("log", "redact", "@last", "--reason", "asked for")
    for line in (("show", "@last"), ("show", "@last", "half"), ("show", "@last", "half", "--values")):
        shown = telling(*line).out
        assert "(erased)" in shown
        assert "Half of" not in shown


def test_what_a_session_is_told_is_shown_here_as_well(telling: CommandLine) -> None:
    """Its text, and whether the session has seen it."""

    async def in_session() -> str:
        async with AsyncEngine.open(telling.home) as engine:
            session = await attached(engine)
            run_id = await engine.start("telling.py", {}, session="s1")
            await session.settle()
            await engine.wait(run_id)
            while not session.branch:
                await session.receive()
            return run_id

    run_id = asyncio.run(in_session())
    assert "  done  All of it is done.\n" in telling("show", run_id).out
    assert "told, and seen in its session\n      Half of 3 parts." in telling("show", run_id, "half").out
    assert "told, and not yet seen in its session\n      All of it" in telling("show", run_id, "done").out


def test_at_a_terminal_it_stands_below_the_graph(tmp_path: Path) -> None:
    """Also when the run is over, for whoever looks only then."""
    project = Project(tmp_path, FLOW)
    project.run("run", "telling.py", "--inline")
    screen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", at_terminal(project, "watch", "@last").decode())
    assert screen.rindex("» done  All of it is done.") > screen.rindex("✓ done")
