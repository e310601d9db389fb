"""Drives workflow files in a process of their own, which may die on the way, and counts what really happened."""

import multiprocessing
from collections import Counter
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from runwright import Engine, JsonObject, Surroundings

#: How a process ends that was killed.
KILLED = -9

_context = multiprocessing.get_context("forkserver")
# What an installed package can import; this module itself is on no path that the fork server knows.
_context.set_forkserver_preload(["runwright.engine.embedded.engine"])


def program(home: str, cwd: str, workflow: str, value: JsonObject, key: str) -> None:
    """Start a run, or go on with it where the key is known, until nothing moves it any more."""
    with Engine.open(home) as engine:
        run_id = engine.start(workflow, value, key=key, surroundings=Surroundings(cwd=Path(cwd)))
        engine.wait(run_id, until="waiting", timeout=60)


def begin(home: Path, cwd: Path, workflow: str, value: JsonObject, key: str = "k") -> ForkServerProcess:
    """Start the program in a process forked from one that has imported everything and opened nothing."""
    process = _context.Process(target=program, args=(str(home), str(cwd), workflow, value, key))
    process.start()
    return process


def drive(home: Path, cwd: Path, workflow: str, value: JsonObject, key: str = "k") -> int:
    """Run the program to its end, and answer how it ended: an exit code, or minus the signal."""
    process = begin(home, cwd, workflow, value, key)
    process.join(60)
    code = process.exitcode
    process.close()
    assert code is not None, "the program did not end"
    return code


def drive_through(home: Path, cwd: Path, workflow: str, value: JsonObject, most: int = 20) -> int:
    """Run the program again and again until it survives, and answer how often it died."""
    for deaths in range(most):
        if drive(home, cwd, workflow, value) == 0:
            return deaths
    raise AssertionError(f"it died {most} times")


def ledger(cwd: Path) -> Counter[str]:
    """How often each thing happened."""
    file = cwd / "ledger"
    return Counter(file.read_text().splitlines()) if file.exists() else Counter()


def resuming(home: str, run_id: str) -> None:
    """Resume a run, until nothing moves it any more."""
    with Engine.open(home) as engine:
        engine.resume(run_id)
        engine.wait(run_id, until="waiting", timeout=60)


def resume(home: Path, run_id: str) -> int:
    """Resume a run in a process of its own, and answer how that ended."""
    process = _context.Process(target=resuming, args=(str(home), run_id))
    process.start()
    process.join(60)
    code = process.exitcode
    process.close()
    assert code is not None, "the program did not end"
    return code
