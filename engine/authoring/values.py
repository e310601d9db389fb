"""The small values that workflow code uses: times, commands, questions, results and observations."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Generic, Literal, TypeAlias, TypeVar

from attrs import field, frozen

from runwright.eventstore.values import Json

T = TypeVar("T")

Recovery: TypeAlias = Literal["manual", "idempotent"]


def seconds(n: float) -> timedelta:
    """``n`` seconds."""
    return timedelta(seconds=n)


def minutes(n: float) -> timedelta:
    """``n`` minutes."""
    return timedelta(minutes=n)


def hours(n: float) -> timedelta:
    """``n`` hours."""
    return timedelta(hours=n)


def days(n: float) -> timedelta:
    """``n`` days of 24 hours."""
    return timedelta(days=n)


@frozen
class Retry:
    """A declared retry: nothing is retried that did not ask for it.

    Attributes:
        attempts: All tries, the first included.
        first: The delay before the second try.
        factor: What each further delay is multiplied by.
        maximum: The longest delay.
    """

    attempts: int = 3
    first: timedelta = timedelta(seconds=1)
    factor: float = 2
    maximum: timedelta = timedelta(minutes=1)


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
    ) -> "Command":
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


@frozen
class NodeError:
    """Why a visit failed: a stable code and a message."""

    code: str
    message: str


@frozen
class NodeResult(Generic[T]):
    """How the last visit of a node ended."""

    outcome: Literal["completed", "failed", "timed_out", "cancelled"]
    output: T | None
    error: NodeError | None
    started_at: datetime
    finished_at: datetime


@frozen
class Choice:
    """One answer that a person can give.

    Attributes:
        name: What routes and answers name it by.
        label: What people see.
        text: ``None``: takes no text; else what to write into it, shown as a hint.
    """

    name: str
    label: str = field(default="", kw_only=True)
    text: str | None = field(default=None, kw_only=True)


@frozen
class Question:
    """What a person is asked.

    Attributes:
        title: The question.
        facts: What to know before answering.
        subject: What is being decided on; its digest is recorded with the answer.
    """

    title: str
    facts: Mapping[str, Json] = field(factory=dict, kw_only=True)
    subject: Json = field(default=None, kw_only=True)


@frozen
class Decided:
    """What was decided, by whom and when; ``timed_out`` where the declared policy did."""

    choice: str
    text: str | None
    by: str
    at: datetime
    timed_out: bool


@frozen
class Present(Generic[T]):
    """The effect happened; ``result`` is the node's output."""

    result: T | None = None


@frozen
class Absent:
    """The effect did not happen."""


@frozen
class Unclear:
    """Nobody can tell whether the effect happened: a person has to."""

    reason: str = ""


Observation: TypeAlias = Present[T] | Absent | Unclear


class Uncertain(Exception):
    """Raise it in an effect that may have happened."""
