"""Redacts what is old in a process of its own, which dies between two trees."""

import multiprocessing
import os
from pathlib import Path

from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.redacting import redact_aged

#: How a process ends that ended itself.
DIED = 9

_context = multiprocessing.get_context("spawn")


def die_between(home: Path, trees: int) -> int:
    """Redact everything that has ended, and die after so many trees; answers the exit code."""
    process = _context.Process(target=_redact, args=(str(home), trees))
    process.start()
    process.join(60)
    code = process.exitcode
    process.close()
    assert code is not None, "the process did not end"
    return code


def _redact(home: str, trees: int) -> None:
    asked = iter(range(1_000))

    def stopped() -> bool:
        if next(asked) >= trees:
            os._exit(DIED)
        return False

    holder = Holder.open(Path(home))
    redact_aged(holder.log, lambda _: 0.0, holder.clock.now(), by="tests", actor="tests", stopped=stopped)
