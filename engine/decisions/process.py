"""Processes that workers start: named before they may do anything, so that a crash leaves none behind unknown."""

from runwright.engine.commands.worker import Authority, RegisterProcess, UnregisterProcess
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.results import Adopted
from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.events.worker import ProcessEnded, ProcessRegistered
from runwright.projections.control.processes import ProcessRow
from runwright.projections.control.workers import WorkerRow


def decide_register(
    facts: RunFacts, worker: WorkerRow | None, row: ProcessRow | None, authority: Authority, command: RegisterProcess
) -> Decision[None]:
    """Decide whether a worker's process may begin."""
    if worker is None or worker.state == "exited":
        return broken("unknown_worker")
    if row is not None:
        return Adopted(None, facts.revision) if row.worker == authority.worker else broken("registered_elsewhere")
    return Decided(None, (ProcessRegistered(worker=authority.worker, process=command.process),))


def decide_unregister(
    facts: RunFacts, row: ProcessRow | None, authority: Authority, command: UnregisterProcess
) -> Decision[None]:
    """Decide that a process is gone; one that nobody knows is gone already."""
    if row is None:
        return Adopted(None, facts.revision)
    if row.worker != authority.worker:
        return broken("registered_elsewhere")
    return Decided(None, (ProcessEnded(worker=authority.worker, process=command.process),))


def ended_with(rows: tuple[ProcessRow, ...]) -> list[ProcessEnded]:
    """The ends of what a worker had registered, once nothing of it is left."""
    return [
        ProcessEnded(
            worker=row.worker,
            process=ProcessIdentity(boot=row.boot, namespace=row.namespace, pid=row.pid, start=row.start),
        )
        for row in rows
    ]
