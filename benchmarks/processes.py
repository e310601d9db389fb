"""Figures of whole processes: recovery after `kill -9`, and what imports and the command line cost."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

_PROGRAM = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from runwright import Engine, Workflow

    folder = Path(sys.argv[1])
    workflow = Workflow("recover")

    @workflow.compute
    def first(ctx):
        return 1

    @workflow.compute
    def second(ctx):
        with open(folder / "ledger", "a") as ledger:
            ledger.write("step\\n")
        if not (folder / "again").exists():
            time.sleep(60)
        return 2

    workflow.entry(first)
    workflow.then(first, second)

    with Engine.open(folder / "state", workflows=[workflow]) as engine:
        if (folder / "again").exists():
            engine.wait((folder / "run").read_text())
        else:
            (folder / "run").write_text(engine.start(workflow, {}))
            time.sleep(60)
    """
)


def recovery(folder: Path) -> float:
    """Seconds from a program's start, after `kill -9` in a step, to that step running again."""
    program = folder / "program.py"
    program.write_text(_PROGRAM)
    ledger = folder / "ledger"
    command = [sys.executable, str(program), str(folder)]
    victim = subprocess.Popen(command, env=_environment())
    _wait_for_lines(ledger, 1)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    (folder / "again").touch()
    started = time.perf_counter()
    survivor = subprocess.Popen(command, env=_environment())
    _wait_for_lines(ledger, 2)
    elapsed = time.perf_counter() - started
    survivor.wait()
    return elapsed


def _wait_for_lines(path: Path, number: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if path.exists() and path.read_text().count("\n") >= number:
            return
        time.sleep(0.001)
    raise TimeoutError(f"no {number} lines after a minute")


def _environment() -> dict[str, str]:
    """The environment of a program that keeps its compiled modules, as an installed one does."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_cost(folder: Path) -> float:
    """CPU seconds that importing Runwright and writing a workflow adds to Python's own start."""
    program = folder / "flow.py"
    program.write_text("from runwright import Workflow\nWorkflow('w').compute(lambda ctx: 1)\n")
    return _cpu_seconds([sys.executable, str(program)]) - _cpu_seconds([sys.executable, "-c", "pass"])


def version_cost(folder: Path) -> float:
    """CPU seconds of `runwright --version`."""
    del folder
    return _cpu_seconds([sys.executable, "-c", "from runwright.cli.main import main; main()", "--version"])
