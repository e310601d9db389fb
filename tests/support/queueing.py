"""Runs that are queued and that nobody drives: as a host leaves them that died right after a start."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from runwright.cli.launching import typed_of
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.embedded.preflight import Surroundings


def queue_run(
    home: Path,
    folder: Path,
    workflow: str,
    task: str | None = None,
    *,
    fields: Sequence[str] = (),
    session: str | None = None,
    agents: Sequence[str] = (),
    pass_env: Sequence[str] = (),
) -> str:
    """Queue a run and drive nothing; its ID.

    Args:
        home: The state directory.
        folder: Where it is started.
        workflow: A file, a name or an import path.
        task: The text for the input's field ``task``.
        fields: ``key=value``, as behind ``-s``.
        session: The conversation that it is for.
        agents: Names of executors that nobody asks before the run is driven.
        pass_env: Names of variables that its code gets.
    """

    async def queued() -> str:
        executors = {name: _Nobody() for name in agents}
        async with AsyncEngine.open(home, agents=executors, client="cli") as engine:
            result = await engine.queue(
                workflow,
                {},
                session=session,
                surroundings=Surroundings(cwd=folder, pass_env=tuple(pass_env)),
                typed=typed_of(fields, task),
                drive=False,
            )
            return result.value

    return asyncio.run(queued())


class _Nobody:
    async def run(self, request: object) -> object:
        """Is never asked."""
        raise AssertionError(f"nobody drives the run of {request}")
