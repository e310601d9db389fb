"""What a walk has reached: every kind of event, told apart by what makes it another thing."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import Event

#: The fields that tell events of one type apart.
TELLING = {
    "run.queued": ("kind",),
    "run.eligible": ("cause",),
    "run.parked": ("reason",),
    "run.requeued": ("reason",),
    "node.finished": ("outcome",),
    "mount.exited": ("outcome",),
    "effect.resolved": ("resolution",),
    "effect.released": ("cause",),
    "request.opened": ("kind",),
    "request.accepted": ("source",),
    "request.closed": ("cause",),
    "message.queued": ("kind", "reason"),
    "message.delivered": ("starts_turn",),
    "message.cancelled": ("cause",),
    "turn.ended": ("stop_reason",),
    "turn.lost": ("cause",),
    "timer.set": ("kind",),
    "timer.fired": ("kind",),
    "worker.exited": ("outcome",),
}


def kind(event: Event) -> str:
    """What an event is, as it is counted: ``turn.ended aborted``."""
    return " ".join((event.type, *_told(event)))


def _told(event: Any) -> Iterator[str]:
    for name in TELLING.get(event.type, ()):
        value = getattr(event, name)
        if value not in (None, ""):
            yield str(value).lower()
    match event.type:
        case "run.queued" if event.at is not None:
            yield "at a node"
        case "request.opened" if event.session is not None and event.kind == "agent":
            yield "of a session"
        case "turn.started" if event.run is None:
            yield "unowned"


def count(reached: Counter[str], recorded: Iterable[RecordedEvent]) -> None:
    """Count every event of a walk."""
    reached.update(kind(each.event) for each in recorded if each.event is not None)


def answered(result: object) -> str:
    """What a command was answered, as it is counted: ``Conflict paused``."""
    match result:
        case Applied():
            return "Applied"
        case Adopted():
            return "Adopted"
        case Conflict(code=code):
            return f"Conflict {code}"
        case RecoveryRequired(reason=reason):
            return f"RecoveryRequired {reason}"
        case _:
            raise TypeError(type(result).__name__)


def table(reached: Counter[str]) -> str:
    """Everything reached, and how often, by name."""
    return "\n".join(f"{times:>8}  {name}" for name, times in sorted(reached.items()))
