"""Document a change in a copy of a git repository; other workflows mount it as a step of their own.

Run it alone with::

    runwright run examples/document.py -s repository=. -s folder=/tmp/copies -s title="Faster start"

It never touches the repository itself: it clones it into a new folder, writes one page and commits it there. Every
effect can be looked up, so a crash anywhere repeats none of them.
"""

import re
import subprocess
from datetime import timedelta
from pathlib import Path

from attrs import frozen

from runwright import Absent, Context, Observation, Present, Workflow, minutes, seconds


@frozen
class Subject:
    """What to document, and where.

    Attributes:
        repository: A git repository.
        folder: Where copies are made; it is made if it is not there.
        title: The page's title.
        pause: Seconds to wait before the page is written; time for a person to look.
        blocker: A file that makes the work fail while it exists; empty for none.
    """

    repository: str
    folder: str
    title: str
    pause: float = 0
    blocker: str = ""


@frozen
class Copy:
    """Which repository is to be cloned where: the request of an effect that prepares a workspace."""

    source: str
    target: str


@frozen
class Workspace:
    """A copy to work in: its folder, and the commit it was made at."""

    path: str
    commit: str


@frozen
class Change:
    """A file to be committed in a workspace: the request of the effect that does it."""

    workspace: str
    file: str
    text: str
    message: str


@frozen
class Committed:
    """The file and the commit that brought it."""

    file: str
    commit: str


def git(folder: str, *arguments: str) -> str:
    """Run git in a folder, and answer what it printed."""
    identity = ("-c", "user.name=Runwright", "-c", "user.email=runwright@localhost")
    command = ["git", "-C", folder, *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def slug(title: str) -> str:
    """A title as the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "untitled"


def clone(request: Copy) -> Workspace:
    """Clone beside the target and rename: a copy that is there is whole."""
    target = Path(request.target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial")
    if partial.exists():
        subprocess.run(["rm", "-rf", str(partial)], check=True)
    git(".", "clone", "--quiet", "--no-hardlinks", request.source, str(partial))
    partial.rename(target)
    return Workspace(request.target, git(request.target, "rev-parse", "HEAD"))


def find_clone(request: Copy) -> Observation[Workspace]:
    """Look whether the copy is there; nothing has been committed in it before this is settled."""
    if not Path(request.target).exists():
        return Absent()
    return Present(Workspace(request.target, git(request.target, "rev-parse", "HEAD")))


def commit(request: Change) -> Committed:
    """Write the file and commit it."""
    file = Path(request.workspace) / request.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(request.text, encoding="utf-8")
    git(request.workspace, "add", "--", request.file)
    git(request.workspace, "commit", "--quiet", "-m", request.message, "--", request.file)
    return Committed(request.file, git(request.workspace, "rev-parse", "HEAD"))


def find_commit(request: Change) -> Observation[Committed]:
    """Look whether the last commit is this one."""
    if git(request.workspace, "log", "-1", "--format=%s") != request.message:
        return Absent()
    return Present(Committed(request.file, git(request.workspace, "rev-parse", "HEAD")))


document = Workflow("document", input=Subject)


def copy_for(ctx: Context[Subject]) -> Copy:
    """A folder of its own for this run, node and visit."""
    name = f"{ctx.run_id}-{ctx.path.replace('/', '-')}-{ctx.visit}"
    return Copy(str(ctx.cwd / ctx.input.repository), str(ctx.cwd / ctx.input.folder / name))


@document.action(
    request=copy_for, observe=lambda ctx, request: find_clone(request), effect="workspace", timeout=minutes(5)
)
def prepare(ctx: Context[Subject], request: Copy) -> Workspace:
    """Prepare a workspace."""
    return clone(request)


@document.wait
def breathe(ctx: Context[Subject]) -> timedelta:
    """Give people time to look, to pause or to cancel; it needs no process."""
    return seconds(ctx.input.pause)


@document.compute
def check(ctx: Context[Subject]) -> bool:
    """Whether the page is still to be written; fails while something stands in the way."""
    if ctx.input.blocker and (ctx.cwd / ctx.input.blocker).exists():
        raise RuntimeError("the way to the page is blocked")
    return not (Path(ctx.output(prepare).path) / page_of(ctx)).exists()


def page_of(ctx: Context[Subject]) -> str:
    """The page's file in the repository."""
    return f"docs/{slug(ctx.input.title)}.md"


def page(ctx: Context[Subject]) -> Change:
    """What is to be written and committed."""
    workspace = ctx.output(prepare)
    text = f"# {ctx.input.title}\n\nWritten for commit {workspace.commit}.\n"
    return Change(workspace.path, page_of(ctx), text, f"Document: {ctx.input.title}")


@document.action(request=page, observe=lambda ctx, request: find_commit(request), timeout=minutes(1))
def write(ctx: Context[Subject], request: Change) -> Committed:
    """Write the page and commit it."""
    return commit(request)


@document.compute
def unchanged(ctx: Context[Subject]) -> str:
    """There is such a page already."""
    return page_of(ctx)


document.entry(prepare)
document.then(prepare, breathe)
document.then(breathe, check)
document.switch(check, {True: write, False: unchanged})
written = document.exit("written", write)
kept = document.exit("kept", unchanged)
