"""Repeats of commands that could not be given any more: the first one was carried out, and its receipt says so.

A repeat is checked like the first time, and meanwhile the workflow's file may be gone, or have changed. That is no news
to whoever asks only because a reply was lost.
"""

from pathlib import PurePath
from typing import assert_never

from runwright.engine.host.serving.asked import Asked
from runwright.engine.protocol.payloads import RunRestart, RunResume, RunStart
from runwright.engine.reading.moment import Moment, moment_of
from runwright.engine.results import Adopted
from runwright.engine.rundata import Found, RunData
from runwright.eventstore.log import LogReader
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.runs import RunRow


def known_before(log: LogReader, asked: Asked) -> Adopted[str] | None:
    """The receipt of a start, a restart or a resume that was accepted before; ``None`` where it was something else.

    Args:
        log: The log.
        asked: The call, whose checks have failed now.
    """
    with moment_of(log) as moment:
        receipt = moment.rows.get(RECEIPTS, asked.caller.client, asked.caller.key)
        if receipt is None or receipt.operation != asked.operation.name or receipt.run_id is None:
            return None
        run = moment.run(receipt.run_id)
        if not _same(moment, run, asked):
            return None
        return Adopted(run.run_id, moment.status(run.run_id, held=True).revision)


def _same(moment: Moment, run: RunRow, asked: Asked) -> bool:
    """Whether a call asks for what was done, as far as it can be told without the workflow's code."""
    payload: RunStart | RunRestart | RunResume = asked.payload
    match payload:
        case RunStart():
            where = (payload.cwd, payload.session, _file(payload.workflow))
            return (run.cwd, run.session, _file(run.reference)) == where and _same_input(moment, run, payload)
        case RunRestart():
            return (run.parent, run.at) == (asked.run_id, payload.at)
        case RunResume():
            return run.run_id == asked.run_id
        case never:
            assert_never(never)


def _same_input(moment: Moment, run: RunRow, payload: RunStart) -> bool:
    """An input that was typed in parts, or was erased since, cannot be compared."""
    if payload.fields or payload.task is not None:
        return True
    saved = RunData(moment.rows, moment.event).read_run_input(run.run_id)
    return not isinstance(saved, Found) or saved.value == payload.input


def _file(reference: str) -> str:
    """The part of a reference that does not depend on where it is named from."""
    return PurePath(reference.partition(":")[0]).name
