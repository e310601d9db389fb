"""Law 2: a run ID that a caller has seen exists after ``kill -9``."""

import multiprocessing
import signal
from pathlib import Path

from runwright import Engine
from runwright.engine.reading.reader import Reader
from support.crash_world import KEY, RUNS, safe, start_and_tell


def test_every_id_that_was_told_is_there(tmp_path: Path) -> None:
    """Whatever the killed program had answered, the store has; and the same keys answer the same runs."""
    context = multiprocessing.get_context("forkserver")
    mine, theirs = context.Pipe(duplex=False)
    program = context.Process(target=start_and_tell, args=(str(tmp_path / "state"), theirs))
    program.start()
    theirs.close()
    told: list[str] = []
    while True:
        try:
            told.append(mine.recv())
        except EOFError:
            break
    mine.close()
    program.join(60)
    assert program.exitcode == -signal.SIGKILL
    program.close()
    assert len(told) == RUNS
    with Reader.open(tmp_path / "state") as reader:
        assert [reader.status(run_id).run_status for run_id in told] == ["queued"] * RUNS
    with Engine.open(tmp_path / "state") as engine:
        assert [engine.start(safe, {}, key=f"{KEY}-{number}", drive=False) for number in range(RUNS)] == told
