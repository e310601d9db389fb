"""Why there is no child: the interpreter cannot be used, or the system gives no process."""

import shlex

from runwright import __version__
from runwright.engine.errors import PreflightError


class InterpreterUnusable(PreflightError):
    """An interpreter cannot run workers: it is none, or does not have this runwright.

    Attributes:
        interpreter: The Python.
    """

    code = "interpreter_unusable"

    def __init__(self, interpreter: str, problem: str) -> None:
        self.interpreter = interpreter
        command = f"{shlex.quote(interpreter)} -m pip install runwright=={__version__}"
        super().__init__(f"The interpreter {interpreter} cannot be used: {problem}.", f"`{command}` installs runwright")


class NoProcess(OSError):
    """The system gives no process for a child now."""

    def __init__(self) -> None:
        super().__init__("the system gives no process for a worker now")
