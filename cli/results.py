"""How a command that drove runs ends: the facts, the output last, and the exit code."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from runwright.cli.driving import Driven, leave
from runwright.cli.endings import code_of_status, worst
from runwright.cli.failures import INTERRUPTED, Failure
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.pages import print_list
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from runwright.engine.reading.status import Status

#: No run was refused.
NOBODY: Final[Mapping[int, Failure]] = MappingProxyType({})


def report(call: Invocation, driven: Driven, *, with_output: bool, refused: Mapping[int, Failure] = NOBODY) -> int:
    """Say how the runs stand and print their outputs.

    Args:
        call: The invocation.
        driven: What `drive` answered.
        with_output: Whether the output is printed.
        refused: What those were told that were not carried on, by their places in the row of all.

    Returns:
        The exit code; where code that cannot be stopped is at work here, the process ends instead.
    """
    outputs = [_output(call, each) if with_output else None for each in driven.statuses]
    codes = (code_of_status(each.run_status) for each in driven.statuses)
    code = INTERRUPTED if driven.left else worst([*codes, *(each.exit_code for each in refused.values())])
    if call.out.for_machines:
        documents: list[JsonObject] = [
            document(status, output, with_output=with_output)
            for status, output in zip(driven.statuses, outputs, strict=True)
        ]
        for place, failure in sorted(refused.items()):
            documents.insert(place, failure.document())
        if call.out.as_json and len(documents) == 1:
            call.out.document(documents[0])
        else:
            print_list(call.out, documents, position=max((each.position for each in driven.statuses), default=None))
    else:
        from runwright.cli.rendering.endings import ending_lines
        from runwright.cli.rendering.statuses import next_lines

        for status, output in zip(driven.statuses, outputs, strict=True):
            call.out.say(*ending_lines(status, time.time_ns() // 1000, cause=_cause(call, status)))
            if not status.ended and not status.next and status.driven:
                call.out.say(*next_lines([f"runwright watch {status.run_id}"]))
            if with_output and status.run_status == "completed":
                call.out.value(output)
    if driven.outlived:
        leave(call, code)
    return code


def document(status: "Status", output: Json, *, with_output: bool) -> JsonObject:
    """What ``run --json`` prints: the status, and the output."""
    return {**status.document(), "output": output} if with_output else status.document()


def _cause(call: Invocation, status: "Status") -> str | None:
    """The private text of the error, for the person who drove the run at a terminal; pipes are kept for longer."""
    if status.error is None or not call.out.at_terminal:
        return None
    from runwright.engine.reading.moment import moment_of
    from runwright.engine.rundata import Found, RunData

    with reading(call) as store, moment_of(store.log) as moment:
        found = RunData(moment.rows, moment.event).read_run_error(status.run_id)
    return str(found.value) if isinstance(found, Found) else None


def _output(call: Invocation, status: "Status") -> Json:
    if status.run_status != "completed":
        return None
    with reading(call) as store:
        return store.output(status.run_id)
