"""How the host stands, in counts."""

from runwright import __version__
from runwright.engine.embedded.holder import Holder
from runwright.engine.host.serving.surface import HostFacts
from runwright.engine.protocol.fields import document
from runwright.engine.protocol.views import HostStatus, RunCounts, Trouble
from runwright.engine.reading.moment import moment_of
from runwright.engine.reading.times import rfc3339_us
from runwright.eventstore.values import JsonObject
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import LIVE, QUEUE
from runwright.projections.control.requests import REQUESTS, UNSETTLED
from runwright.projections.control.runs import RUNS


def host_status(holder: Holder, facts: HostFacts, connections: int, subscriptions: int) -> JsonObject:
    """How the host stands; in a thread.

    Args:
        holder: The open store.
        facts: What only the host knows.
        connections: Clients that are connected.
        subscriptions: Subscriptions of theirs.
    """
    with moment_of(holder.log) as moment:
        rows = moment.rows
        queued = {state: rows.find(QUEUE, state=state) for state in LIVE}
        waiting = {row.run_id for row in rows.find(RUNS, status="waiting")}
        requests = sum(len(rows.find(REQUESTS, state=state)) for state in UNSETTLED)
        live = {row.run_id for found in queued.values() for row in found}
        # Of a run that has ended nobody waits to hear what became of an effect; `runwright effects` keeps it.
        ambiguous = sum(row.run_id in live for row in rows.find(EFFECTS, state="ambiguous"))
        position = moment.position
    counts = {state: sum(row.run_id not in waiting for row in found) for state, found in queued.items()}
    leases = holder.transitions.leases
    claimed = [row for found in queued.values() for row in found if row.owner is not None]
    return document(
        HostStatus(
            state="draining" if facts.draining else "serving",
            epoch=holder.epoch,
            version=__version__,
            started_at=_time(facts.started_at),
            uptime=max(0, holder.clock.now() - facts.started_at) // 1_000_000,
            capacity=facts.capacity,
            workers=facts.workers,
            launching=facts.launching,
            runs=RunCounts(**counts, waiting=len(waiting)),
            requests=requests,
            ambiguous_effects=ambiguous,
            expired_claims=sum(not leases.holds(row.run_id, row.generation) for row in claimed),
            connections=connections,
            subscriptions=subscriptions,
            position=position,
            errors=tuple(Trouble(code=code, at=_time(at)) for code, at in facts.troubles),
        )
    )


def _time(at: int) -> str:
    shown = rfc3339_us(at)
    assert shown is not None, "a time that is there"
    return shown
