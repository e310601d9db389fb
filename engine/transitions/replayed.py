"""How a run stood before it last came to a node, folded from the stream in which that happened."""

from typing import Final

from runwright.engine.decisions.restarting import Before
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.node import NodeCarried, NodeStarted
from runwright.eventstore.events.run import RunCancelled, RunCompleted, RunContinued, RunFailed, RunQueued, RunTimedOut
from runwright.eventstore.reader import LogReader
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.visits import VISITS
from runwright.projections.replay import replay

_ENDS: Final = frozenset(each.type for each in (RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued))


def before_last_visit(log: LogReader, run_id: str, node: str) -> Before | None:
    """Replay a run up to the event before the last visit of a node started.

    Where the run took the node over and never came to it itself, the visit stands in the stream of the run that it took
    it over from, or further up; where it was to begin at the node and never did, everything it took over was before. An
    ended run starts no node any more, and neither does what it followed from, so that this can be worked out before the
    transaction that uses it.

    Args:
        log: The log.
        run_id: The run.
        node: The full node path.

    Returns:
        ``None`` where neither the run nor one that it took the node over from ever came to it.
    """
    events = list(log.read(f"run/{run_id}"))
    ended = any(each.type in _ENDS for each in events)
    in_run = run_id
    while (upto := _before(events, node)) is None:
        above = _taken_over_from(events, node)
        if above is None:
            return None
        in_run, events = above, list(log.read(f"run/{above}"))
    rows = replay(events, at=upto, projections=(RUNS, VISITS, MOUNTS))
    run = rows.get(RUNS, in_run)
    assert run is not None, "it was queued before it could start a node"
    return Before(
        visits=tuple(rows.find(VISITS, run_id=in_run)),
        mounts=tuple(rows.find(MOUNTS, run_id=in_run)),
        steps=run.step_base + run.steps,
        ended=ended,
    )


def _before(events: list[RecordedEvent], node: str) -> int | None:
    """The last position before a run's last visit of a node; ``None`` where it never came to it."""
    starts = [each.position for each in events if _starts(each, node)]
    if starts:
        return starts[-1] - 1
    queued = _queued(events)
    return events[-1].position if queued is not None and queued.at == node else None


def _starts(recorded: RecordedEvent, node: str) -> bool:
    if recorded.type != NodeStarted.type:
        return False
    event = recorded.event
    return isinstance(event, NodeStarted) and event.path == node and event.attempt == 1


def _taken_over_from(events: list[RecordedEvent], node: str) -> str | None:
    """The run that a node was taken over from, where it was."""
    carried = (each.event for each in events if each.type == NodeCarried.type)
    if not any(isinstance(event, NodeCarried) and event.path == node for event in carried):
        return None
    queued = _queued(events)
    return None if queued is None else queued.parent


def _queued(events: list[RecordedEvent]) -> RunQueued | None:
    event = events[0].event if events else None
    return event if isinstance(event, RunQueued) else None
