"""What a run did, folded from its own events."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from runwright.engine.reading.moment import moment_of
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.node import NodeCarried, NodeFinished, NodeStarted
from runwright.eventstore.events.request import RequestOpened
from runwright.eventstore.events.run import RunCompleted
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json


@frozen(kw_only=True)
class History:
    """What a run did.

    Attributes:
        output: Its final output; ``None`` where there is none, or it was erased.
        path: The node paths it started, in order, one for each visit.
        outputs: The accepted output of each node path's last visit, where that completed; carried ones included.
        prompts: The prompts of each node path, in order.
    """

    output: Json
    path: tuple[str, ...]
    outputs: Mapping[str, Json]
    prompts: Mapping[str, Sequence[str]]


def read_history(log: LogReader, run_id: str) -> History:
    """Fold a run's events.

    Raises:
        NotFound: There is no such run.
    """
    with moment_of(log) as moment:
        moment.run(run_id)
    path: list[str] = []
    outputs: dict[str, Json] = {}
    prompts: dict[str, list[str]] = {}
    at: dict[int, Json] = {}
    output: Json = None
    for recorded in log.read(f"run/{run_id}"):
        match recorded.event:
            case NodeStarted() as started:
                if started.attempt == 1:
                    path.append(started.path)
            case NodeCarried() as carried if carried.output is not None:
                at[carried.output] = outputs[carried.path] = _carried(log, carried.output)
            case NodeFinished() as finished:
                outputs.pop(finished.path, None)
                if finished.outcome == "completed" and finished.output is not None:
                    at[recorded.position] = outputs[finished.path] = finished.output.value
            case RequestOpened() as opened if opened.prompt is not None:
                prompts.setdefault(opened.path, []).append(_text(opened.prompt))
            case RunCompleted() as completed:
                output = at.get(completed.output or 0)
            case _:
                pass
    return History(output=output, path=tuple(path), outputs=outputs, prompts=prompts)


def _carried(log: LogReader, position: int) -> Json:
    """An accepted output that stands in the stream of a run before this one."""
    recorded = log.event(position)
    event = None if recorded is None else recorded.event
    return event.output.value if isinstance(event, NodeFinished) and event.output is not None else None


def _text(content: Content) -> str:
    return content.value if isinstance(content.value, str) else ""
