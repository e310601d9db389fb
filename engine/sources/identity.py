"""The identity of code: every file of a source set by its SHA-256, and what has changed since."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import cast

from attrs import field, frozen

from runwright.engine.errors import PreflightError, SourceChanged, WorkflowNotFound
from runwright.engine.refusals import named
from runwright.eventstore.values import JsonObject, encode


def _sorted(files: Mapping[str, str]) -> Mapping[str, str]:
    return dict(sorted(files.items()))


@frozen(slots=False)
class SourceSet:
    """The files that loading a workflow read.

    Attributes:
        files: The SHA-256 in hex by path, relative to the project, with slashes.
    """

    files: Mapping[str, str] = field(converter=_sorted)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the whole set, in hex."""
        return sha256(encode(self.paths()).encode()).hexdigest()

    def paths(self) -> JsonObject:
        """The set as JSON: path to SHA-256."""
        return cast(JsonObject, dict(self.files))

    def changed(self, project: Path) -> tuple[str, ...]:
        """The files that are gone or that differ now; user code is not loaded for it."""
        return tuple(path for path, digest in self.files.items() if file_digest(project / path) != digest)

    def missing(self, project: Path) -> tuple[str, ...]:
        """The files that are gone."""
        return tuple(path for path in self.files if not (project / path).exists())

    def differs_from(self, other: "SourceSet") -> tuple[str, ...]:
        """The files that stand in one set only, or that differ, in order."""
        names = sorted({*self.files, *other.files})
        return tuple(name for name in names if self.files.get(name) != other.files.get(name))


def launch_refused(workflow: str, saved: SourceSet, project: Path, changed: Sequence[str]) -> PreflightError:
    """Say why a run that never started cannot begin: a file of its workflow is gone, or files have changed.

    Args:
        workflow: The workflow's name.
        saved: The files that the run was queued with.
        project: The folder that they are relative to.
        changed: Those that differ.
    """
    gone = saved.missing(project)
    if gone:
        return WorkflowNotFound(workflow, f"files of it are gone{named(gone)}")
    return SourceChanged(workflow, changed)


def source_set(project: Path, files: Iterable[Path]) -> SourceSet:
    """The set of files as they stand now."""
    return standing(project, (path.relative_to(project).as_posix() for path in files))


def standing(project: Path, paths: Iterable[str]) -> SourceSet:
    """The set of files at some paths; what is gone counts as empty text, so that it differs from anything.

    Args:
        project: The folder that they are relative to.
        paths: Their paths in it, with slashes.
    """
    return SourceSet({path: file_digest(project / path) or "" for path in paths})


def file_digest(path: Path) -> str | None:
    """The SHA-256 of a file, or ``None`` where it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
