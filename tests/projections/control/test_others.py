"""Reservations, timers, workers, processes, receipts, definitions, hosts and terminal facts."""

from typing import Any

import pytest

from runwright.eventstore.events.command import CommandSettled
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.host import HostStarted, HostStopped
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunContinued, RunFailed, RunParked
from runwright.eventstore.events.timer import TimerCleared, TimerFired, TimerSet
from runwright.eventstore.events.worker import (
    PresentationAbandoned,
    PresentationFailed,
    PresentationPrepared,
    ProcessEnded,
    ProcessRegistered,
    WorkerExited,
    WorkerReady,
)
from runwright.projections.control.definitions import DEFINITIONS
from runwright.projections.control.hosts import HOSTS
from runwright.projections.control.processes import PROCESSES
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.workers import WORKERS
from runwright.projections.errors import AlreadyHeld, ImpossibleEvent
from support.told import PROCESS, Told, completed, fold, queued, started

STREAM = "run/r1"
FAILED = RunFailed(code="node_failed", phase="execute", message="m", message_due="terminal", error=Content.text("e"))


def refused(*told: Told) -> None:
    """Check that the last of these events is refused."""
    fold(told[:-1])
    with pytest.raises(ImpossibleEvent):
        fold(told)


def only(rows: Any, projection: Any) -> Any:
    """Answer the one row of a projection."""
    (row,) = rows.find(projection)
    return row


def test_a_session_is_held_until_the_end() -> None:
    """One run at a time, from its acceptance, also while it is parked."""
    told = [*started("r1", session="s"), (STREAM, RunParked(reason="waiting"))]
    assert only(fold(told), RESERVATIONS).run_id == "r1"
    with pytest.raises(AlreadyHeld):
        fold([*told, queued("r2", session="s")])
    assert not fold([*told, (STREAM, RunCancelled(by="cli"))]).find(RESERVATIONS)
    assert not fold([queued("r1")]).find(RESERVATIONS)


def test_a_continuation_takes_the_session_over() -> None:
    """The parent lets go before the child takes."""
    child = queued("r2", session="s", kind="continue", parent="r1", root="r1", request="q")
    told = [*started("r1", session="s"), (STREAM, RunParked(reason="waiting"))]
    rows = fold([*told, (STREAM, RunContinued(child="r2", request="q")), child])
    assert only(rows, RESERVATIONS).run_id == "r2"
    assert not rows.find(TERMINAL)
    with pytest.raises(AlreadyHeld):
        fold([*told, child])


def test_timers_are_set_moved_and_gone() -> None:
    """Only one that is set fires or is cleared."""
    set_: Told = (STREAM, TimerSet(kind="wait", due=5, absolute=True))
    later: Told = (STREAM, TimerSet(kind="wait", due=9))
    fired: Told = (STREAM, TimerFired(kind="wait"))
    row = only(fold([set_, later]), TIMERS)
    assert (row.due, row.absolute) == (9, False)
    assert not fold([set_, fired]).find(TIMERS)
    refused(set_, fired, (STREAM, TimerCleared(kind="wait")))
    refused(set_, (STREAM, TimerCleared(kind="run")))


def test_a_worker_ends_once() -> None:
    """Launched, ready, exited, each once; the end says how."""
    told = [*started(), (STREAM, WorkerExited(worker="r1-w1", outcome="crashed", phase="execute", code="c"))]
    row = only(fold(told), WORKERS)
    assert (row.state, row.outcome, row.pid) == ("exited", "crashed", PROCESS.pid)
    refused(*told, told[-1])
    refused(*told, (STREAM, WorkerReady(worker="r1-w1")))
    refused(*started(), ("run/r9", WorkerExited(worker="r1-w1", outcome="crashed")))


def test_processes_are_known_while_they_may_live() -> None:
    """By their exact identity, and only their worker's word ends them."""
    registered: Told = (STREAM, ProcessRegistered(worker="w", process=PROCESS))
    assert only(fold([registered]), PROCESSES).worker == "w"
    assert not fold([registered, (STREAM, ProcessEnded(worker="w", process=PROCESS))]).find(PROCESSES)
    refused(registered, registered)
    refused(registered, (STREAM, ProcessEnded(worker="x", process=PROCESS)))


def test_a_key_is_used_once() -> None:
    """A receipt names client and key by its stream."""
    settled: Told = ("command/pi:s/k1", CommandSettled(operation="o", fingerprint="f", outcome="accepted", first=3))
    row = only(fold([settled]), RECEIPTS)
    assert (row.client, row.key, row.first) == ("pi:s", "k1", 3)
    refused(settled, settled)


def test_definitions_are_recorded_once() -> None:
    """The row knows where the snapshot stands."""
    recorded: Told = ("definition/abc", DefinitionRecorded(workflow="w", snapshot=Content.json({})))
    row = only(fold([recorded]), DEFINITIONS)
    assert (row.digest, row.workflow, row.snapshot) == ("abc", "w", 1)
    refused(recorded, recorded)


def test_hosts_stop_once() -> None:
    """One that did not stop in good order has no end."""
    begun: Told = ("host", HostStarted(epoch="h1", version="0.1", process=PROCESS))
    stopped: Told = ("host", HostStopped(epoch="h1"))
    assert only(fold([begun]), HOSTS).stopped_at is None
    assert only(fold([begun, stopped]), HOSTS).stopped_at is not None
    refused(begun, stopped, stopped)


def test_terminal_facts_know_where_the_texts_stand() -> None:
    """Also after the body is gone: what counts is that there was one."""
    row = only(fold([*started(), (STREAM, FAILED)]), TERMINAL)
    assert (row.outcome, row.code, row.phase, row.error, row.output) == ("failed", "node_failed", "execute", 8, None)
    assert (row.message_due, row.presentation) == ("terminal", "pending")
    quiet = only(fold(completed()), TERMINAL)
    assert (quiet.outcome, quiet.error, quiet.presentation) == ("completed", None, "none")
    refused(*started(), (STREAM, FAILED), (STREAM, RunCompleted(output=None)))


def test_a_presentation_is_prepared_after_failures() -> None:
    """Failures may come first; prepared and abandoned are final."""
    told: list[Told] = [*started(), (STREAM, FAILED)]
    failed: Told = (STREAM, PresentationFailed(attempt=1, code="c", reason="r"))
    prepared: Told = (STREAM, PresentationPrepared(attempt=2, instructions=Content.text("say it")))
    row = only(fold([*told, failed, prepared]), TERMINAL)
    assert (row.presentation, row.attempts, row.instructions) == ("prepared", 2, 10)
    refused(*told, prepared, failed)
    refused(*told, (STREAM, PresentationAbandoned(code="redacted")), prepared)
