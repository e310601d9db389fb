"""Page 05's transition matrix over rows, written from the page and not from the code: what each command must answer."""

from typing import Any

from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS, RunRow
from support.reached import answered

#: What a park reason goes on by, where that is nothing but itself.
BY_ITSELF = ("worker_crashed", "host_stopped", "orphaned")


def standing(rows: Any, run: RunRow) -> str:
    """The column of the matrix that a run is in."""
    queue = rows.get(QUEUE, run.run_id)
    if run.finished_at is not None:
        return run.status
    if queue.state == "queued" or (queue.state == "starting" and run.started_at is None):
        return "never started"
    if run.paused or run.pause_requested:
        return "paused"
    if queue.state in ("starting", "running"):
        return "running"
    if queue.eligible:
        return "parked"
    return "waiting" if queue.reason == "waiting" else "parked"


def expect(rows: Any, run: RunRow, command: str) -> str:
    """What the matrix says that a command is answered, before it is asked."""
    column = standing(rows, run)
    live = run.finished_at is None
    match command, column:
        case "cancel", _ if live:
            return "Applied"
        case "cancel", "cancelled":
            return "Adopted"
        case "restart", _ if live:
            return "Conflict still_live"
        case "restart", "continued":
            return "Conflict parent_invalid"
        case "restart", _:
            return "RecoveryRequired input_cleared" if _input_gone(rows, run) else "Applied"
        case _ if not live:
            return "Conflict already_terminal"
        case "pause", "never started":
            return "Conflict not_started"
        case "pause", "paused":
            return "Adopted"
        case "pause", _:
            return "Applied"
        case "resume", "never started" | "waiting":
            return "Conflict not_parked"
        case "resume", "running":
            return "Adopted"
        case _:
            return _resumed(rows, run, column)


def _resumed(rows: Any, run: RunRow, column: str) -> str:
    """By the reason that it is parked for; a pause is taken back whatever lies below it."""
    queue = rows.get(QUEUE, run.run_id)
    if queue.state != "parked":
        return "Applied"
    if queue.eligible:
        return "Adopted"
    if column == "paused":
        return "Applied"
    if queue.reason == "source_changed":
        return "RecoveryRequired source_changed"
    effects = rows.find(EFFECTS, run_id=run.run_id, state="ambiguous")
    return "RecoveryRequired effect_ambiguous" if effects else "Applied"


def _input_gone(rows: Any, run: RunRow) -> bool:
    return bool(rows.get(RUNS, run.root).input_erased)


def agree(expected: str, result: object) -> None:
    """Hold an answer against the matrix."""
    assert answered(result) == expected, (expected, result)
