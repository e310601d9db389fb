"""Does whoever follows hear of every commit, however late the thread that listens begins?"""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.host.serving import commits
from runwright.engine.host.serving.commits import Commits
from support.command_processes import LIMIT
from support.stores import appending, opened


async def test_a_commit_before_the_listening_thread_begins_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody looks, finds nothing new and waits; then something is committed; and only then the thread begins."""
    begin, begins, log = threading.Event(), commits._Ear.run, opened(tmp_path / "home")

    def late(ear: Any) -> None:
        assert begin.wait(LIMIT)
        begins(ear)

    monkeypatch.setattr(commits._Ear, "run", late)
    heard, position = Commits(log), log.head().position
    async with heard.followed(), asyncio.timeout(LIMIT):
        waiting = asyncio.ensure_future(heard.beyond(position))
        await asyncio.sleep(0)
        assert not waiting.done()
        await asyncio.to_thread(log.transact(appending("run/a")).result)
        begin.set()
        await waiting
    log.close()
