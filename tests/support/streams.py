"""What the log itself must never show, read event by event and without any row: the laws as properties of streams."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.effect import EffectApplying, EffectReleased
from runwright.eventstore.events.message import MessageDelivered
from runwright.eventstore.events.node import MountEntered, NodeStarted
from runwright.eventstore.events.run import (
    RunCancelled,
    RunClaimed,
    RunCompleted,
    RunContinued,
    RunFailed,
    RunPaused,
    RunResumed,
    RunTimedOut,
)
from runwright.eventstore.events.turn import TurnStarted

ENDS = (RunCompleted, RunFailed, RunTimedOut, RunCancelled, RunContinued)

#: What may follow a run's end in its stream: words about what was, and what people are told.
AFTERWARDS = (
    "run.input_erased", "worker.exited", "effect.applied", "effect.rejected", "effect.cancelled", "effect.resolved",
    "presentation.", "message.", "turn.", "request.refused",
)  # fmt: skip


def check_streams(recorded: Iterable[RecordedEvent]) -> None:
    """Hold every run's stream against the laws."""
    streams: dict[str, list[RecordedEvent]] = defaultdict(list)
    for each in recorded:
        if each.stream.startswith("run/"):
            streams[each.stream].append(each)
    for stream in streams.values():
        _begins_and_ends_once(stream)
        _paused_runs_rest(stream)
        _owners_follow_each_other(stream)
        _effects_are_released_before_they_are_tried_again(stream)


def _begins_and_ends_once(stream: Sequence[RecordedEvent]) -> None:
    """Law 6: one beginning, one end, and after it nothing that moves the run."""
    assert [each.version for each in stream if each.type == "run.queued"] == [1]
    ends = [number for number, each in enumerate(stream) if isinstance(each.event, ENDS)]
    assert len(ends) <= 1, [stream[number].type for number in ends]
    for each in stream[ends[0] + 1 :] if ends else ():
        assert each.type.startswith(AFTERWARDS), f"{each.type} after {stream[ends[0]].type}"
        assert not (isinstance(each.event, TurnStarted) and each.event.run is not None), "a step's turn after the end"


def _paused_runs_rest(stream: Sequence[RecordedEvent]) -> None:
    """While it is paused no node starts and no step is handed out (page 05, "Pause and cancel")."""
    paused = False
    for each in stream:
        match each.event:
            case RunPaused():
                paused = True
            case RunResumed():
                paused = False
            case NodeStarted() | MountEntered() | RunClaimed():
                assert not paused, f"{each.type} of a paused run"
            case MessageDelivered(request=request) if request is not None:
                assert not paused, "a step was handed out by a paused run"


def _owners_follow_each_other(stream: Sequence[RecordedEvent]) -> None:
    """Law 3: each owner has the next generation, and what a worker writes is written under the present one."""
    generation = 0
    for each in stream:
        if isinstance(each.event, RunClaimed):
            assert each.event.generation == generation + 1
            generation = each.event.generation
        elif each.generation is not None and each.type not in ("worker.exited", "effect.applied", "effect.rejected"):
            assert each.generation == generation, f"{each.type} under generation {each.generation} of {generation}"


def _effects_are_released_before_they_are_tried_again(stream: Sequence[RecordedEvent]) -> None:
    """Law 7: between two applications of an effect somebody said that it may be tried again."""
    under_way: set[str] = set()
    for each in stream:
        match each.event:
            case EffectApplying(effect=effect):
                assert effect not in under_way, "tried again, and nobody had said that it may be"
                under_way.add(effect)
            case EffectReleased(effect=effect):
                under_way.discard(effect)
