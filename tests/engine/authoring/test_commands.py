"""Commands: what cannot be one is refused where it is written."""

from pathlib import Path
from typing import Any

import pytest

from runwright import Command
from runwright.engine.execution.commands import as_command


@pytest.mark.parametrize(
    ("argv", "how", "words"),
    [
        ("ls -l", {}, "a list of texts, not str; for a shell string write Command.sh"),
        (b"ls", {}, "not bytes"),
        (None, {}, "not NoneType"),
        ([], {}, "the command is empty"),
        (["ls", 3], {}, "an argument is int"),
        (["ls", "a\0b"], {}, "an argument holds a NUL character"),
        (["ls"], {"max_output": -1}, "max_output is -1: give 0 bytes or more"),
        (["ls"], {"max_output": 1.5}, "max_output is float"),
        (["ls"], {"max_output": True}, "max_output is bool"),
        (["ls"], {"check": "no"}, "check is str"),
        (["ls"], {"stdin": b"x"}, "stdin is bytes"),
        (["ls"], {"cwd": 3}, "cwd is int"),
        (["ls"], {"stdout_to": Path("a\0b")}, "stdout_to holds a NUL character"),
        (["ls"], {"env": ["A=1"]}, "env is list"),
        (["ls"], {"env": {"A": 1}}, "a value in env is int"),
        (["ls"], {"env": {"A=B": "1"}}, "holds an equals sign"),
        (["ls"], {"env": {"": "1"}}, "is empty"),
    ],
)
def test_what_is_no_command(argv: Any, how: dict[str, Any], words: str) -> None:
    """The sentence names the field, and what to give."""
    with pytest.raises((TypeError, ValueError), match=words):
        Command(argv, **how)


def test_sh_is_checked_too() -> None:
    """The second way to write a command is no way around."""
    with pytest.raises(ValueError, match="max_output is -5"):
        Command.sh("ls", max_output=-5)


def test_what_is_a_command() -> None:
    """Every field at its edge."""
    command = Command(("ls",), cwd=Path("a"), env={"A": ""}, stdin="", stdout_to=Path("b"), check=False, max_output=0)
    assert as_command(command) is command


def test_a_list_that_grew_is_checked_again() -> None:
    """A command holds the list that it was given."""
    argv: list[Any] = ["ls"]
    command = Command(argv)
    argv.append(3)
    with pytest.raises(TypeError, match="an argument is int"):
        as_command(command)
