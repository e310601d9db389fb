"""Private values that somebody asks for by name: outputs, and an effect's request and result."""

from typing import assert_never

from attrs import frozen

from runwright.engine.reading.effects import Effect, EffectValues
from runwright.engine.reading.errors import OutputMissing, OutputRedacted
from runwright.engine.reading.moment import Moment, moment_of
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, RunData
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.definition import SourcesRecorded
from runwright.eventstore.events.effect import EffectApplied, EffectReserved
from runwright.eventstore.events.event import JSON, Content
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EffectRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.visits import VISITS


@frozen
class Stored:
    """An output, and the position of the event that holds it."""

    position: int
    value: Json


def run_output(log: LogReader, run_id: str) -> Stored:
    """A run's final output.

    Raises:
        NotFound: There is no such run; `OutputMissing` where it has no output, `OutputRedacted` where it was erased.
    """
    with moment_of(log) as moment:
        run = moment.run(run_id)
        terminal = moment.rows.get(TERMINAL, run_id)
        value = RunData(moment.rows, moment.event).read_final_output(run_id)
    match value:
        case Found(found):
            assert terminal is not None, "its output was found by that row"
            assert terminal.output is not None, "the same"
            return Stored(terminal.output, found)
        case Redacted():
            raise OutputRedacted(run_id, None)
        case Missing():
            queue = moment.rows.get(QUEUE, run_id)
            parked = run.status == "running" and queue is not None and queue.state == "parked"
            raise OutputMissing(run_id, None, f"it is {'parked' if parked else run.status}")
        case MediaTypeMismatch():
            raise OutputMissing(run_id, None, f"it holds {value.stored} and not {value.declared}")
        case never:
            assert_never(never)


def node_output(log: LogReader, run_id: str, node: str, visit: int | None) -> Stored:
    """The output of a node's visit, or the last accepted one; raises as `run_output`."""
    with moment_of(log) as moment:
        moment.run(run_id)
        row = moment.rows.get(VISITS, run_id, node)
        if row is None:
            raise OutputMissing(run_id, node, "it was never visited")
        recorded = moment.event(row.output) if visit is None else None
    if visit is None and recorded is None:
        raise OutputMissing(run_id, node, f"its last visit is {row.outcome or 'under way'}")
    if visit is not None:
        recorded = _finish_of(log, run_id, node, visit)
    assert recorded is not None
    return Stored(recorded.position, _output_of(recorded, run_id, node))


def effect_values(moment: Moment, row: EffectRow) -> EffectValues:
    """An effect with its request and result."""
    reserved, applied = moment.event(row.request), moment.event(row.result)
    request = reserved.event.request if reserved and isinstance(reserved.event, EffectReserved) else None
    result = applied.event.result if applied and isinstance(applied.event, EffectApplied) else None
    return EffectValues(effect=Effect.of(row), request=_value(request), result=_value(result))


def read_sources(log: LogReader, digest: str) -> dict[str, str] | None:
    """The files of a recorded source set with their SHA-256."""
    for recorded in log.read(f"sources/{digest}"):
        event = recorded.event
        if isinstance(event, SourcesRecorded) and event.paths is not None and isinstance(event.paths.value, dict):
            return {path: str(each) for path, each in event.paths.value.items()}
    return None


def _finish_of(log: LogReader, run_id: str, node: str, visit: int) -> RecordedEvent:
    last: RecordedEvent | None = None
    for recorded in log.read(f"run/{run_id}"):
        event = recorded.event
        if isinstance(event, NodeFinished) and (event.path, event.visit) == (node, visit):
            last = recorded
    if last is None:
        raise OutputMissing(run_id, node, f"visit {visit} has not ended")
    return last


def _output_of(recorded: RecordedEvent, run_id: str, node: str | None) -> Json:
    event = recorded.event
    if recorded.erased:
        raise OutputRedacted(run_id, node)
    if not isinstance(event, NodeFinished) or event.output is None or event.output.media != JSON:
        outcome = event.outcome if isinstance(event, NodeFinished) else "something else"
        raise OutputMissing(run_id, node, f"that visit is {outcome}")
    return event.output.value


def _value(content: Content | None) -> Json:
    return None if content is None else content.value
