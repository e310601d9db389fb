"""Report on a git repository: history, authors, file sizes, languages, TODO marks and test files.

Run it with::

    runwright run examples/repo_report.py -s path=.

The shell nodes only read, so each is declared `idempotent`: after a crash it is simply run again. Writing the
report is an *observed* effect: after a crash Runwright first looks whether the file is there, and writes it only
if it is not.
"""

import hashlib
import os
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

from attrs import frozen

from runwright import Absent, Command, Context, Observation, Present, ShellResult, Workflow, minutes

#: The name of a language by file ending; whatever is missing here counts under its ending.
LANGUAGES = {
    ".c": "C",
    ".cpp": "C++",
    ".css": "CSS",
    ".go": "Go",
    ".h": "C",
    ".html": "HTML",
    ".java": "Java",
    ".js": "JavaScript",
    ".json": "JSON",
    ".jsonl": "JSON Lines",
    ".md": "Markdown",
    ".py": "Python",
    ".rb": "Ruby",
    ".rs": "Rust",
    ".rst": "reStructuredText",
    ".sh": "Shell",
    ".sql": "SQL",
    ".toml": "TOML",
    ".ts": "TypeScript",
    ".yaml": "YAML",
    ".yml": "YAML",
}


@frozen
class Repository:
    """What to report on.

    Attributes:
        path: A folder inside a git repository.
        output: Where the report is written, relative to the folder the run was started in.
        top: How many rows each table shows.
    """

    path: str = "."
    output: str = "report.md"
    top: int = 10


@frozen
class History:
    """The commits that lead to HEAD."""

    commits: int
    first: str
    last: str
    subjects: list[str]


@frozen
class File:
    """A tracked file and its size in bytes."""

    path: str
    size: int


@frozen
class Report:
    """The finished report and the figures that the run ends with."""

    text: str
    commits: int
    authors: int
    files: int
    todos: int
    tests: int
    main_language: str


@frozen
class Page:
    """What is to be written where: the request of the one effect that writes."""

    path: str
    text: str


@frozen
class Written:
    """What was written."""

    path: str
    size: int
    sha256: str


report = Workflow("repo-report", input=Repository)


def git(ctx: Context[Repository], *arguments: str, check: bool = True) -> Command:
    """Build a git command for the repository; `core.quotePath=off` keeps names as they are."""
    return Command(
        ["git", "-C", str(ctx.cwd / ctx.input.path), "-c", "core.quotePath=off", *arguments],
        check=check,
        max_output=16_000_000,
    )


def parse_history(result: ShellResult) -> History:
    """Read one commit a line: date, tab, subject; the newest first."""
    lines = [line.partition("\t") for line in result.stdout.splitlines() if line]
    return History(
        commits=len(lines),
        first=lines[-1][0],
        last=lines[0][0],
        subjects=[subject for _, _, subject in lines[:5]],
    )


def parse_authors(result: ShellResult) -> dict[str, int]:
    """Count commits by author."""
    return dict(Counter(line for line in result.stdout.splitlines() if line).most_common())


def parse_files(result: ShellResult) -> list[File]:
    """Read `git ls-tree -l -z`: mode, type, object, size, tab, path; only files have a size."""
    files: list[File] = []
    for entry in result.stdout.split("\0"):
        facts, _, path = entry.partition("\t")
        size = facts.split()[3] if path else "-"
        if size != "-":
            files.append(File(path, int(size)))
    return files


def parse_marks(result: ShellResult) -> dict[str, int]:
    """Read `git grep -c -z`: path, NUL, count."""
    pairs = [line.partition("\0") for line in result.stdout.splitlines() if line]
    return {path: int(count) for path, _, count in pairs}


@report.shell(recovery="idempotent", parse=parse_history, timeout=minutes(2))
def history(ctx: Context[Repository]) -> Command:
    """List the commits."""
    return git(ctx, "log", "--format=%as%x09%s", "HEAD", "--")


@report.shell(recovery="idempotent", parse=parse_authors, timeout=minutes(2))
def authors(ctx: Context[Repository]) -> Command:
    """List each commit's author."""
    return git(ctx, "log", "--format=%aN", "HEAD", "--")


@report.shell(recovery="idempotent", parse=parse_files, timeout=minutes(2))
def files(ctx: Context[Repository]) -> Command:
    """List the files with their sizes."""
    return git(ctx, "ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD")


@report.shell(recovery="idempotent", parse=parse_marks, timeout=minutes(2))
def todos(ctx: Context[Repository]) -> Command:
    """Count lines with a TODO mark by file; git grep exits 1 where there is none."""
    return git(ctx, "grep", "-I", "-c", "-z", "-w", "-e", "TODO", "-e", "FIXME", "HEAD", "--", ":/", check=False)


@report.compute
def tests(ctx: Context[Repository]) -> list[str]:
    """Pick the test files by the names that test runners look for."""
    return [file.path for file in ctx.output(files) if is_test(PurePosixPath(file.path))]


def is_test(path: PurePosixPath) -> bool:
    """Tell whether a path looks like a test file."""
    stem = path.name.partition(".")[0].lower()
    return stem.startswith("test_") or stem.endswith(("_test", "_spec")) or ".test." in path.name


@report.compute
def languages(ctx: Context[Repository]) -> dict[str, int]:
    """Sum up bytes by language."""
    sizes: Counter[str] = Counter()
    for file in ctx.output(files):
        ending = PurePosixPath(file.path).suffix.lower()
        sizes[LANGUAGES.get(ending, ending.lstrip(".") or "no ending")] += file.size
    return dict(sizes.most_common())


@report.compute
def compose(ctx: Context[Repository]) -> Report:
    """Put the figures together."""
    log, everything, marks = ctx.output(history), ctx.output(files), ctx.output(todos)
    people, kinds, test_files, top = ctx.output(authors), ctx.output(languages), ctx.output(tests), ctx.input.top
    largest = sorted(everything, key=lambda file: (-file.size, file.path))[:top]
    marked = sorted(
        ((path.removeprefix("HEAD:"), n) for path, n in marks.items()), key=lambda mark: (-mark[1], mark[0])
    )
    total = sum(file.size for file in everything)
    parts = [
        "# Repository report",
        f"{count(log.commits, 'commit')} by {count(len(people), 'author')} from {log.first} to {log.last}; "
        f"{count(len(everything), 'file')}, {count(total, 'byte')}.",
        "## Latest commits",
        "\n".join(f"- {subject}" for subject in log.subjects),
        "## Authors",
        table("author", "commits", list(people.items())[:top]),
        "## Languages",
        table("language", "bytes", list(kinds.items())[:top]),
        "## Largest files",
        table("file", "bytes", [(file.path, file.size) for file in largest]),
        "## TODO marks",
        table("file", "lines", marked[:top]) if marked else "None.",
        "## Test files",
        f"{len(test_files):,} of {len(everything):,} files.",
    ]
    return Report(
        text="\n\n".join(parts) + "\n",
        commits=log.commits,
        authors=len(people),
        files=len(everything),
        todos=sum(marks.values()),
        tests=len(test_files),
        main_language=next(iter(kinds), "none"),
    )


def count(number: int, thing: str) -> str:
    """Say how many there are."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def table(name: str, unit: str, rows: list[tuple[str, int]]) -> str:
    """Draw a two-column Markdown table."""
    cells = [f"| {text.replace('|', chr(92) + '|')} | {number:,} |" for text, number in rows]
    return "\n".join([f"| {name} | {unit} |", "| --- | ---: |", *cells])


def page(ctx: Context[Repository]) -> Page:
    """Say what is to be written, once per visit."""
    return Page(str(ctx.cwd / ctx.input.output), ctx.output(compose).text)


def is_written(ctx: Context[Repository], request: Page) -> Observation[Written]:
    """Look whether the file already holds exactly what was asked for."""
    try:
        found = Path(request.path).read_bytes()
    except FileNotFoundError:
        return Absent()
    wanted = request.text.encode()
    return Present(describe(request.path, wanted)) if found == wanted else Absent()


def describe(path: str, content: bytes) -> Written:
    """Say what stands in a file."""
    return Written(path, len(content), hashlib.sha256(content).hexdigest())


@report.action(request=page, observe=is_written)
def write(ctx: Context[Repository], request: Page) -> Written:
    """Write the report whole or not at all: into a temporary file, then renamed."""
    target, content = Path(request.path), request.text.encode()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".report-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return describe(request.path, content)


@report.compute
def summary(ctx: Context[Repository]) -> dict[str, str | int]:
    """End with the figures and where the report stands."""
    figures = ctx.output(compose)
    return {
        "report": ctx.output(write).path,
        "commits": figures.commits,
        "authors": figures.authors,
        "files": figures.files,
        "main_language": figures.main_language,
        "todos": figures.todos,
        "tests": figures.tests,
    }


report.entry(history)
report.then(history, authors)
report.then(authors, files)
report.then(files, todos)
report.then(todos, tests)
report.then(tests, languages)
report.then(languages, compose)
report.then(compose, write)
report.then(write, summary)
