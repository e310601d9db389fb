"""The typed readers of a run's values: nothing else reads them (page 05, "Terminal facts and typed data"; law 9)."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import JSON, TEXT, Content
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.run import RunCancelled, RunFailed, RunInput, RunTimedOut
from runwright.eventstore.events.worker import PresentationPrepared
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL, TerminalRow
from runwright.projections.rows import Rows

Field: TypeAlias = Literal["input", "output", "error", "instructions"]


@frozen
class Found:
    """A value of the declared type: JSON for inputs and outputs, a ``str`` for errors and instructions."""

    value: Json


@frozen
class Missing:
    """There is no such value, and there was none."""

    run_id: str
    field: Field


@frozen
class MediaTypeMismatch:
    """The stored value has another type than its reader declares; an error of the reader, not of the run."""

    run_id: str
    field: Field
    declared: str
    stored: str


@frozen
class Redacted:
    """There was such a value, and it was erased."""

    run_id: str
    field: Field


Value: TypeAlias = Found | Missing | MediaTypeMismatch | Redacted


@frozen(kw_only=True)
class TerminalFacts:
    """How one run ended, as typed parts.

    Attributes:
        run_id: The run.
        workflow: Its workflow.
        outcome: ``completed``, ``failed``, ``timed_out``, ``cancelled``; ``continued`` where a child carries on.
        code: The error code.
        message: The safe message.
        finished_at: UTC microseconds.
        output: Its output, when it completed.
        error: Its error text, when it did not; of a cancelled run the reason somebody gave.
        has_output: Whether there is, or was, an output.
        has_error: Whether there is, or was, an error text.
        ancestors: The same of every run before it in its chain, the nearest first.
    """

    run_id: str
    workflow: str
    outcome: str
    code: str | None
    message: str | None
    finished_at: int
    output: Value
    error: Value
    has_output: bool
    has_error: bool
    ancestors: tuple["TerminalFacts", ...] = ()


class RunData:
    """Reads a run's values by their declared types.

    Args:
        rows: The control rows.
        event: Answers the event at a position, or ``None``.
    """

    def __init__(self, rows: Rows, event: Callable[[int], RecordedEvent | None]) -> None:
        self._rows = rows
        self._event = event

    def read_run_input(self, run_id: str) -> Value:
        """Read the input of a run, which is its root's, as JSON."""
        run = self._rows.get(RUNS, run_id)
        root = None if run is None else self._rows.get(RUNS, run.root)
        if root is None or root.input is None:
            return Missing(run_id, "input")
        return self._read(run_id, "input", root.input, JSON)

    def read_final_output(self, run_id: str) -> Value:
        """Read the output of a completed run, as JSON."""
        terminal = self._rows.get(TERMINAL, run_id)
        return self._read(run_id, "output", None if terminal is None else terminal.output, JSON)

    def read_run_error(self, run_id: str) -> Value:
        """Read the error text of a run that did not complete."""
        terminal = self._rows.get(TERMINAL, run_id)
        return self._read(run_id, "error", None if terminal is None else terminal.error, TEXT)

    def read_presentation_instructions(self, run_id: str) -> Value:
        """Read the instructions that were prepared for the end of a run, as text."""
        terminal = self._rows.get(TERMINAL, run_id)
        return self._read(run_id, "instructions", None if terminal is None else terminal.instructions, TEXT)

    def read_terminal_facts(self, run_id: str) -> TerminalFacts | None:
        """Read how a run ended, with every ancestor of its chain; ``None`` while it lives."""
        chain: list[TerminalFacts] = []
        seen: set[str] = set()
        next_id: str | None = run_id
        while next_id is not None and next_id not in seen:
            seen.add(next_id)
            run = self._rows.get(RUNS, next_id)
            if run is None or run.finished_at is None:
                break
            chain.append(self._facts(run, run.finished_at))
            next_id = run.parent
        if not chain:
            return None
        first = chain[0]
        return TerminalFacts(
            run_id=first.run_id,
            workflow=first.workflow,
            outcome=first.outcome,
            code=first.code,
            message=first.message,
            finished_at=first.finished_at,
            output=first.output,
            error=first.error,
            has_output=first.has_output,
            has_error=first.has_error,
            ancestors=tuple(chain[1:]),
        )

    def _facts(self, run: RunRow, finished_at: int) -> TerminalFacts:
        terminal: TerminalRow | None = self._rows.get(TERMINAL, run.run_id)
        return TerminalFacts(
            run_id=run.run_id,
            workflow=run.workflow,
            outcome=run.status,
            code=None if terminal is None else terminal.code,
            message=None if terminal is None else terminal.message,
            finished_at=finished_at,
            output=self.read_final_output(run.run_id),
            error=self.read_run_error(run.run_id),
            has_output=terminal is not None and terminal.output is not None,
            has_error=terminal is not None and terminal.error is not None,
        )

    def _read(self, run_id: str, field: Field, position: int | None, declared: str) -> Value:
        recorded = None if position is None else self._event(position)
        if recorded is None:
            return Missing(run_id, field)
        if recorded.erased:
            return Redacted(run_id, field)
        content = _content(recorded, field)
        if content is None:
            return Missing(run_id, field)
        if content.media != declared:
            return MediaTypeMismatch(run_id, field, declared, content.media)
        return Found(content.value)


def _content(recorded: RecordedEvent, field: Field) -> Content | None:
    match recorded.event:
        case RunInput(input=content) if field == "input":
            return content
        case NodeFinished(output=content) if field == "output":
            return content
        case RunFailed(error=content) | RunTimedOut(error=content) if field == "error":
            return content
        case RunCancelled(reason=content) if field == "error":
            return content
        case PresentationPrepared(instructions=content) if field == "instructions":
            return content
        case _:
            return None
