"""Programs to run, and what they did."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from attrs import field, frozen


@frozen
class Command:
    """A program to run: its arguments, never a shell string (see `sh` for the one way to that).

    Attributes:
        argv: The program and its arguments.
        cwd: Where it runs; by default the run's folder.
        env: Variables on top of the environment; their values are never stored.
        stdin: The text it reads, or nothing.
        stdout_to: A file that gets all of stdout, uncapped.
        check: Whether a non-zero exit fails the node.
        max_output: The bytes of each stream that are kept.

    Raises:
        TypeError: A part of it is of another type.
        ValueError: It is empty, a bound is negative, or a text holds what no program can be given.
    """

    argv: Sequence[str]
    cwd: Path | None = field(default=None, kw_only=True)
    env: Mapping[str, str] = field(factory=dict, kw_only=True)
    stdin: str | None = field(default=None, kw_only=True)
    stdout_to: Path | None = field(default=None, kw_only=True)
    check: bool = field(default=True, kw_only=True)
    max_output: int = field(default=1_000_000, kw_only=True)

    def __attrs_post_init__(self) -> None:
        check_command(self)

    @classmethod
    def sh(
        cls,
        text: str,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
        stdout_to: Path | None = None,
        check: bool = True,
        max_output: int = 1_000_000,
    ) -> Command:
        """A command line for ``/bin/sh``, for pipes and globs; quote what comes from outside with `shlex`."""
        return cls(
            ["/bin/sh", "-c", text],
            cwd=cwd,
            env=env or {},
            stdin=stdin,
            stdout_to=stdout_to,
            check=check,
            max_output=max_output,
        )


def check_command(command: Command) -> None:
    """Refuse a command that no program can be started with, where it is written.

    Raises:
        TypeError: A part of it is of another type.
        ValueError: It is empty, a bound is negative, or a text holds what no program can be given.
    """
    argv, env, most = _unknown(command.argv), _unknown(command.env), _unknown(command.max_output)
    if isinstance(argv, str | bytes) or not isinstance(argv, Sequence):
        raise TypeError(
            f"a command's arguments are a list of texts, not {_kind(argv)}; for a shell string write Command.sh(…)"
        )
    if not argv:
        raise ValueError("the command is empty: its first argument names the program")
    _check_texts("an argument", argv)
    if not isinstance(env, Mapping):
        raise TypeError(f"env is {_kind(env)}: give names and values")
    _check_texts("a name in env", env)
    _check_texts("a value in env", env.values())
    if any(not name or "=" in name for name in env):
        raise ValueError("a name in env is empty or holds an equals sign, which no variable can have")
    for what, path in (("cwd", command.cwd), ("stdout_to", command.stdout_to)):
        if path is not None and not isinstance(_unknown(path), str | PathLike):
            raise TypeError(f"{what} is {_kind(path)}: give a path")
        if path is not None:
            _check_texts(what, [str(path)])
    if command.stdin is not None and not isinstance(_unknown(command.stdin), str):
        raise TypeError(f"stdin is {_kind(command.stdin)}: give a str")
    if not isinstance(_unknown(command.check), bool):
        raise TypeError(f"check is {_kind(command.check)}: give True or False")
    if isinstance(most, bool) or not isinstance(most, int):
        raise TypeError(f"max_output is {_kind(most)}: give a number of bytes")
    if most < 0:
        raise ValueError(f"max_output is {most}: give 0 bytes or more")


def _check_texts(what: str, texts: Iterable[object]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{what} is {_kind(text)}: give a str")
        if "\0" in text:
            raise ValueError(f"{what} holds a NUL character, which no program can be given")


def _kind(value: object) -> str:
    return type(value).__name__


def _unknown(value: object) -> object:
    """A value as it may be whatever its annotation says."""
    return value


@frozen
class OutputFile:
    """A file that a command's output was written to."""

    path: Path
    size: int
    sha256: str


@frozen
class ShellResult:
    """What a command did.

    Attributes:
        stdout: What it printed, as text, up to the command's limit.
        stderr: The same for its errors.
        exit_code: How it ended.
        stdout_cut: Whether there was more of stdout.
        stderr_cut: Whether there was more of stderr.
        seconds: How long it took.
        stdout_file: The file, where the command named one.
    """

    stdout: str
    stderr: str = ""
    exit_code: int = 0
    stdout_cut: bool = False
    stderr_cut: bool = False
    seconds: float = 0.0
    stdout_file: OutputFile | None = None
