"""Repeats of commands that could not be given any more: the first one was carried out, and its receipt says so.

A repeat is checked like the first time, and meanwhile the workflow's file may be gone, or have changed. That is no news
to whoever asks only because a reply was lost.
"""

from pathlib import Path, PurePath
from typing import Any, TypeAlias, assert_never

from attrs import frozen

from runwright.engine.authoring.conversion import NotConvertible, readings, to_json
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.commands.client import Caller
from runwright.engine.embedded.code import Typed
from runwright.engine.embedded.filling import TASK_FIELD
from runwright.engine.reading.moment import Moment, moment_of
from runwright.engine.results import Adopted
from runwright.engine.rundata import Found, RunData
from runwright.eventstore.errors import ValueRefused
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json, JsonObject, decode
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.runs import RunRow


@frozen(kw_only=True)
class Started:
    """What a start asks for."""

    workflow: Workflow[Any] | str
    input: object
    cwd: Path
    session: str | None
    typed: Typed


@frozen(kw_only=True)
class Restarted:
    """What a restart asks for."""

    run_id: str
    at: str | None


@frozen(kw_only=True)
class Resumed:
    """What a resume asks for."""

    run_id: str


Given: TypeAlias = Started | Restarted | Resumed

_OPERATIONS = {Started: "run.start", Restarted: "run.restart", Resumed: "run.resume"}


def known_before(log: LogReader, caller: Caller, given: Given) -> Adopted[str] | None:
    """The receipt of a start, a restart or a resume that was accepted before; ``None`` where it was something else.

    Args:
        log: The log.
        caller: Who asks, under which key.
        given: The command, whose checks have failed now.
    """
    with moment_of(log) as moment:
        receipt = moment.rows.get(RECEIPTS, caller.client, caller.key)
        if receipt is None or receipt.operation != _OPERATIONS[type(given)] or receipt.run_id is None:
            return None
        run = moment.run(receipt.run_id)
        if not _same(moment, run, given):
            return None
        return Adopted(run.run_id, moment.status(run.run_id, held=True).revision)


def _same(moment: Moment, run: RunRow, given: Given) -> bool:
    """Whether a command asks for what was done, as far as it can be told without the workflow's code."""
    match given:
        case Started():
            where = (str(given.cwd), given.session)
            return (run.cwd, run.session) == where and _names(given.workflow, run) and _same_input(moment, run, given)
        case Restarted():
            return (run.parent, run.at) == (given.run_id, given.at)
        case Resumed():
            return run.run_id == given.run_id
        case never:
            assert_never(never)


def _same_input(moment: Moment, run: RunRow, given: Started) -> bool:
    """Whether the input is the same; one that was erased since cannot be compared."""
    saved = RunData(moment.rows, moment.event).read_run_input(run.run_id)
    if not isinstance(saved, Found):
        return True
    try:
        value = to_json(given.input, Any)
    except NotConvertible:
        return False
    typed = given.typed
    if not typed.fields and typed.task is None:
        return saved.value == value
    return isinstance(saved.value, dict) and isinstance(value, dict) and _fits(saved.value, value, typed)


def _fits(saved: JsonObject, value: JsonObject, typed: Typed) -> bool:
    """Whether what was typed can have become a saved input, which holds what was given and no default."""
    meant: dict[str, list[Json]] = {name: [each] for name, each in value.items()}
    for each in typed.fields:
        meant[each.key] = _document(each.text) if each.is_json else readings(each.text)
    if typed.task is not None:
        meant[TASK_FIELD] = [typed.task]
    return saved.keys() == meant.keys() and all(
        any(_equal(saved[name], each) for each in found) for name, found in meant.items()
    )


def _document(text: str) -> list[Json]:
    try:
        return [decode(text)]
    except ValueRefused:
        return []


def _equal(saved: Json, given: Json) -> bool:
    return saved == given and isinstance(saved, bool) is isinstance(given, bool)


def _names(workflow: Workflow[Any] | str, run: RunRow) -> bool:
    if isinstance(workflow, str):
        return _file(workflow) == _file(run.reference)
    return workflow.name == run.workflow


def _file(reference: str) -> str:
    """The part of a reference that does not depend on where it is named from."""
    return PurePath(reference.partition(":")[0]).name
