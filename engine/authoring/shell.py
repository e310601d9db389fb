"""Programs to run, and what they did."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    """

    argv: Sequence[str]
    cwd: Path | None = field(default=None, kw_only=True)
    env: Mapping[str, str] = field(factory=dict, kw_only=True)
    stdin: str | None = field(default=None, kw_only=True)
    stdout_to: Path | None = field(default=None, kw_only=True)
    check: bool = field(default=True, kw_only=True)
    max_output: int = field(default=1_000_000, kw_only=True)

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
