"""Which Python loads a project's workflows (page 04, "Where code runs")."""

import os
import shutil
from pathlib import Path
from typing import Final

from runwright.engine.errors import InterpreterUnusable

#: Where an environment keeps its Python.
_PLACE: Final = "bin/python"
_MEND: Final = "correct the setting `python`, or make the environment that it names"


def choose_interpreter(project: Path, *, setting: str | None, search: str | None, own: str) -> str:
    """The Python that a start records: the setting's, else the project's, else that of whoever starts it.

    Whether it can be used is found out where it is asked to load something; here only that it is there.

    Args:
        project: The project's folder.
        setting: The setting ``python``: a program or an environment, relative to the project, or a command.
        search: Where whoever starts the run looks for commands (``PATH``).
        own: The Python that they run on themselves.

    Returns:
        Its path, as it was found: a virtual environment is told by its own path, never by what that points to.

    Raises:
        InterpreterUnusable: The setting names nothing that can be run.
    """
    if setting is None:
        return _python_of(project / ".venv") or own
    if os.sep not in setting and not setting.startswith("~"):
        found = shutil.which(setting, path=search)
        if found is None:
            raise InterpreterUnusable(setting, "there is no such command", _MEND)
        return found
    file = project / Path(setting).expanduser()
    found = _python_of(file) if file.is_dir() else str(file) if _runs(file) else None
    if found is None:
        raise InterpreterUnusable(setting, "there is no such program", _MEND)
    return found


def _python_of(folder: Path) -> str | None:
    return str(folder / _PLACE) if _runs(folder / _PLACE) else None


def _runs(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)
