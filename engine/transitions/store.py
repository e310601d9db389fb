"""Transitions: the one interface that commits decisions, for clients, for the holder and for workers."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from runwright.engine.clock import Clock
from runwright.engine.commands.client import (
    AnswerRequest,
    Caller,
    CancelRun,
    ClientCommand,
    DecideRequest,
    QueueRun,
    ResolveEffect,
    RestartRun,
    SubmitAnswer,
)
from runwright.engine.commands.host import ClaimRun, HostCommand
from runwright.engine.commands.session import SessionCommand, SessionView
from runwright.engine.commands.worker import Authority, SettleEffect, WorkerTransition
from runwright.engine.identity import new_id
from runwright.engine.results import Conflict, Result
from runwright.engine.transitions import receipts
from runwright.engine.transitions.carry import refused
from runwright.engine.transitions.client import ClientUnit
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.host import HostUnit
from runwright.engine.transitions.leases import Leases
from runwright.engine.transitions.presence import Presence
from runwright.engine.transitions.replayed import before_last_visit
from runwright.engine.transitions.reporting import Reporting
from runwright.engine.transitions.session import SessionUnit, view_unit
from runwright.engine.transitions.trees import Trees
from runwright.engine.transitions.wording import check_texts
from runwright.engine.transitions.worker import NEEDS_ID, WorkerUnit
from runwright.eventstore.envelope import ANY, Head
from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.events.event import Event, ProcessIdentity
from runwright.eventstore.events.host import HostStarted, HostStopped
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from runwright.eventstore.values import encode

#: Commands that hand an answer in, each of which is a submission of its own.
ANSWERING: Final = (AnswerRequest, DecideRequest, SubmitAnswer)

#: Bytes of a run tree's key.
TREE_KEY: Final = 32


class Transitions:
    """The only way to change durable state.

    Every answer is a future that resolves after the commit, to one of the four typed results (law 4). What the
    store itself cannot do (full, busy, unavailable) is raised from the future as a `StoreError`.

    Args:
        log: The log, held by this process.
        clock: Time for new identities and leases.
        random: Answers that many random bytes.
        epoch: This holder's epoch.
        receipts_key: The key in the state directory that receipts are fingerprinted with.
    """

    def __init__(
        self,
        log: EventLog,
        *,
        clock: Clock,
        random: Callable[[int], bytes],
        epoch: str,
        receipts_key: bytes,
    ) -> None:
        self._log = log
        self._clock = clock
        self._random = random
        self._epoch = epoch
        self._actor = f"host:{epoch}"
        self._receipts_key = receipts_key
        self._definitions = Definitions()
        self._trees = Trees()
        self.leases = Leases(clock.monotonic)
        self.presence = Presence(clock.monotonic)
        self._reporting = Reporting(clock.monotonic)

    def command(self, caller: Caller, command: ClientCommand) -> "Future[Result[object]]":
        """Carry out what a client asks; the same key with the same payload adopts the first answer.

        Args:
            caller: Who asks, and under which key.
            command: What.

        Returns:
            The run it acted on or made, as the value of `Applied` or `Adopted`.
        """
        if (unfit := check_texts(command, caller)) is not None:
            return _answered(unfit)
        try:
            receipts.check(caller)
            fingerprint = receipts.fingerprint(self._receipts_key, command)
            text = encode(command.input) if isinstance(command, QueueRun) else ""
            before = None
            if isinstance(command, RestartRun) and command.at is not None:
                before = before_last_visit(self._log, command.run_id, command.at)
        except ValueRefused as error:
            return _answered(Conflict("input_invalid", {"path": error.path, "problem": error.problem}))
        except PayloadTooLarge as error:
            return _answered(refused(error))
        unit = ClientUnit(
            caller,
            command,
            fingerprint,
            key=self._random(TREE_KEY).hex() if isinstance(command, QueueRun) else "",
            input_text=text,
            definitions=self._definitions,
            trees=self._trees,
            presence=self.presence,
            reporting=self._reporting,
            submission=new_id(self._clock.now(), self._random) if isinstance(command, ANSWERING) else "",
            before=before,
        )
        return self._log.transact(unit, urgent=isinstance(command, (CancelRun, ResolveEffect, *ANSWERING)))

    def host(self, command: HostCommand) -> "Future[Result[object]]":
        """Carry out what the holder asks on its own account."""
        unit = HostUnit(
            command, actor=self._actor, leases=self.leases, definitions=self._definitions, trees=self._trees
        )
        return self._log.transact(unit, urgent=not isinstance(command, ClaimRun))

    def session(self, command: SessionCommand, *, actor: str | None = None) -> "Future[Result[Any]]":
        """Carry out what a session's coordinator reports or asks.

        Args:
            command: What.
            actor: Who is said to cause it; the session itself by default.
        """
        if (unfit := check_texts(command)) is not None:
            return _answered(unfit)
        unit = SessionUnit(
            command,
            epoch=new_id(self._clock.now(), self._random),
            actor=f"session:{command.session}" if actor is None else actor,
            definitions=self._definitions,
            trees=self._trees,
            presence=self.presence,
        )
        return self._log.transact(unit, urgent=True)

    def view(self, session: str, *, epoch: str | None = None) -> "Future[SessionView]":
        """Answer a session as its coordinator sees it.

        Args:
            session: The session.
            epoch: The epoch of the coordinator that asks; ``None`` for whoever only looks.
        """
        return self._log.transact(partial(view_unit, session, epoch, self._definitions, self._trees, self.presence))

    def worker(self, authority: Authority, transitions: Sequence[WorkerTransition]) -> "Future[list[Result[object]]]":
        """Carry out a worker's list in one transaction.

        Each is decided on the facts that its predecessors leave. The first that is neither applied nor adopted
        ends the list; what stands before it is committed. One result for each that was decided.
        """
        # What happened outside must not wait to be written down; steps as such wait in line with starts.
        urgent = any(isinstance(each, SettleEffect) for each in transitions)
        return self._log.transact(self._worker_unit(authority, tuple(transitions)), urgent=urgent)

    def renew(self, authority: Authority) -> "Future[Result[None]]":
        """Renew a claim's lease; answers ``claim_lost`` where it does not hold any more."""
        return self._log.transact(self._worker_unit(authority, ()).renew, urgent=True)

    def start_host(self, process: ProcessIdentity, version: str) -> "Future[None]":
        """Record that this process holds the store, under its epoch."""
        return self._log.transact(
            partial(_append_host, HostStarted(epoch=self._epoch, version=version, process=process), self._actor)
        )

    def stop_host(self) -> "Future[Head]":
        """Record that it gives the store back; answers the head after that commit."""
        stopped: Future[Head] = Future()
        committed = self._log.transact(partial(_append_host, HostStopped(epoch=self._epoch), self._actor))

        def answer(done: "Future[None]") -> None:
            error = done.exception()
            if error is not None:
                stopped.set_exception(error)
                return
            try:
                stopped.set_result(self._log.head())
            except Exception as failed:  # noqa: BLE001 - handed to whoever waits, never swallowed
                stopped.set_exception(failed)

        committed.add_done_callback(answer)
        return stopped

    def _worker_unit(self, authority: Authority, transitions: tuple[WorkerTransition, ...]) -> WorkerUnit:
        fresh = [new_id(self._clock.now(), self._random) for each in transitions if isinstance(each, NEEDS_ID)]
        return WorkerUnit(
            authority,
            transitions,
            fresh,
            leases=self.leases,
            definitions=self._definitions,
            trees=self._trees,
        )


def _append_host(event: Event, actor: str, tx: Tx) -> None:
    tx.append("host", ANY, (event,), actor=actor)


def _answered(conflict: Conflict) -> "Future[Result[object]]":
    answered: Future[Result[object]] = Future()
    answered.set_result(conflict)
    return answered
