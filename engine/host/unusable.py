"""Why there is no child: the interpreter cannot be used, or the system gives no process."""

import shlex

from runwright import __version__
from runwright.engine.errors import InterpreterUnusable


def unusable(interpreter: str, why: str) -> InterpreterUnusable:
    """The refusal of an interpreter that cannot run workers, with the command that helps."""
    command = f"{shlex.quote(interpreter)} -m pip install runwright=={__version__}"
    return InterpreterUnusable(interpreter, why, f"`{command}` installs runwright into it")


class NoProcess(OSError):
    """The system gives no process for a child now."""

    def __init__(self) -> None:
        super().__init__("the system gives no process for a worker now")
