"""One row per run with everything that a list of runs shows (`run_list`)."""

import json
from typing import Any, Final

import attrs
from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.request import RequestOpened
from runwright.projections.control.queue import MOVES, QUEUE
from runwright.projections.control.runs import LIVE, RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.projection import Index, Projection
from runwright.projections.replace import replace

_EFFECTS: Final = frozenset(
    {"effect.ambiguous", "effect.applied", "effect.rejected", "effect.released", "effect.cancelled"}
)
_REQUESTS: Final = frozenset({"request.opened", "request.accepted", "request.closed"})
_TIMERS: Final = frozenset({"timer.set", "timer.fired", "timer.cleared"})
_WORKERS: Final = frozenset({"worker.ready", "worker.exited"})


@frozen(kw_only=True, weakref_slot=False)
class RunListRow(RunRow):
    """A run's own row, and what else a list shows of it.

    ``effects`` (the ambiguous ones), ``requests`` (the unsettled ones) and ``timers`` (the set ones) are JSON
    texts; ``revision`` is the version of the run's stream, ``position`` that of its last event.
    """

    queue_state: str
    reason: str | None
    detail: str | None
    since: int
    effects: str
    requests: str
    timers: str
    ready: bool
    presentation: str | None
    presentation_at: int | None
    revision: int
    position: int


class RunList(Projection[RunListRow]):
    """One row per run with everything that a list of runs shows.

    It is for `query`. Whatever lists runs itself reads the control rows, which stand at the log's head while a view may
    lag. There is no second word on any fact: the run's part evolves as in `runs`, the queue state by the table of
    moves of `queue`, the presentation as in `terminal`.
    """

    name = "run_list"
    row = RunListRow
    key_columns = ("run_id",)
    indexes = (
        Index(columns=("status",), where={"status": LIVE}),
        Index(columns=("workflow",)),
    )

    def __init__(self) -> None:
        super().__init__()
        self.listens = frozenset(
            {*RUNS.listens, *QUEUE.listens, *TERMINAL.listens, *_EFFECTS, *_REQUESTS, *_TIMERS, *_WORKERS}
        )

    def evolve(self, row: RunListRow | None, recorded: RecordedEvent) -> RunListRow | None:
        """Answer the row after an event."""
        run: RunRow | None = RUNS.evolve(row, recorded) if recorded.type in RUNS.listens else row
        if run is None:
            return None
        if not isinstance(run, RunListRow):
            return _first(run, recorded)
        changes = {**_queue(recorded), **_parts(run, recorded), **_presentation(recorded)}
        return replace(run, revision=recorded.version, position=recorded.position, **changes)


def _first(run: RunRow, recorded: RecordedEvent) -> RunListRow:
    return RunListRow(
        **attrs.asdict(run),
        queue_state="queued",
        reason=None,
        detail=None,
        since=recorded.at,
        effects="[]",
        requests="[]",
        timers="[]",
        ready=False,
        presentation=None,
        presentation_at=None,
        revision=recorded.version,
        position=recorded.position,
    )


def _queue(recorded: RecordedEvent) -> dict[str, Any]:
    if recorded.type not in MOVES:
        return {}
    event: Any = recorded.event
    parked = recorded.type == "run.parked"
    keeps = recorded.type in ("run.requeued", "run.started", "run.recovered")
    changes: dict[str, Any] = {"queue_state": MOVES[recorded.type][1], "since": recorded.at}
    if not keeps:
        changes |= {"reason": event.reason if parked else None, "detail": event.detail if parked else None}
    return changes


def _parts(row: RunListRow, recorded: RecordedEvent) -> dict[str, Any]:
    event: Any = recorded.event
    if recorded.type in _EFFECTS:
        effects = [each for each in json.loads(row.effects) if each != event.effect]
        return {
            "effects": json.dumps(sorted([*effects, event.effect] if recorded.type == "effect.ambiguous" else effects))
        }
    if recorded.type in _TIMERS:
        timers = [each for each in json.loads(row.timers) if each != event.kind]
        return {"timers": json.dumps(sorted([*timers, event.kind]) if recorded.type == "timer.set" else timers)}
    if recorded.type in _WORKERS:
        return {"ready": recorded.type == "worker.ready"}
    if recorded.type in _REQUESTS:
        requests = [each for each in json.loads(row.requests) if each["request"] != event.request]
        requests += _opened(recorded.event)
        return {"requests": json.dumps(sorted(requests, key=lambda each: str(each["request"])))}
    return {}


def _opened(event: object) -> list[dict[str, Any]]:
    if not isinstance(event, RequestOpened):
        return []
    return [{"request": event.request, "kind": event.kind, "path": event.path, "deadline": event.deadline}]


def _presentation(recorded: RecordedEvent) -> dict[str, Any]:
    if recorded.type not in TERMINAL.listens:
        return {}
    match recorded.type:
        case "presentation.prepared":
            state = "prepared"
        case "presentation.failed":
            state = "failed"
        case "presentation.abandoned":
            state = "abandoned"
        case _:
            due: str = recorded.event.message_due  # type: ignore[attr-defined]  # every end says so
            state = "none" if due == "none" else "pending"
    return {"presentation": state, "presentation_at": recorded.at}


RUN_LIST = RunList()
