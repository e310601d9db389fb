"""One command for several runs: each answers for itself, and the exit code is the highest."""

import time
from collections.abc import Callable, Sequence

from runwright.cli.changes import Change, Changes
from runwright.cli.changing import changing
from runwright.cli.endings import worst
from runwright.cli.failures import OK, Failure, Refused, failure_of
from runwright.cli.invocation import Invocation
from runwright.cli.naming_runs import Facts, Runs, runs_of
from runwright.cli.pages import print_list
from runwright.eventstore.values import JsonObject


def steer(call: Invocation, action: str, runs: Sequence[str], ask: Callable[[Changes, str], Change]) -> int:
    """Carry a command out for each run.

    Args:
        call: The invocation.
        action: The command's name.
        runs: The runs as they were typed.
        ask: Has the command carried out for one run's ID.

    Returns:
        The exit code.
    """
    with runs_of(call) as known:
        named = [_named(known, text) for text in runs]
        # Where no name means a run, nothing is asked for, and nobody has to give the store away.
        if any(isinstance(each, str) for each in named):
            with changing(call, known.client) as changes:
                answers = [_one(call, known, found, lambda run_id: ask(changes, run_id), action) for found in named]
                position = known.position()  # before the store is given back, which is an event of its own
        else:
            answers = [_one(call, known, found, _nobody, action) for found in named]
            position = known.position()
    documents = [document for document, _ in answers]
    if call.out.as_json and len(runs) == 1:
        call.out.document(documents[0])
    elif call.out.for_machines:
        print_list(call.out, documents, position=position)
    return worst(code for _, code in answers)


def _named(known: Runs, text: str) -> str | Failure:
    try:
        return str(known.find(text)["run_id"])
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        return failure


def _nobody(run_id: str) -> Change:
    raise AssertionError(f"{run_id} names a run")


def _one(
    call: Invocation, known: Runs, found: str | Failure, ask: Callable[[str], Change], action: str
) -> tuple[JsonObject, int]:
    try:
        if isinstance(found, Failure):
            raise Refused(found)
        change = ask(found)
    except Exception as error:
        failure = failure_of(error, {"RUN": found} if isinstance(found, str) else {})
        if failure is None or failure.code == "store_in_use":
            raise
        if not call.out.for_machines:
            call.out.fail(failure)
        return failure.document(), failure.exit_code
    facts = known.facts(found)
    if not call.out.for_machines:
        _say(call, action, change, facts)
    return {
        "action": action,
        "run_id": found,
        "workflow": facts["workflow"],
        "result": change.result,
        "status": facts["status"],
        "revision": change.revision,
    }, OK


def _say(call: Invocation, action: str, change: Change, facts: Facts) -> None:
    from runwright.cli.rendering.run_lines import line_of
    from runwright.cli.rendering.statuses import next_lines

    line = line_of(facts, time.time_ns() // 1000)
    if change.result == "adopted":
        line.append(f"  ({action}: it was so already)")
    call.out.show(line)
    call.out.say(*next_lines(facts["next"][:1]))
