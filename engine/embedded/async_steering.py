"""Steering runs from the calling loop: pause, resume, cancel, and an operator's word about an effect."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import evolve

from runwright.engine.commands.client import (
    AcceptedSources,
    Caller,
    CancelRun,
    ClientCommand,
    PauseRun,
    RestartRun,
    ResumeRun,
)
from runwright.engine.commands.session import QueueFollowUp, SessionCommand, SessionView
from runwright.engine.embedded.answering import Answered, Answering
from runwright.engine.embedded.async_asking import AsyncAsking
from runwright.engine.embedded.calling import Identity, accepted
from runwright.engine.embedded.code import Code, ProgramFacts
from runwright.engine.embedded.driving import Driving
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.known import Given, Restarted, Resumed, known_before
from runwright.engine.embedded.launcher import NOTHING, Launcher, Provisions
from runwright.engine.embedded.programs import Programs
from runwright.engine.embedded.resolving import Resolution, Resolving
from runwright.engine.errors import PreflightError, RecoveryRequiredError
from runwright.engine.identity import new_id
from runwright.engine.reading.reader import Reader
from runwright.engine.results import Adopted, Applied
from runwright.engine.texts import check_name
from runwright.eventstore.errors import Forked, StoreClosed


class AsyncSteering(AsyncAsking):
    """What moves a run that is there, and everything that an open engine holds.

    Each command takes ``caller``, for who speaks through this engine: a client with its own name, key and rights.
    Without one the engine speaks for itself. ``expected`` is the revision that the run has to be at.

    Args:
        holder: The open store.
        code: Who is asked about workflows' code.
        launcher: Who carries runs out.
        capacity: How many runs are driven at once.
        client: Who is said to give the commands.
    """

    def __init__(self, holder: Holder, *, code: Code, launcher: Launcher, capacity: int, client: str) -> None:
        super().__init__(self._usable_reader)
        self._holder = holder
        self._code = code
        self._launcher = launcher
        self._pid = os.getpid()
        self._closed = False
        self._driving = Driving(holder, code, launcher, capacity)
        self._programs = Programs(holder, code, launcher, self._driving.bridge)
        self._resolving = Resolving(self._programs, code)
        self._answering = Answering(self._programs, code, holder)
        self._identity = Identity(client, holder.clock, holder.random)

    async def pause(
        self, run_id: str, *, expected: int | None = None, caller: Caller | None = None
    ) -> Applied[str] | Adopted[str]:
        """Let no further node of a run start; a run at work stops at its next boundary.

        Raises:
            NotFound: There is no such run.
            ConflictError: It has not started, or has ended.
        """
        return await self._steer(run_id, PauseRun(run_id=run_id, expected=expected), caller)

    async def resume(
        self,
        run_id: str,
        *,
        accept_source: bool = False,
        expected: int | None = None,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
    ) -> Applied[str] | Adopted[str]:
        """Let a paused or parked run go on, and drive it here; a queued one is only driven.

        Args:
            run_id: The run.
            accept_source: Whether to go on with a workflow that has changed since the run was started.
            expected: The run's revision as the caller knows it.
            caller: Who asks.
            provisions: What is handed over for the run and kept in memory only.

        Raises:
            NotFound: There is no such run.
            ConflictError: It is not parked, or has ended.
            RecoveryRequiredError: An effect has to be resolved first, the workflow has changed, or it is missing.
            PreflightError: It never started, and an executor or a variable that it needs is not here.
        """
        self._check_open()
        caller = self._identity.caller(None, caller)
        try:
            return await self._resume(run_id, accept_source, expected, caller, provisions)
        except (PreflightError, RecoveryRequiredError):
            if (known := self._known(caller, Resumed(run_id=run_id))) is None:
                self._programs.check_lives(run_id)
                raise
            return known

    async def _resume(
        self, run_id: str, accept_source: bool, expected: int | None, caller: Caller, provisions: Provisions
    ) -> Applied[str] | Adopted[str]:
        run = self._programs.run(run_id)
        under_way = run.started_at is None and self._driving.driving(run_id)
        if run.finished_at is not None or under_way:
            return await self._steer(run_id, ResumeRun(run_id=run_id, expected=expected), caller)
        self._launcher.provide(run_id, provisions)
        program = await self._programs.of(run)
        if run.started_at is None and self._driving.peek(run_id).queue.state != "parked":
            await self._programs.check(run, program)
            self._programs.check_lives(run_id)  # it may have been cancelled while its files were read
            self._driving.take(run_id, program)
            # One that never started keeps its place whatever it lacks: whoever asks is told what that is.
            self._launcher.takes(run)
            self._driving.look(run_id)
            return Adopted(run_id, self._holder.reader.status(run_id).revision)
        await self._programs.check_executors(run, program)
        accept = AcceptedSources(snapshot=program.snapshot, paths=program.paths) if accept_source else None
        command = ResumeRun(
            run_id=run_id, expected=expected, sources=program.sources, definition=program.definition, accept=accept
        )
        result = await self._programs.explained(run, program, self._send(command, caller))
        self._driving.take(run_id, program)
        self._driving.look(run_id)
        return result

    async def cancel(
        self, run_id: str, *, reason: str = "", expected: int | None = None, caller: Caller | None = None
    ) -> Applied[str] | Adopted[str]:
        """End a run now, whatever it is doing.

        Raises:
            NotFound: There is no such run.
            ConflictError: It has ended otherwise.
        """
        self._check_usable()
        result = await self._send(CancelRun(run_id=run_id, expected=expected, reason=reason), caller)
        self._driving.interrupt(run_id)
        return result

    async def resolve(
        self,
        effect_id: str,
        outcome: Resolution,
        *,
        result: object = None,
        reason: str,
        caller: Caller | None = None,
    ) -> Applied[str] | Adopted[str]:
        """Say what became of an ambiguous effect; its run goes on.

        Args:
            effect_id: The effect.
            outcome: ``done``, ``not_done`` or ``timed_out``.
            result: The result of a ``done`` effect, of the node's type.
            reason: Why; kept with the log's private values.
            caller: Who asks.

        Raises:
            NotFound: There is no such effect.
            InputInvalid: The result does not fit the node's type.
            ConflictError: It is not ambiguous.
        """
        self._check_usable()
        run, command = await self._resolving.command(effect_id, outcome, result=result, reason=reason)
        answer = await self._send(command, caller)
        self._driving.look(run.run_id)
        return answer

    async def tell_session(self, command: SessionCommand, *, actor: str | None = None) -> Applied[Any] | Adopted[Any]:
        """Hand in what a session's coordinator reports or asks; runs about which it changed something go on.

        Args:
            command: What it reports or asks.
            actor: Who is said to cause it; the engine's own client by default.

        Raises:
            ConflictError: Another coordinator has the session, or another fact stands in the way.
        """
        self._check_usable()
        answer = self._holder.transitions.session(command, actor=actor or self._identity.caller(None).actor)
        result: Applied[Any] | Adopted[Any] = accepted(await self._driving.bridge.wrap(answer))
        for run_id in getattr(result.value, "touched", ()):
            self._driving.look(run_id)
        return result

    async def session_view(self, session: str, *, epoch: str | None = None) -> SessionView:
        """A session as its coordinator sees it: who holds it, its open turn, its current message.

        Args:
            session: The session.
            epoch: The epoch of the coordinator that asks; ``None`` for whoever only looks.
        """
        self._check_usable()
        check_name("session", session)
        return await self._driving.bridge.wrap(self._holder.transitions.view(session, epoch=epoch))

    async def follow_up(
        self, run_id: str, text: str, *, session: str, epoch: str, key: str | None = None, caller: Caller | None = None
    ) -> Applied[str] | Adopted[str]:
        """Have a text sent to a live run's own session once the run has completed.

        Args:
            run_id: The run.
            text: Up to 64 KiB.
            session: The run's own session.
            epoch: Its coordinator's epoch.
            key: The idempotency key.
            caller: Who asks, under a key of its own.

        Raises:
            NotFound: There is no such run of that session.
            ConflictError: It has ended, or another coordinator has the session.
        """
        self._check_usable()
        return await self._send(QueueFollowUp(run_id=run_id, session=session, epoch=epoch, text=text), caller, key)

    async def restart(self, run_id: str, *, at: str | None = None, key: str | None = None, drive: bool = True) -> str:
        """Run an ended run's workflow afresh; answer the new run's ID, committed. As `queue_restart`."""
        return (await self.queue_restart(run_id, at=at, key=key, drive=drive)).value

    async def queue_restart(
        self,
        run_id: str,
        *,
        at: str | None = None,
        key: str | None = None,
        drive: bool = True,
        expected: int | None = None,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
    ) -> Applied[str] | Adopted[str]:
        """Run an ended run's workflow afresh, with its root's input and files, or files that were accepted for it.

        Args:
            run_id: The run that ended.
            at: The node to begin at, with what had finished before the run last came to it.
            key: The idempotency key: a repeat with the same key answers the first restart.
            drive: Whether this engine drives it; otherwise it waits for a `resume`.
            expected: The ended run's revision as the caller knows it.
            caller: Who asks, under a key of its own.
            provisions: What is handed over for the new run and kept in memory only.

        Returns:
            The new run's ID with its revision, committed.

        Raises:
            NotFound: There is no such run, or it never came to that node.
            PreflightError: Its workflow cannot be loaded or has changed, or an executor is missing.
            ConflictError: It is still live, or another run carries it on.
            RecoveryRequiredError: Its input was erased.
        """
        self._check_open()
        run = self._programs.ended(run_id)
        new_run_id = new_id(self._holder.clock.now(), self._holder.random)
        caller = self._identity.caller(key, caller)
        program, command = None, RestartRun(run_id=run_id, new_run_id=new_run_id, at=at, expected=expected)
        with self._provided(new_run_id, provisions):
            if run.status != "continued":
                agents = self._launcher.agents(new_run_id)
                try:
                    program = await self._programs.afresh(run, new_run_id, agents)
                    command = evolve(command, sources=program.sources, definition=program.definition)
                except PreflightError:
                    given = Restarted(run_id=run_id, at=at)
                    if (known := self._known(caller, given, new=new_run_id, provisions=provisions)) is None:
                        raise
                    return known
            result = await self._send(command, caller)
        if result.value != new_run_id:
            self._adopted(new_run_id, result.value, provisions)
        if drive:
            self._go_on(result.value, program)
        return result

    async def answer(
        self,
        request_id: str,
        value: object,
        *,
        key: str | None = None,
        drive: bool = True,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
    ) -> Answered:
        """Answer a checkpoint, or an agent's request that no worker is waiting for.

        Args:
            request_id: The request.
            value: The answer, of the node's type or JSON of it.
            key: The idempotency key.
            drive: Whether this engine drives the run that goes on; otherwise it waits for a `resume`.
            caller: Who asks, under a key of its own.
            provisions: What is handed over for the run that goes on, and kept in memory only.

        Raises:
            NotFound: There is no such request.
            InputInvalid: The answer does not fit the node's type; nothing was written.
            ConflictError: It was answered otherwise, its executor is at work on it, its run is paused or has ended,
                or only a person may decide it.
            RecoveryRequiredError: The workflow has changed since the run was started; the answer is not used up.
        """
        self._check_open()
        request, run = self._programs.request(request_id)
        command, program = await self._answering.command(request, run, value)
        result = await self._send(command, caller, key)
        if result.value != run.run_id:
            self._launcher.hand_on(run.run_id, result.value)
        self._launcher.provide(result.value, provisions)
        self._driving.look(run.run_id)
        if drive:
            self._go_on(result.value, program)
        return Answered(
            request_id=request_id,
            run_id=result.value,
            adopted=isinstance(result, Adopted),
            revision=result.revision,
        )

    # --- inside -------------------------------------------------------------------------------------------------

    async def _steer(self, run_id: str, command: ClientCommand, caller: Caller | None) -> Applied[str] | Adopted[str]:
        self._check_usable()
        result = await self._send(command, caller)
        self._driving.look(run_id)
        return result

    async def _send(
        self, command: ClientCommand, caller: Caller | None, key: str | None = None
    ) -> Applied[str] | Adopted[str]:
        answer = self._holder.transitions.command(self._identity.caller(key, caller), command)
        return accepted(await self._driving.bridge.wrap(answer))

    def _go_on(self, run_id: str, program: ProgramFacts | None) -> None:
        """Drive a run that a command has just made or released."""
        if program is not None:
            self._driving.take(run_id, program)
        self._driving.look(run_id)

    @contextmanager
    def _provided(self, run_id: str, provisions: Provisions) -> Iterator[None]:
        """Keep what is handed over for a run that is about to be queued; a refused one leaves nothing."""
        self._launcher.provide(run_id, provisions)
        try:
            yield
        except BaseException:
            self._launcher.forget(run_id)
            raise

    def _known(
        self, caller: Caller, given: Given, *, new: str | None = None, provisions: Provisions = NOTHING
    ) -> Adopted[str] | None:
        """Adopt the receipt of a command whose checks fail now, although it was accepted before.

        Args:
            caller: Who asks, under which key.
            given: The command.
            new: The run that it would make.
            provisions: What was handed over for that.
        """
        known = known_before(self._holder.log, caller, given)
        if known is not None and new is not None:
            self._adopted(new, known.value, provisions)
        if known is not None:
            self._driving.look(known.value)
        return known

    def _adopted(self, run_id: str, first: str, provisions: Provisions) -> None:
        """Learn that a command was a repeat: what was handed over again is for the run that the first one made."""
        self._launcher.forget(run_id)
        self._launcher.provide(first, provisions)

    def _usable_reader(self) -> Reader:
        self._check_usable()
        return self._holder.reader

    def _check_usable(self) -> None:
        self._check_process()
        self._programs.check_store()

    def _check_open(self) -> None:
        """Refuse what would begin something while the engine is closing."""
        self._check_usable()
        if self._closed:
            raise StoreClosed

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise Forked
