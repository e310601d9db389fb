"""Check a git repository before a release: loops, branches, a retry, a caught time limit and a durable wait.

Run it with::

    runwright run examples/release_check.py -s path=. -s 'command:=["python3", "-m", "compileall", "-q", "."]'

A dirty working tree is looked at again after a pause, three times at most; the integrity check is tried again when
it fails; a test command that takes too long is a finding and no crash. Every command only reads the repository, or
is the user's own test command, so all of them may be run again after a crash.
"""

from datetime import timedelta
from typing import Literal

from attrs import field, frozen

from runwright import Command, Context, Retry, ShellResult, Workflow, minutes, seconds


@frozen
class Release:
    """What to check.

    Attributes:
        path: A folder inside a git repository.
        command: The test command, as a list of arguments; empty for none.
        limit: How many seconds the test command may take.
        patience: How many seconds to wait before looking at a dirty working tree again.
        changelog: The file that has to tell of unreleased changes.
    """

    path: str = "."
    command: list[str] = field(factory=list[str])
    limit: float = 300
    patience: float = 30
    changelog: str = "CHANGELOG.md"


@frozen
class Tree:
    """The working tree: whether it is clean, and how many paths are not."""

    state: Literal["clean", "dirty"]
    changed: int


@frozen
class Findings:
    """What stands between the repository and a release."""

    releasable: bool
    problems: list[str]
    looks: int


release = Workflow("release-check", input=Release)


def git(ctx: Context[Release], *arguments: str, check: bool = True) -> Command:
    """Build a git command for the repository."""
    return Command(["git", "-C", str(ctx.cwd / ctx.input.path), *arguments], check=check)


def parse_tree(result: ShellResult) -> Tree:
    """Read `git status --porcelain`: one line for each path that is not clean."""
    changed = len(result.stdout.splitlines())
    return Tree("dirty" if changed else "clean", changed)


@release.shell(recovery="idempotent", parse=parse_tree, timeout=minutes(1))
def look(ctx: Context[Release]) -> Command:
    """Look at the working tree."""
    return git(ctx, "status", "--porcelain")


@release.wait
def settle(ctx: Context[Release]) -> timedelta:
    """Give whoever is working there time; the wait survives a restart and needs no process."""
    return seconds(ctx.input.patience)


@release.compute
def still_dirty(ctx: Context[Release]) -> int:
    """Note that the tree did not become clean in time."""
    return ctx.output(look).changed


@release.shell(recovery="idempotent", retry=Retry(attempts=3, first=seconds(1)), timeout=minutes(5))
def integrity(ctx: Context[Release]) -> Command:
    """Check that every object the history needs is there."""
    return git(ctx, "fsck", "--connectivity-only", "--no-dangling")


@release.compute
def broken(ctx: Context[Release]) -> str:
    """Note that the history is damaged."""
    return "the history is damaged: run git fsck --full"


@release.compute
def has_tests(ctx: Context[Release]) -> bool:
    """Tell whether there is a test command."""
    return bool(ctx.input.command)


@release.shell(recovery="idempotent", timeout=lambda ctx: ctx.input.limit)
def test(ctx: Context[Release]) -> Command:
    """Run the test command in the repository."""
    return Command(ctx.input.command, cwd=ctx.cwd / ctx.input.path)


@release.compute
def slow(ctx: Context[Release]) -> str:
    """Note that the tests took too long."""
    return f"the tests took longer than {ctx.input.limit:g} seconds"


@release.compute
def failing(ctx: Context[Release]) -> str:
    """Note that the tests failed."""
    return "the tests failed"


@release.shell(recovery="idempotent", timeout=minutes(1))
def notes(ctx: Context[Release]) -> Command:
    """Look for unreleased entries in the committed changelog."""
    return git(ctx, "grep", "-i", "-c", "unreleased", "HEAD", "--", ctx.input.changelog, check=False)


@release.compute
def verdict(ctx: Context[Release]) -> Findings:
    """Weigh what was found."""
    problems: list[str] = []
    left = ctx.output(still_dirty, 0)
    if left:
        problems.append(f"{left} paths of the working tree are not committed")
    for finding in (broken, slow, failing):
        text = ctx.output(finding, "")
        if text:
            problems.append(text)
    if ctx.output(notes).exit_code != 0:
        problems.append(f"{ctx.input.changelog} has no unreleased entries")
    return Findings(releasable=not problems, problems=problems, looks=ctx.visits(look))


release.entry(look)
release.switch(look, {"clean": integrity, "dirty": settle}, on="$.state")
release.then(settle, look)
release.limit(settle, visits=2, to=still_dirty)
release.then(still_dirty, integrity)
release.then(integrity, has_tests)
release.catch(integrity, broken)
release.then(broken, has_tests)
release.switch(has_tests, {True: test, False: notes})
release.then(test, notes)
release.catch(test, slow, on=["timed_out"])
release.catch(test, failing, on=["failed"])
release.then(slow, notes)
release.then(failing, notes)
release.then(notes, verdict)
