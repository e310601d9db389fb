"""Which Python loads a project's workflows, and which variables its code sees (page 04, "Where code runs")."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from runwright.engine.errors import InterpreterUnusable

#: Where an environment keeps its Python.
_PLACES: Final = ("bin/python", "Scripts/python.exe")
#: What an activated environment says of itself.
_ACTIVATED: Final = ("VIRTUAL_ENV", "CONDA_PREFIX")


def choose_interpreter(
    project: Path, *, setting: str | None, environment: Mapping[str, str], own: Path | None = None
) -> str | None:
    """The Python that a start records: the setting's, else the project's, else that of whoever starts it.

    Whether it can be used is found out where it is asked to load something; here only that it is there.

    Args:
        project: The project's folder.
        setting: The setting ``python``: a path, relative to the project, or a command.
        environment: The variables of whoever starts the run.
        own: The environment that they run in themselves, where it is one (`sys.prefix`).

    Returns:
        Its path, as it was found: a virtual environment is told by its own path, never by what that points to.
        ``None`` for the host's own.

    Raises:
        InterpreterUnusable: The setting names nothing that can be run.
    """
    if setting is not None:
        return _named(setting, project, environment)
    activated = (Path(environment[name]) for name in _ACTIVATED if environment.get(name))
    for folder in (project / ".venv", *activated, *([] if own is None else [own])):
        if (found := _python_of(folder)) is not None:
            return found
    return None


def passed_on(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values of the variables that a run's code may see; they travel in memory and are never stored or logged.

    Args:
        names: The names; one that is not set is left out.
        environment: The variables of whoever starts the run.
    """
    return {name: environment[name] for name in names if name in environment}


def _named(setting: str, project: Path, environment: Mapping[str, str]) -> str:
    if os.sep not in setting and not setting.startswith("~"):
        found = shutil.which(setting, path=environment.get("PATH"))
        if found is None:
            raise InterpreterUnusable(setting, "there is no such command", _MEND)
        return found
    file = project / Path(setting).expanduser()
    found = _python_of(file) if file.is_dir() else str(file) if _runs(file) else None
    if found is None:
        raise InterpreterUnusable(setting, "there is no such program", _MEND)
    return found


_MEND: Final = "correct the setting `python`, or make the environment that it names"


def _python_of(folder: Path) -> str | None:
    return next((str(folder / place) for place in _PLACES if _runs(folder / place)), None)


def _runs(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)
