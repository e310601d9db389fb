"""Whose code is at work: what it prints can be told to its run and node, where a program wants that."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from runwright.engine.execution.capture import OutputLog

_speaker: "ContextVar[Speaker | None]" = ContextVar("runwright_speaker", default=None)
_lock = threading.Lock()
_at_work: "list[Speaker]" = []
#: Who was at work last: what comes late through a descriptor is theirs, rather than nobody's.
_last: "Speaker | None" = None

#: A longer line is told in parts.
_LONGEST = 64 * 1024


class Speaker:
    """One call of a function of the user's.

    Attributes:
        run_id: The run it works for.
        path: The full path of its node.
    """

    def __init__(self, run_id: str, path: str, log: OutputLog) -> None:
        self.run_id = run_id
        self.path = path
        self._log = log
        self._lock = threading.Lock()
        self._begun = ""

    def write(self, text: str) -> list[str]:
        """Take what it printed; each line goes to the run's output log as soon as it is whole.

        Returns:
            The lines that became whole.
        """
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            if len(self._begun) > _LONGEST:
                lines, self._begun = [*lines, self._begun], ""
        for line in lines:
            self.line(line)
        return lines

    def line(self, text: str) -> None:
        """Keep a line in the run's output log."""
        self._log.line(self.path, text)

    def end(self) -> None:
        """Keep a last line that never ended."""
        with self._lock:
            rest, self._begun = self._begun, ""
        if rest:
            self.line(rest)


@contextmanager
def speaking(run_id: str, path: str, log: OutputLog) -> Iterator[None]:
    """What is called in here, in tasks and threads that it begins too, speaks for a node of a run."""
    global _last
    speaker = Speaker(run_id, path, log)
    token = _speaker.set(speaker)
    with _lock:
        _at_work.append(speaker)
    try:
        yield
    finally:
        with _lock:
            _at_work.remove(speaker)
            _last = speaker
        _speaker.reset(token)
        speaker.end()


def current_speaker() -> Speaker | None:
    """Whose code calls this; ``None`` for the program's own."""
    return _speaker.get()


def speakers_at_work() -> list[Speaker]:
    """Everybody whose code is at work now, or who was last; who wrote to a file descriptor is one of them.

    What is written there arrives after a moment, in which its writer may have ended and nobody else begun.
    """
    with _lock:
        return list(_at_work) or ([] if _last is None else [_last])
