"""What a child does beforehand leaves no trace in it."""

import sys
import threading
from pathlib import Path

from runwright.engine.execution.speaking import speakers_at_work
from runwright.engine.worker.rehearsal import rehearse


def test_a_rehearsal_leaves_nothing_behind() -> None:
    """No module, no place to import from, no thread, no descriptor, and nobody who seems to have spoken."""
    rehearse()

    def traces() -> tuple[object, ...]:
        descriptors = len(list(Path("/dev/fd").iterdir()))
        speakers = speakers_at_work()  # of functions that other tests have left at work
        return set(sys.modules), list(sys.path), list(sys.meta_path), threading.active_count(), descriptors, speakers

    before = traces()
    rehearse()
    assert traces() == before
