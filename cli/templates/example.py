"""List the Markdown files of a folder in one index file.

This file is a *workflow*: plain functions are its nodes, and the rules at the end say what runs next. Try it:

    runwright check example
    runwright run example
    runwright show @last
"""

from pathlib import Path

from attrs import frozen

from runwright import Absent, Context, Observation, Present, Workflow, minutes


# The input. Each field can be given on the command line: -s folder=docs
@frozen
class Folder:
    """What to look at, and where the index goes (relative to the folder the run was started in)."""

    folder: str = "."
    index: str = "INDEX.md"


@frozen
class Page:
    """One Markdown file."""

    path: str
    title: str


# What a node returns is stored as JSON, and rebuilt from that JSON by its type before anyone sees it.
@frozen
class Found:
    """The pages of the folder; `any` is what the switch below looks at."""

    any: bool
    pages: list[Page]


example = Workflow("example", input=Folder)


# A shell node runs a program (no shell string: a list of words). `idempotent` says that after a crash it may simply
# be run again. A node that said nothing would be `manual`: after a crash Runwright would stop and ask you.
@example.shell(recovery="idempotent", timeout=minutes(1))
def find_files(ctx: Context[Folder]) -> list[str]:
    """Find the Markdown files, none in hidden folders but this project's own."""
    shown = ["(", "-path", "*/.runwright/*", "-o", "-not", "-path", "*/.*", ")"]
    return ["find", ctx.input.folder, "-name", "*.md", "-type", "f", *shown]


# A compute node is a pure function of what stands in its context.
@example.compute
def read_titles(ctx: Context[Folder]) -> Found:
    """Take each file's first heading as its title."""
    pages: list[Page] = []
    for line in sorted(ctx.output(find_files).stdout.splitlines()):
        if Path(line) != Path(ctx.input.folder) / ctx.input.index:
            pages.append(Page(line, first_heading(ctx.cwd / line) or Path(line).stem))
    return Found(bool(pages), pages)


def first_heading(path: Path) -> str | None:
    """Answer the first heading of a Markdown file, or None."""
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if line.startswith("#"):
            return line.lstrip("#").strip()
    return None


def index_text(ctx: Context[Folder]) -> str:
    """Work out what the index should say; this is what the effect below is asked to write."""
    pages = ctx.output(read_titles).pages
    return "# Index\n\n" + "".join(f"- [{page.title}]({page.path})\n" for page in pages)


def is_written(ctx: Context[Folder], text: str) -> Observation[str]:
    """Look whether the index is there already; Runwright asks this after a crash, before it tries again."""
    path = ctx.cwd / ctx.input.index
    return Present(str(path)) if path.is_file() and path.read_text("utf-8") == text else Absent()


# An action is a side effect: it is recorded before it is tried. `observe` can tell afterwards whether it happened.
@example.action(request=index_text, observe=is_written)
def write_index(ctx: Context[Folder], text: str) -> str:
    """Write the index in one piece."""
    path = ctx.cwd / ctx.input.index
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, "utf-8")
    beside.replace(path)
    return str(path)


# What a notify node says reaches people while the run goes on: `run`, `watch` and `show` print it.
@example.notify
def tell(ctx: Context[Folder]) -> str:
    """Say what was found before it is written down."""
    titles = [page.title for page in ctx.output(read_titles).pages]
    more = f" and {len(titles) - 3} more" if len(titles) > 3 else ""
    return f"{ctx.input.index} will list: {', '.join(titles[:3])}{more}"


@example.compute
def nothing_found(ctx: Context[Folder]) -> str:
    """Say so when there is nothing to list."""
    return f"no Markdown files in {ctx.input.folder}"


# The rules: where a run begins, and what follows what. A node without a rule ends the run with its output.
example.entry(find_files)
example.then(find_files, read_titles)
example.switch(read_titles, {True: tell, False: nothing_found}, on="$.any")
example.then(tell, write_index)
