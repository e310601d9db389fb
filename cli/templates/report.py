"""Report on a git repository: commits, authors, and the lines of its files.

`runwright demo` runs this workflow, kills its worker in the middle, and lets it recover. The shell nodes only read,
so after a crash they may simply be run again. Writing the report is an *observed* effect: after a crash Runwright
first looks whether the file is there.
"""

import os
import time
from collections import Counter
from pathlib import Path, PurePosixPath

from attrs import frozen

from runwright import Absent, Command, Context, Observation, Present, ShellResult, Workflow

#: How long counting lasts at least (seconds), so that there is time to kill it; and files that are looked at.
LASTS, MOST = 2.5, 2_000


@frozen
class Repository:
    """What to report on, and where the report goes (relative to the folder the run was started in)."""

    path: str = "."
    output: str = "report.md"


@frozen
class Page:
    """What is to be written where."""

    path: str
    text: str


report = Workflow("report", input=Repository)


def git(ctx: Context[Repository], *arguments: str) -> Command:
    """Build a git command for the repository."""
    return Command(["git", "-C", str(ctx.cwd / ctx.input.path), "-c", "core.quotePath=off", *arguments])


def parse_authors(result: ShellResult) -> dict[str, int]:
    """Count commits by author."""
    return dict(Counter(line for line in result.stdout.splitlines() if line).most_common(10))


def parse_files(result: ShellResult) -> list[str]:
    """Read names that end with a NUL."""
    return [name for name in result.stdout.split("\0") if name][:MOST]


@report.shell(recovery="idempotent", parse=parse_authors)
def authors(ctx: Context[Repository]) -> Command:
    """List the author of each of the last commits."""
    return git(ctx, "log", "-n", "5000", "--format=%aN", "HEAD", "--")


@report.shell(recovery="idempotent", parse=parse_files)
def files(ctx: Context[Repository]) -> Command:
    """List the files."""
    return git(ctx, "ls-files", "-z")


@report.compute
def count_lines(ctx: Context[Repository]) -> dict[str, int]:
    """Count the lines of each file by its ending, slowly enough to be watched."""
    names, lines = ctx.output(files), Counter[str]()
    for number, name in enumerate(names, start=1):
        try:
            content = (ctx.cwd / ctx.input.path / name).read_bytes()
        except OSError:
            continue  # a submodule, or a link to nowhere
        lines[PurePosixPath(name).suffix or "no ending"] += content.count(b"\n")
        ctx.update(completed=number, total=len(names), unit="files")
        time.sleep(LASTS / max(len(names), 1))
    return dict(lines.most_common(10))


@report.compute
def compose(ctx: Context[Repository]) -> str:
    """Put the figures together."""
    parts = ["# Repository report", "## Authors", table("author", "commits", ctx.output(authors))]
    parts += ["## Lines", table("ending", "lines", ctx.output(count_lines))]
    return "\n\n".join(parts) + "\n"


def table(name: str, unit: str, rows: dict[str, int]) -> str:
    """Draw a two-column Markdown table."""
    cells = [f"| {text.replace('|', chr(92) + '|')} | {number:,} |" for text, number in rows.items()]
    return "\n".join([f"| {name} | {unit} |", "| --- | ---: |", *cells])


def page(ctx: Context[Repository]) -> Page:
    """Say what is to be written, once per visit."""
    return Page(str(ctx.cwd / ctx.input.output), ctx.output(compose))


def is_written(_: Context[Repository], request: Page) -> Observation[str]:
    """Look whether the file holds exactly what was asked for."""
    path = Path(request.path)
    return Present(request.path) if path.is_file() and path.read_text("utf-8") == request.text else Absent()


@report.action(request=page, observe=is_written)
def write(_: Context[Repository], request: Page) -> str:
    """Write the report whole or not at all: beside it first, then renamed."""
    beside = Path(f"{request.path}.{os.getpid()}")
    beside.write_text(request.text, "utf-8")
    beside.replace(request.path)
    return request.path


report.entry(authors)
report.then(authors, files)
report.then(files, count_lines)
report.then(count_lines, compose)
report.then(compose, write)
