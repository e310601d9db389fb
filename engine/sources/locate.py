"""From a reference to where its code stands; names cannot leave their folders, and are judged before any file is."""

import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from attrs import frozen

from runwright.engine.errors import WorkflowNotFound

#: What marks the folder of a project.
MARK = ".runwright"
_GROUP = "runwright.workflows"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_IDENTIFIER = r"[^\W\d]\w*"
_MODULE = re.compile(rf"(?P<module>{_IDENTIFIER}(?:\.{_IDENTIFIER})*):(?P<variable>{_IDENTIFIER})", re.ASCII)
_FILE = re.compile(rf"(?P<file>[^:\0\\]+\.py)(?::(?P<variable>{_IDENTIFIER}))?", re.ASCII)
_LONGEST = 1024


@frozen(kw_only=True)
class Location:
    """Where the code of a reference stands.

    Attributes:
        reference: The reference as it is saved.
        project: The project's folder.
        file: The file to run, for references to files and for names with one.
        module: The module to import, for import paths and entry points.
        variable: The variable that holds the workflow; ``None`` where the file holds one only.
        prefer: The workflow's name, where a file that was found by name holds several.
    """

    reference: str
    project: Path
    file: Path | None = None
    module: str | None = None
    variable: str | None = None
    prefer: str | None = None


@frozen(kw_only=True)
class Listed:
    """A workflow that can be started by its name."""

    name: str
    origin: Literal["project", "user", "package"]
    file: Path | None


def find_project(start: Path) -> Path | None:
    """The nearest folder, from ``start`` upwards, that is marked as a project."""
    return next((folder for folder in (start, *start.parents) if (folder / MARK).is_dir()), None)


def typed_reference(text: str, cwd: Path, project: Path | None = None) -> tuple[str, Path]:
    """Read a workflow as a person types it, a file relative to where they are.

    Args:
        text: A file, a name, or an import path.
        cwd: Where they are.
        project: The project, where it was named.

    Returns:
        The reference as it is saved, and its project: the named one, the marked folder above the file or above
        ``cwd``, or else the file's own folder.

    Raises:
        WorkflowNotFound: When it is none of the three, or a file outside a project that was named.
    """
    match = _match(text, _FILE)
    if match is None:
        return text, project or find_project(cwd) or cwd
    # Read as text only: `..` is taken away without asking the file system.
    file = Path(_normal((cwd / match["file"]).as_posix()))
    folder = project or find_project(file.parent) or file.parent
    try:
        relative = file.relative_to(folder)
    except ValueError:
        raise WorkflowNotFound(shown(text), "the file is outside the project") from None
    variable = f":{match['variable']}" if match["variable"] else ""
    return f"{relative.as_posix()}{variable}", folder


def locate(reference: str, project: Path, user: Path | None = None) -> Location:
    """Find where the code of a saved reference stands.

    Args:
        reference: ``flows/review.py``, ``flows/review.py:review``, ``review``, or ``package.module:review``.
        project: The project's folder; files are relative to it.
        user: The user's configuration folder, which may hold ``workflows/``.

    Raises:
        WorkflowNotFound: When there is nothing of that name, or the name would leave its folder; whether something
            stands there is then not told.
    """
    if reference.startswith("object:"):
        raise WorkflowNotFound(shown(reference), "the program that made it has to hand it over")
    if match := _match(reference, _FILE):
        return _file(reference, match, project)
    if _match(reference, _NAME):
        return _named(reference, project, user)
    if match := _match(reference, _MODULE):
        return Location(reference=reference, project=project, module=match["module"], variable=match["variable"])
    raise WorkflowNotFound(shown(reference), "that is no file, name or import path")


def list_workflows(project: Path, user: Path | None = None) -> list[Listed]:
    """What can be started by name, the project's first; a name that was there already hides a later one."""
    listed: dict[str, Listed] = {}
    for origin, folder in _folders(project, user):
        for file in sorted(folder.glob("*.py")):
            if _NAME.fullmatch(file.stem) and not file.stem.startswith("_"):
                listed.setdefault(file.stem, Listed(name=file.stem, origin=origin, file=file))
    for point in entry_points(group=_GROUP):
        if _NAME.fullmatch(point.name):
            listed.setdefault(point.name, Listed(name=point.name, origin="package", file=None))
    return list(listed.values())


def shown(reference: str) -> str:
    """A reference as a message may show it: short, and without control characters."""
    text = "".join(each if each.isprintable() else "?" for each in reference[:80])
    return repr(text + ("…" if len(reference) > 80 else ""))


def _match(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return pattern.fullmatch(text) if len(text) <= _LONGEST else None


def _file(reference: str, match: re.Match[str], project: Path) -> Location:
    parts = match["file"].split("/")
    if any(part in ("", ".", "..") for part in parts) or not match["file"].isprintable():
        raise WorkflowNotFound(shown(reference), "a file is named relative to its project, and inside it")
    file = project.joinpath(*parts)
    if not file.is_file():
        raise WorkflowNotFound(shown(reference), "there is no such file in the project")
    return Location(reference=reference, project=project, file=file, variable=match["variable"])


def _named(name: str, project: Path, user: Path | None) -> Location:
    for _, folder in _folders(project, user):
        for stem in dict.fromkeys((name, name.replace("-", "_"))):
            file = folder / f"{stem}.py"
            if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
                return Location(reference=name, project=project, file=file, prefer=name)
    for point in entry_points(group=_GROUP, name=name):
        return Location(reference=name, project=project, module=point.module, variable=point.attr or None, prefer=name)
    raise WorkflowNotFound(shown(name))


def _folders(project: Path, user: Path | None) -> Iterator[tuple[Literal["project", "user"], Path]]:
    yield "project", project / MARK / "workflows"
    if user is not None:
        yield "user", user / "workflows"


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
