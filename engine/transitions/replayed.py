"""How a run stood before it last came to a node, folded from its own events."""

from typing import Final

from runwright.engine.decisions.restarting import Before
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import NodeStarted
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunContinued, RunFailed, RunTimedOut
from runwright.eventstore.reader import LogReader
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from runwright.projections.replay import replay

_ENDS: Final = frozenset(each.type for each in (RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued))


def before_last_visit(log: LogReader, run_id: str, node: str) -> Before | None:
    """Replay a run up to the event before the last visit of a node started.

    An ended run starts no node any more, so that this can be worked out before the transaction that uses it.

    Args:
        log: The log.
        run_id: The run.
        node: The full node path.

    Returns:
        ``None`` where the run never came to the node.
    """
    events = list(log.read(f"run/{run_id}"))
    starts = [each.position for each in events if _starts(each, node)]
    if not starts:
        return None
    rows = replay(events, at=starts[-1] - 1, projections=(RUNS, VISITS, MOUNTS))
    run = rows.get(RUNS, run_id)
    assert run is not None, "it was queued before it started a node"
    return Before(
        visits=tuple(rows.find(VISITS, run_id=run_id)),
        mounts=tuple(rows.find(MOUNTS, run_id=run_id)),
        steps=run.step_base + run.steps,
        ended=any(each.type in _ENDS for each in events),
    )


def _starts(recorded: RecordedEvent, node: str) -> bool:
    if recorded.type != NodeStarted.type:
        return False
    event = recorded.event
    return isinstance(event, NodeStarted) and event.path == node and event.attempt == 1
