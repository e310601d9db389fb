"""Loads a workflow fresh in this process, and says safely what went wrong."""

import importlib
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from pathlib import Path
from types import ModuleType
from typing import Any

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.errors import WorkflowInvalid, WorkflowNotFound
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.locate import Location, locate, shown
from runwright.engine.sources.recording import FreshLoader, Recorder, recording

#: How the refusal begins of a file that holds more than one; what it needs is a name.
SEVERAL = "The file defines several workflows"
_LOG = logging.getLogger(__name__)


def load(reference: str, project: Path, user: Path | None = None) -> Loaded:
    """Load and compile a workflow with all that it mounts.

    Args:
        reference: How it is named; see `locate`.
        project: The project's folder.
        user: The user's configuration folder.

    Raises:
        WorkflowNotFound: When there is no such workflow.
        WorkflowInvalid: When it cannot be loaded, or its definition does not hold; with all problems.
    """
    with loading(reference, project, user) as (workflow, resolve, recorder):
        program = compile_workflow(workflow, resolve)
    return Loaded(program=program, reference=reference, project=project, sources=recorder.sources(project))


@contextmanager
def loading(reference: str, project: Path, user: Path | None = None) -> Iterator[tuple[Workflow[Any], Any, Recorder]]:
    """Load a workflow without judging it, for `check`: the workflow, what resolves its children, what was read."""
    location = locate(reference, project, user)
    folders = [location.file.parent] if location.file is not None else []
    with recording([*folders, project]) as recorder:
        known: dict[Path, ModuleType] = {}

        def resolve(child: str) -> Workflow[Any]:
            return _workflow(locate(child, project, user), recorder, known)

        yield _workflow(location, recorder, known), resolve, recorder


def _workflow(location: Location, recorder: Recorder, known: dict[Path, ModuleType]) -> Workflow[Any]:
    if location.file is not None:
        module = known.get(location.file)
        if module is None:
            module = known[location.file] = _run(location, location.file, recorder)
    else:
        assert location.module is not None
        with _safely(location):
            module = importlib.import_module(location.module)
    return _pick(location, module)


def _run(location: Location, file: Path, recorder: Recorder) -> ModuleType:
    """Run a file as a module of its own name, so that its classes and functions can be found in it."""
    imported = _imported(file, recorder)
    if imported is not None:
        return imported  # another workflow of this load has imported it already
    name = _free_name(file.stem, recorder)
    spec = spec_from_file_location(name, file, loader=FreshLoader(name, str(file), recorder))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _safely(location):
            spec.loader.exec_module(module)
    except WorkflowInvalid:
        sys.modules.pop(name, None)
        raise
    return module


def _free_name(stem: str, recorder: Recorder) -> str:
    """A module name that no other one has: the file's own, where it is free."""
    numbered = (f"runwright_workflow_{stem}_{number}" for number in count(2))
    names = chain((stem, f"runwright_workflow_{stem}"), numbered)
    return next(name for name in names if name not in sys.modules and name not in recorder.elsewhere)


def _imported(file: Path, recorder: Recorder) -> ModuleType | None:
    found = (module for module in recorder.imported() if getattr(module, "__file__", None) == str(file))
    return next(found, None)


@contextmanager
def _safely(location: Location) -> Iterator[None]:
    """Turn whatever loading raises into where it was raised and its type; its text stays in the debug log."""
    try:
        yield
    except (Exception, SystemExit) as problem:  # noqa: BLE001 (user code may raise anything)
        _LOG.debug("loading %s failed", shown(location.reference), exc_info=True)
        if _module_missing(location, problem):
            raise WorkflowNotFound(shown(location.reference), "there is no such module") from None
        raise WorkflowInvalid(shown(location.reference), [_described(problem, location)]) from None


def _module_missing(location: Location, problem: BaseException) -> bool:
    """Whether it is the named module itself, or a package above it, that is missing."""
    if not isinstance(problem, ModuleNotFoundError) or location.module is None or problem.name is None:
        return False
    return f"{location.module}.".startswith(f"{problem.name}.")


def _described(problem: BaseException, location: Location) -> str:
    file, line = _where(problem, location)
    where = f"{file}:{line}" if line else file
    match problem:
        case SyntaxError():
            return f"{where}: it is no Python of this version ({type(problem).__name__})."
        case ModuleNotFoundError() if problem.name:
            return f"{where}: the module {problem.name!r} is not installed here."
        case _:
            return f"{where}: loading it raised {type(problem).__name__}."


def _where(problem: BaseException, location: Location) -> tuple[str, int]:
    """The last line of the project that loading came to."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return _relative(Path(problem.filename), location.project), problem.lineno or 0
    found = (location.reference, 0)
    trace = problem.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if file.is_relative_to(location.project):
            found = (_relative(file, location.project), trace.tb_lineno)
        trace = trace.tb_next
    return found


def _pick(location: Location, module: ModuleType) -> Workflow[Any]:
    """The one workflow that a reference means."""
    reference = shown(location.reference)
    if location.variable is not None:
        value = getattr(module, location.variable, None)
        if not isinstance(value, Workflow):
            raise WorkflowNotFound(reference, f"{location.variable!r} is no workflow of it")
        return value
    found = {name: value for name, value in vars(module).items() if isinstance(value, Workflow)}
    own = {name: value for name, value in found.items() if value.module == module.__name__} or found
    chosen = {id(value): value for value in own.values()}
    named = [value for value in chosen.values() if value.name == location.prefer]
    if len(named) == 1:
        return named[0]
    if len(chosen) == 1:
        return next(iter(chosen.values()))
    if not chosen:
        raise WorkflowInvalid(reference, ["The file defines no Workflow."])
    options = ", ".join(f"{location.reference}:{name}" for name in own)
    raise WorkflowInvalid(reference, [f"{SEVERAL}; name one: {options}."])


def _relative(file: Path, project: Path) -> str:
    file, project = file.resolve(), project.resolve()
    return file.relative_to(project).as_posix() if file.is_relative_to(project) else file.name
