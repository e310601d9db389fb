"""The command executor: what it is told, how its answer is read, and that nothing of it is left."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.agents.command import CommandAgent, CommandFailed, read_answer
from support.asking import asking

ECHO = "import json, os, sys; print(json.dumps([sys.stdin.read(), os.environ['RUNWRIGHT_PATH'], os.getcwd()]))"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"a": 1}\n', {"a": 1}),
        ("yes\n", "yes"),
        ("Here it is:\n```json\n[1]\n```\nand better:\n```\n[2]\n```\n", [2]),
        ("```json\nnot json\n```", "```json\nnot json\n```"),
        ("NaN", "NaN"),
        ("", ""),
    ],
)
def test_reading_an_answer(text: str, answer: Any) -> None:
    """All of it, its last fenced block, or the text itself."""
    assert read_answer(text, {}) == answer


@pytest.mark.parametrize(("text", "answer"), [("42", "42"), ('"42"', "42"), ("so\n```\n[1]\n```", "so\n```\n[1]\n```")])
def test_an_answer_that_is_to_be_text_stays_text(text: str, answer: str) -> None:
    """A number on stdout is not one where a text is asked for."""
    assert read_answer(text, {"type": "string"}) == answer


async def test_the_prompt_stands_on_stdin(tmp_path: Path) -> None:
    """With the schema, why the last answer was refused, and the facts in the environment."""
    agent = CommandAgent([sys.executable, "-c", ECHO])
    request = asking(tmp_path, prompt="Do it", schema={"type": "array"}, refused="$: too short")
    answer = await agent.run(request)
    assert isinstance(answer, list)
    said, path, cwd = answer
    assert str(said).startswith("Do it\n\n")
    assert '{"type":"array"}' in str(said)
    assert "refused: $: too short" in str(said)
    assert (path, cwd) == ("review", os.path.realpath(tmp_path))


async def test_a_bad_end_raises_with_what_it_said(tmp_path: Path) -> None:
    """The end of stderr stands in the error, its own secrets struck out."""
    agent = CommandAgent(["/bin/sh", "-c", "echo $SECRET_THING is wrong >&2; exit 4"], env={"SECRET_THING": "hush"})
    said: list[str] = []
    with pytest.raises(CommandFailed) as caught:
        await agent.run(asking(tmp_path, log=said.append))
    assert caught.value.exit_code == 4
    assert str(caught.value) == "/bin/sh ended with exit code 4\n[masked] is wrong"
    assert said == ["[masked] is wrong"]


async def test_a_command_that_reads_nothing_is_fine(tmp_path: Path) -> None:
    """A prompt that nobody reads to its end is no error."""
    agent = CommandAgent(["/bin/sh", "-c", "echo '\"done\"'"])
    assert await agent.run(asking(tmp_path, prompt="x" * 1_000_000)) == "done"


async def test_cancelling_ends_the_process_group(tmp_path: Path) -> None:
    """Nothing of the command is left when the cancelled request has ended."""
    agent = CommandAgent(["/bin/sh", "-c", "sleep 300 & echo $$ > pid; sleep 300"])
    task = asyncio.ensure_future(agent.run(asking(tmp_path)))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (Path("/proc") / (tmp_path / "pid").read_text().strip()).exists()


@pytest.mark.parametrize("argv", ["claude -p", []], ids=["text", "empty"])
def test_argv_is_a_list(argv: Any) -> None:
    """A command line as one text is a mistake that is told at once."""
    with pytest.raises(TypeError):
        CommandAgent(argv)
