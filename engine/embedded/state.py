"""What an executor needs to begin a run or to carry it on, read from the store."""

import json
from collections.abc import Callable
from pathlib import Path

from runwright.engine.commands.client import QueueRun
from runwright.engine.commands.run import Start
from runwright.engine.decisions.run_command import Launch, beginning, command_of
from runwright.engine.execution.port import MountState, NodeState, RunState, SavedEffect, SavedRequest
from runwright.engine.rundata import Found, RunData
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.effect import EffectApplied, EffectReserved
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.node import MountEntered, MountExited, NodeFinished
from runwright.eventstore.events.request import RequestOpened, RequestRefused, RequestRejected
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.control.mounts import MOUNTS, MountRow
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.visits import VISITS, VisitRow
from runwright.projections.rows import Rows

EventAt = Callable[[int], RecordedEvent | None]


def fresh_state(queued: QueueRun, scratch: Path) -> RunState:
    """The state of a run that this process itself has just queued; nothing of it has to be read."""
    return RunState(
        command=Start(run_id=queued.run_id),
        run_id=queued.run_id,
        root=queued.run_id,
        workflow=queued.workflow,
        definition=queued.definition,
        input=queued.input,
        node=None,
        nodes={},
        steps=0,
        max_steps=queued.max_steps,
        cwd=_cwd(queued.cwd),
        scratch=scratch,
        agents={each.name: each.kind for each in queued.agents},
        session=queued.session,
    )


def read_state(run: RunRow, rows: Rows, event_at: EventAt, scratch: Path) -> RunState:
    """Read everything that a launch of a run needs.

    Args:
        run: The run's row.
        rows: The control rows.
        event_at: Answers the event at a position.
        scratch: The run's private folder.
    """
    launch = read_launch(run, rows)
    found = RunData(rows, event_at).read_run_input(run.run_id)
    begun = run.node is not None
    holds = begun or run.kind == "continue" or run.at is not None
    mounts: list[MountRow] = rows.find(MOUNTS, run_id=run.run_id)
    return RunState(
        command=command_of(launch),
        begins=beginning(launch),
        run_id=run.run_id,
        root=run.root,
        workflow=run.workflow,
        definition=run.definition,
        input=found.value if isinstance(found, Found) else None,
        node=run.node,
        nodes={row.path: _node(row, event_at) for row in rows.find(VISITS, run_id=run.run_id)} if holds else {},
        steps=run.step_base + run.steps,
        max_steps=run.max_steps,
        cwd=_cwd(run.cwd),
        scratch=scratch,
        effect=_effect(run, rows, event_at) if begun else None,
        request=_request(run, rows, event_at) if begun else None,
        mounts={row.path: _mount(row, event_at) for row in mounts},
        mount=_last_moved(run, rows, mounts),
        agents={each["name"]: each["kind"] for each in json.loads(run.agents)},
        session=run.session,
    )


def read_launch(run: RunRow, rows: Rows) -> Launch:
    """Read what the command of a launch follows from, and is held against."""
    queue = rows.get(QUEUE, run.run_id)
    assert queue is not None, "queued by the same event as the run"
    return Launch(
        run=run,
        queue=queue.state,
        parent=None if run.parent is None else rows.get(RUNS, run.parent),
        request=None if run.request is None else rows.get(REQUESTS, run.request),
    )


def _cwd(folder: str | None) -> Path:
    return Path.cwd() if folder is None else Path(folder)


def _node(row: VisitRow, event_at: EventAt) -> NodeState:
    finished = _at(event_at, row.finished)
    accepted = finished if row.output == row.finished else _at(event_at, row.output)
    output = accepted.output if isinstance(accepted, NodeFinished) else None
    error = finished.error if isinstance(finished, NodeFinished) else None
    return NodeState(
        path=row.path,
        visits=row.visits,
        invocation_visits=row.invocation_visits,
        open=row.open,
        attempt=row.attempt,
        outcome=row.outcome,
        has_output=output is not None,
        output=None if output is None else output.value,
        code=row.code,
        error=_text(error),
        started_at=row.started_at,
        finished_at=row.finished_at,
        deadline=row.deadline,
        invocation=row.invocation,
    )


def _mount(row: MountRow, event_at: EventAt) -> MountState:
    entered, output = _at(event_at, row.input), _at(event_at, row.output)
    exited = _at(event_at, row.exited)
    child_input = entered.input if isinstance(entered, MountEntered) else None
    left = output.output if isinstance(output, MountExited) else None
    return MountState(
        path=row.path,
        invocation=row.invocation,
        within=row.within,
        entries=row.entries,
        inside=row.inside,
        exit=row.exit,
        outcome=row.outcome,
        code=row.code,
        error=_text(exited.error) if isinstance(exited, MountExited) else None,
        step_base=row.step_base,
        input=None if child_input is None else child_input.value,
        output=None if left is None else left.value,
        entered_at=row.entered_at,
        exited_at=row.exited_at,
    )


def _last_moved(run: RunRow, rows: Rows, mounts: list[MountRow]) -> str | None:
    """The mount that was entered or left after the last start and the last end of a node."""
    last = max(mounts, key=lambda row: row.changed, default=None)
    if last is None or not last.changed:
        return None
    node: VisitRow | None = None if run.node is None else rows.get(VISITS, run.run_id, run.node)
    if node is not None and (node.open or node.finished is None or node.finished > last.changed):
        return None
    return last.path


def _effect(run: RunRow, rows: Rows, event_at: EventAt) -> SavedEffect | None:
    """The effect of the visit that started last; a visit has at most one."""
    found: list[EffectRow] = rows.find(EFFECTS, run_id=run.run_id, path=run.node, visit=run.visit)
    if not found:
        return None
    row = found[0]
    reserved = _at(event_at, row.request)
    request = reserved.request if isinstance(reserved, EffectReserved) else None
    applied = _at(event_at, row.result)
    result = applied.result if isinstance(applied, EffectApplied) else None
    return SavedEffect(
        effect=row.effect,
        state=row.state,
        applications=row.applications,
        cause=row.cause,
        request=None if request is None else request.value,
        result=None if result is None else result.value,
    )


def _request(run: RunRow, rows: Rows, event_at: EventAt) -> SavedRequest | None:
    """The open request of the open attempt, with why its last candidate was refused."""
    for row in rows.find(REQUESTS, run_id=run.run_id, path=run.node, visit=run.visit, attempt=run.attempt):
        if row.state not in ("open", "validating"):
            continue
        opened = _at(event_at, row.opened)
        if not isinstance(opened, RequestOpened):
            continue
        rejection = _at(event_at, row.rejection)
        reason = rejection.reason if isinstance(rejection, RequestRejected | RequestRefused) else None
        return SavedRequest(
            request=row.request,
            prompt=_text(opened.prompt) or "",
            refused=row.refused,
            refusal=_text(reason),
            deadline=row.deadline,
        )
    return None


def _at(event_at: EventAt, position: int | None) -> object:
    recorded = None if position is None else event_at(position)
    return None if recorded is None else recorded.event


def _text(content: Content | None) -> str | None:
    return content.value if content is not None and isinstance(content.value, str) else None
