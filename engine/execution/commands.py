"""A shell node's command as an effect request, and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from runwright.engine.authoring.shell import Command, check_command
from runwright.eventstore.values import Json, JsonObject


def as_command(value: object) -> Command:
    """What a shell node's function returned, as a command.

    Raises:
        TypeError: It is no command and no list of arguments.
        ValueError: It is empty, or holds what no program can be given.
    """
    if isinstance(value, str) or not isinstance(value, Command | Sequence):
        raise TypeError(
            f"a shell node returns a list of arguments or a Command, not {type(value).__name__}; "
            "for a shell string write Command.sh(…)"
        )
    if not isinstance(value, Command):
        return Command(cast(Sequence[str], value))
    check_command(value)  # again: its list of arguments may have grown since it was written
    return value


def as_request(command: Command) -> JsonObject:
    """The command as it is asked for; whoever saves it keeps only an HMAC of each value in its environment."""
    return {
        "argv": list(command.argv),
        "cwd": None if command.cwd is None else str(command.cwd),
        "env": dict(command.env),
        "stdin": command.stdin,
        "stdout_to": None if command.stdout_to is None else str(command.stdout_to),
        "check": command.check,
        "max_output": command.max_output,
    }


def from_request(request: Json) -> Command:
    """The command behind a request."""
    saved = cast(dict[str, Any], request)
    return Command(
        saved["argv"],
        cwd=None if saved["cwd"] is None else Path(saved["cwd"]),
        env=saved["env"],
        stdin=saved["stdin"],
        stdout_to=None if saved["stdout_to"] is None else Path(saved["stdout_to"]),
        check=saved["check"],
        max_output=saved["max_output"],
    )
