"""Loads modules of a project from their text, never from a cache, and notes what it read."""

import importlib
import os
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import takewhile
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from runwright.engine.sources.identity import SourceSet

#: What is changed for a while, the module path and the finders, belongs to the whole process.
_ONE_AT_A_TIME = threading.RLock()
_OURS = Path(__file__).resolve().parents[2]
#: Names of modules that loads of this process made.
_made: set[str] = set()
#: What `look_around` saw: the name of the module that was imported last, and where all of them lie.
_seen: tuple[str, tuple[str, ...]] = ("", ())


class Recorder(MetaPathFinder):
    """Finds modules as usual, and reads those of the project itself.

    Attributes:
        read: The SHA-256 of what was read, by file.
        elsewhere: Names of modules that loads of other projects made.
    """

    def __init__(self, roots: Sequence[Path], elsewhere: Collection[str] = ()) -> None:
        self._roots = roots
        self._last = next(reversed(sys.modules))
        self.read: dict[Path, str] = {}
        self.elsewhere = elsewhere

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module; take over where its file is the project's."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not _is_own(spec.origin, self._roots):
            return spec
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = FreshLoader(fullname, spec.origin, self)
        else:
            self.note(Path(spec.origin), Path(spec.origin).read_bytes())
        return spec

    def sources(self, project: Path) -> SourceSet:
        """What was read as a source set; a file outside the project, as in the user's folder, by its whole path."""
        home = project.resolve()
        files = {file.resolve(): digest for file, digest in self.read.items()}
        return SourceSet(
            {
                (file.relative_to(home) if file.is_relative_to(home) else file).as_posix(): digest
                for file, digest in files.items()
            }
        )

    def imported(self) -> Iterator[ModuleType]:
        """Every module that was imported since it began."""
        yield from _since(self._last).values()

    def note(self, file: Path, data: bytes) -> None:
        """Remember what a file held when it was read."""
        self.read[file] = sha256(data).hexdigest()


class FreshLoader(SourceFileLoader):
    """Compiles a module from the very bytes that are noted."""

    def __init__(self, fullname: str, path: str, recorder: Recorder) -> None:
        super().__init__(fullname, path)
        self._recorder = recorder

    def get_code(self, fullname: str) -> CodeType:
        """Read, note and compile; a cached file could be older than the text."""
        _made.add(fullname)
        data = self.get_data(self.path)
        self._recorder.note(Path(self.path), data)
        code: Any = self.source_to_code(data, self.path)
        assert isinstance(code, CodeType)
        return code


@contextmanager
def recording(folders: Sequence[Path]) -> Iterator[Recorder]:
    """Load a project's modules afresh while it lasts.

    Modules of the project that this process had imported before are put back afterwards, so that a program which
    embeds the engine keeps its own. Those that loads of other projects made are out of sight meanwhile: a file of
    this project may have the same name. They come back where it has not.

    Args:
        folders: Whose files are noted, and where imports are looked for first; they stay on the path, for imports
            inside functions.
    """
    with _ONE_AT_A_TIME:
        yield from _recording(folders)


def _recording(folders: Sequence[Path]) -> Iterator[Recorder]:
    roots = [folder.resolve() for folder in folders]
    inside = tuple(f"{str(root).rstrip(os.sep)}{os.sep}" for root in roots)
    before = {name: module for name, module in _imported(inside).items() if _belongs(module, inside, roots)}
    made = {name: sys.modules[name] for name in _made & sys.modules.keys() if _is_fresh(sys.modules[name])}
    elsewhere = {name: module for name, module in made.items() if not _belongs(module, inside, roots)}
    for name, module in {**before, **elsewhere}.items():
        _take_out(name, module)
    recorder = Recorder(roots, elsewhere)
    added = [str(folder) for folder in folders]
    old_path = list(sys.path)
    sys.path[:0] = added
    sys.meta_path.insert(0, recorder)
    importlib.invalidate_caches()
    try:
        yield recorder
    finally:
        sys.meta_path.remove(recorder)
        sys.path[:] = [*old_path, *(folder for folder in dict.fromkeys(added) if folder not in old_path)]
        kept = {name: module for name, module in before.items() if not _is_fresh(module)}
        for name, module in sorted({**elsewhere, **kept}.items()):
            if name in kept or name not in sys.modules:
                _put_back(name, module)


def _take_out(name: str, module: ModuleType) -> None:
    """Let the next import of a module load it: its package, which may stay where it is, holds it as well."""
    del sys.modules[name]
    package, own = _package_of(name)
    if package is not None and vars(package).get(own) is module:
        delattr(package, own)


def _put_back(name: str, module: ModuleType) -> None:
    sys.modules[name] = module
    package, own = _package_of(name)
    if package is not None:
        setattr(package, own, module)


def _package_of(name: str) -> tuple[ModuleType | None, str]:
    above, _, own = name.rpartition(".")
    package = sys.modules.get(above)
    return package if isinstance(package, ModuleType) else None, own


def look_around() -> None:
    """Find out now where everything lies that was imported so far; whoever is forked from here need not."""
    global _seen
    modules = sys.modules.copy()
    origins = (getattr(module, "__file__", None) for module in modules.values())
    _seen = next(reversed(modules)), tuple(_real(each) for each in origins if isinstance(each, str))


def _imported(inside: tuple[str, ...]) -> dict[str, ModuleType]:
    """The modules that may lie in some folders: those that were imported since all were seen to lie elsewhere.

    Looking at one copies memory that a forked process shares with hundreds of others.
    """
    last, places = _seen
    if not last or any(place.startswith(inside) for place in places):
        return sys.modules.copy()  # other threads of the program may import at the same time
    return _since(last)


def _since(last: str) -> dict[str, ModuleType]:
    """The modules that were imported after another one."""
    # In one go, for the same reason.
    names = list(takewhile(last.__ne__, reversed(sys.modules)))
    return {name: sys.modules[name] for name in names if name in sys.modules}


def is_project_file(origin: str, project: Path) -> bool:
    """Whether a file is the project's own: not installed into it, and not runwright's."""
    file = Path(origin).resolve()
    if not file.is_relative_to(project) or file.is_relative_to(_OURS):
        return False
    installed = {"site-packages", "dist-packages"} & set(file.relative_to(project).parts)
    return not installed and not any(_inside(file, prefix, project) for prefix in (sys.prefix, sys.base_prefix))


def _inside(file: Path, prefix: str, project: Path) -> bool:
    """Whether a file belongs to an interpreter that stands inside the project."""
    home = Path(prefix).resolve()
    return home != project and home.is_relative_to(project) and file.is_relative_to(home)


def _is_own(origin: str, roots: Sequence[Path]) -> bool:
    return any(is_project_file(origin, root) for root in roots)


def _is_fresh(module: ModuleType) -> bool:
    """Whether an earlier load made it: then it is replaced, not kept."""
    return isinstance(getattr(getattr(module, "__spec__", None), "loader", None), FreshLoader)


def _belongs(module: ModuleType, inside: tuple[str, ...], roots: Sequence[Path]) -> bool:
    origin = getattr(module, "__file__", None)
    if module.__name__ == "__main__" or not isinstance(origin, str):
        return False
    # Hundreds of modules are asked, at each launch of a worker, and all but a few lie somewhere else.
    return _real(origin).startswith(inside) and _is_own(origin, roots)


@cache
def _real(origin: str) -> str:
    """Where an imported module's file lies: it was read from there, whatever may lie there now."""
    return os.path.realpath(origin)
