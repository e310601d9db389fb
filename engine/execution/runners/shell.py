"""The runner of shell nodes: a command, run without a shell, whose whole process group ends with it."""

import asyncio
import hashlib
import os
import signal
from pathlib import Path

from runwright.engine.authoring.conversion import PLAIN, shape_of
from runwright.engine.authoring.shell import Command, OutputFile, ShellResult
from runwright.engine.execution.calling import OutOfTime
from runwright.engine.execution.child import ChildEnd, run_child
from runwright.engine.execution.commands import as_command, as_request, from_request
from runwright.engine.execution.effects import perform
from runwright.engine.execution.failures import MAX_ERROR, Failure, NodeFailure, stored
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk
from runwright.engine.run_mark import RUN_MARK
from runwright.engine.safe import cut, mask, strike
from runwright.eventstore.values import Json

_RESULT = shape_of(ShellResult)
_SIGNALS = frozenset(int(number) for number in signal.Signals)


async def run_shell(walk: Walk, visit: Visit) -> Ended | Parked:
    """Run the command under its contract."""
    return await perform(walk, visit, _Shell(walk, visit))


class _Shell:
    def __init__(self, walk: Walk, visit: Visit) -> None:
        self._walk = walk
        self._visit = visit
        self._declared = visit.declaration
        self._written: Command | None = None

    async def request(self) -> Json:
        return stored(PLAIN, as_request(await self._command()), "request")

    async def restate(self, saved: Json) -> Json:
        """The values of an environment are not saved; whether they are still the same is for the host to compare."""
        assert isinstance(saved, dict)
        if not saved["env"]:
            return saved
        return {**saved, "env": as_request(await self._command())["env"]}

    async def apply(self, request: Json) -> Json:
        command = from_request(request)
        secrets = tuple(command.env.values())
        started = self._walk.clock.monotonic()
        try:
            end, file = await self._run(command)
        except (OSError, ValueError) as error:  # it could not be started, so nothing came of it
            raise self._walk.failed(self._visit, error, secrets) from None
        except OutOfTime as error:
            raise self._walk.failed(self._visit, error) from None
        stderr = strike(end.stderr.decode("utf-8", "replace"), (*self._walk.secrets, *secrets))
        if end.exit_code < 0 or (command.check and end.exit_code != 0):
            raise NodeFailure(bad_end(end.exit_code, stderr))
        result = ShellResult(
            end.stdout.decode("utf-8", "replace"),
            stderr,
            end.exit_code,
            end.stdout_cut,
            end.stderr_cut,
            round(self._walk.clock.monotonic() - started, 6),
            file,
        )
        return stored(_RESULT, result)

    async def observe(self, request: Json) -> object:
        observe = self._declared.observe
        assert observe is not None
        command = from_request(request)
        return await self._walk.call_within(self._visit, ASIDE_LIMIT, observe, self._visit.context, command)

    def present(self, result: object) -> Json:
        return stored(_RESULT, ShellResult("") if result is None else result)

    async def output(self, result: Json) -> Json:
        if self._declared.parse is None:
            return result
        value = await self._walk.call(self._visit, self._declared.parse, _RESULT.load(result))
        return stored(self._visit.node.shape, value)

    async def _command(self) -> Command:
        """The command as the function wrote it; asked once."""
        if self._written is None:
            function = self._declared.function
            assert function is not None
            value = await self._walk.call(self._visit, function, self._visit.context)
            try:
                self._written = as_command(value)
            except (TypeError, ValueError) as error:
                raise self._walk.failed(self._visit, error) from None
        return self._written

    async def _run(self, command: Command) -> tuple[ChildEnd, OutputFile | None]:
        cwd = self._walk.state.cwd / (command.cwd or "")
        secrets = tuple(command.env.values())
        path = None if command.stdout_to is None else cwd / command.stdout_to
        file = None if path is None else path.open("wb")
        try:
            end = await run_child(
                command.argv,
                cwd=cwd,
                env={**os.environ, **command.env, RUN_MARK: self._walk.state.run_id},
                stdin=None if command.stdin is None else command.stdin.encode(),
                stdout=file,
                max_output=command.max_output,
                limit=self._walk.left(self._visit.deadline),
                on_stderr=lambda line: self._walk.log.line(self._visit.path, strike(line, secrets)),
            )
        finally:
            if file is not None:
                file.close()
        return end, None if path is None else await asyncio.to_thread(_measured, path)


def bad_end(exit_code: int, stderr: str) -> Failure:
    """A non-zero exit is a known failure; one that a signal killed may have done anything before."""
    tail = mask(cut(stderr.strip()[-MAX_ERROR // 4 :], MAX_ERROR))
    if exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in _SIGNALS else f"signal {-exit_code}"
        return Failure(error=f"the command was killed by {name}\n{tail}".strip(), certain=False)
    return Failure(error=f"the command ended with exit code {exit_code}\n{tail}".strip())


def _measured(path: Path) -> OutputFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return OutputFile(path, file.tell(), digest)
