"""A session's story told in a process of its own, which dies right after the commit of a chosen event."""

import asyncio
import multiprocessing
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runwright import AsyncEngine
from runwright.engine.commands.session import TurnEnd
from runwright.eventstore.transaction import Batch
from support.engine_session import EngineSession
from support.engines import until

_context = multiprocessing.get_context("forkserver")

#: The session's run, started under one key, so that each telling adopts it.
KEY = "the-run"


class Branch(list[str]):
    """The messages on the agent's active branch, kept in its own file: the agent outlives the program."""

    def __init__(self, file: Path) -> None:
        super().__init__(file.read_text().split() if file.exists() else ())
        self._file = file

    def append(self, message: str) -> None:
        """Show a message, durably."""
        super().append(message)
        with self._file.open("a") as file:
            file.write(f"{message}\n")


def tell(home: Path, cwd: Path, *, dies_after: str | None = None, breaks: bool = False) -> int:
    """Tell the story in a process of its own; answer its exit code, or minus the signal that ended it.

    Args:
        home: The state directory.
        cwd: The project, which also holds the ledger and the agent's branch.
        dies_after: The type of an event: the process is killed once the first one is committed, before anybody is told.
            ``branch`` kills it when the agent shows a message, before that is reported.
        breaks: Whether the workflow's file changes between start and boundary, so that the launch fails.
    """
    process = _context.Process(target=_program, args=(str(home), str(cwd), dies_after, breaks))
    process.start()
    process.join(60)
    code = process.exitcode
    process.close()
    assert code is not None, "the program did not end"
    return code


def _program(home: str, cwd: str, dies_after: str | None, breaks: bool) -> None:
    os.chdir(cwd)
    if dies_after == "branch":
        shown = Branch.append

        def append(self: Branch, message: str) -> None:
            shown(self, message)
            os.kill(os.getpid(), signal.SIGKILL)

        Branch.append = append  # type: ignore[method-assign]
    elif dies_after is not None:
        _die_after(Path(home), dies_after)
    asyncio.run(_story(Path(home), Path(cwd), breaks=breaks))


def _die_after(home: Path, kind: str) -> None:
    """Die on the writer's thread between the commit that holds such an event and any answer to it."""
    after = Batch.committed

    def committed(self: Batch) -> None:
        with closing(sqlite3.connect(f"file:{home / 'log.sqlite'}?mode=ro", uri=True)) as other:
            (found,) = other.execute("SELECT count(*) FROM events WHERE type = ?", (kind,)).fetchone()
        if found:
            os.kill(os.getpid(), signal.SIGKILL)
        after(self)

    Batch.committed = committed  # type: ignore[method-assign]


async def _story(home: Path, cwd: Path, *, breaks: bool) -> None:
    """Start, rest, hear of the end, answer it in one turn; whatever was done before is adopted."""
    branch = Branch(cwd / "branch")
    async with AsyncEngine.open(home) as engine:
        pi = await EngineSession(engine, branch=branch).attach()
        run_id = await engine.start("sessions.py", {"text": "private"}, key=KEY, session="s1")
        await engine.drive(run_id)
        if breaks:
            (cwd / "sessions.py").write_text((cwd / "sessions.py").read_text() + "# changed\n")
        await pi.settle()
        await engine.wait(run_id)

        async def told() -> bool:
            return (await engine.status(run_id)).presentation.state in ("prepared", "sent")

        await until(told)
        while (message := await pi.receive()) is not None:
            await pi.turn(f"turn-{message}", message, run_id)
            await pi.turn(f"turn-{message}", message, run_id, TurnEnd(stop_reason="completed"))
        if (current := (await pi.view()).current) is not None:
            pytest.fail(f"{current.message} is still to be handed out")
