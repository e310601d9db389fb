"""Carry out a small change in a copy of a git repository, and have it documented by a workflow that is mounted.

Run it with::

    runwright run examples/implement.py -s repository=. -s folder=/tmp/copies -s title="Faster start"

It prepares a workspace itself, and the mounted `document` prepares another one: two effects of the same kind that are
told apart by their full paths, `prepare` and `docs/prepare`. With `-s blocker=FILE` the run fails after its first
workspace was prepared for as long as FILE exists, and with `-s docs_blocker=FILE` inside the child: remove the file and
restart the run.
"""

from attrs import frozen
from document import (
    Change,
    Committed,
    Copy,
    Subject,
    Workspace,
    clone,
    commit,
    document,
    find_clone,
    find_commit,
    kept,
    slug,
    written,
)

from runwright import Context, Workflow, minutes


@frozen
class Task:
    """What to implement, and where.

    Attributes:
        repository: A git repository; it is only read.
        folder: Where copies are made; it is made if it is not there.
        title: What the change is called.
        pause: Seconds that the documentation waits before its page is written.
        blocker: A file that makes the run fail after its first workspace while it exists; empty for none.
        docs_blocker: The same for the documentation's workspace.
    """

    repository: str
    folder: str
    title: str
    pause: float = 0
    blocker: str = ""
    docs_blocker: str = ""


@frozen
class Implemented:
    """What came of it.

    Attributes:
        workspace: The copy with the change.
        change: The commit with the change.
        page: The file of the documentation.
        commits: How many commits the two copies have that the repository has not.
    """

    workspace: str
    change: str
    page: str
    commits: int


implement = Workflow("implement", input=Task)


def copy_for(ctx: Context[Task]) -> Copy:
    """A folder of its own for this run, node and visit."""
    target = ctx.cwd / ctx.input.folder / f"{ctx.run_id}-{ctx.path}-{ctx.visit}"
    return Copy(str(ctx.cwd / ctx.input.repository), str(target))


@implement.action(
    request=copy_for, observe=lambda ctx, request: find_clone(request), effect="workspace", timeout=minutes(5)
)
def prepare(ctx: Context[Task], request: Copy) -> Workspace:
    """Prepare a workspace."""
    return clone(request)


@implement.compute
def check(ctx: Context[Task]) -> str:
    """Find out where the change goes; fails while something stands in the way."""
    if ctx.input.blocker and (ctx.cwd / ctx.input.blocker).exists():
        raise RuntimeError("the way to the change is blocked")
    return f"changes/{slug(ctx.input.title)}.md"


def note(ctx: Context[Task]) -> Change:
    """What is to be written and committed."""
    workspace = ctx.output(prepare)
    text = f"{ctx.input.title}\n\nOn top of {workspace.commit}.\n"
    return Change(workspace.path, ctx.output(check), text, f"Implement: {ctx.input.title}")


@implement.action(request=note, observe=lambda ctx, request: find_commit(request), timeout=minutes(1))
def change(ctx: Context[Task], request: Change) -> Committed:
    """Make the change and commit it."""
    return commit(request)


def subject(ctx: Context[Task]) -> Subject:
    """What the documentation is told: its repository is the workspace with the change."""
    task = ctx.input
    return Subject(ctx.output(prepare).path, task.folder, task.title, task.pause, task.docs_blocker)


docs = implement.include("docs", document, input=subject)


@implement.compute
def finish(ctx: Context[Task]) -> Implemented:
    """Sum up."""
    page = ctx.output(docs[written], None)
    return Implemented(
        workspace=ctx.output(prepare).path,
        change=ctx.output(change).commit,
        page=ctx.output(docs[kept], "") if page is None else page.file,
        commits=1 if page is None else 2,
    )


implement.entry(prepare)
implement.then(prepare, check)
implement.then(check, change)
implement.then(change, docs)
implement.then(docs[written], finish)
implement.then(docs[kept], finish)
