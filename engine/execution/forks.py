"""Processes that a function of the user's forks: each ends where the function does, and never goes on as the engine."""

import os
import traceback
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from runwright.engine.tasks import owner

T = TypeVar("T")


def end_fork(error: BaseException | None) -> NoReturn:
    """End a forked process as its function ended, with nothing of what the parent process would do at its end."""
    code = 0 if error is None else 1
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        with suppress(BaseException):
            # Past the streams of this process, whose locks threads of the parent may have held.
            os.write(2, "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace"))
    os._exit(code & 0xFF)


class Steps(Coroutine[Any, Any, T]):
    """A coroutine, step by step: a process forked in it ends before it could serve the loop that it inherited.

    It would take what arrives for its parent there.
    """

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._pid = os.getpid()

    def send(self, value: Any) -> Any:
        """Go on to where it waits next."""
        return self._step(self._work.send, value)

    def throw(self, kind: Any, value: Any = None, trace: TracebackType | None = None) -> Any:
        """Go on to where it waits next, with an exception."""
        del trace  # an exception has its own
        return self._step(self._work.throw, kind if value is None else value)

    def close(self) -> None:
        """Give it up."""
        self._work.close()

    def __await__(self) -> Generator[Any, Any, T]:
        """Be awaited as the coroutine is."""
        return self._work.__await__()

    def _step(self, step: Callable[[Any], Any], sent: Any) -> Any:
        error: BaseException | None = None
        try:
            return step(sent)
        except StopIteration:
            raise
        except BaseException as raised:
            error = raised
            raise
        finally:
            if os.getpid() != self._pid:
                end_fork(error)


def _end_with_the_turn() -> None:
    """In a task that a function began, only the loop can end the forked process: before anything arrives for it."""
    whose = owner()
    if whose is not None and whose.loop is not None:
        whose.loop.call_soon(os._exit, 0)


os.register_at_fork(after_in_child=_end_with_the_turn)
