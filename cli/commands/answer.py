"""``runwright answer``: answer what a run waits for."""

import sys
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.answers import read_answer
from runwright.cli.changes import Change
from runwright.cli.changing import changing
from runwright.cli.command import intent, takes_store
from runwright.cli.failures import CONFLICT, Failure, Refused, failure_of
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.requests import Request


@intent("answer", example='runwright answer @last yes\nrunwright answer 4f7k2m \'{"word": "yes"}\'')
@click.argument("request", metavar="REQUEST/RUN")
@click.argument("value", required=False)
@takes_store
def command(call: Invocation, request: str, value: str | None) -> None:
    """Answer what a run waits for.

    A text, or JSON where something else is asked for. Without VALUE it shows what is asked, and asks again until the
    answer fits. Behind a checkpoint a new run carries on: by itself where a host lives, else `resume` drives it.
    """
    with reading(call) as store:
        asked, is_open = _named(call, store, request)
    if value is None and is_open and not sys.stdin.isatty():
        hint = f"`runwright requests` shows what is asked; then: runwright answer {asked} VALUE"
        raise Refused.usage("There is no VALUE, and nobody to ask at a terminal.", hint)
    with reading(call) as store:
        question = next((each for each in store.requests() if each.request_id == asked), None)
    answered, driven = _answer(call, asked, question, value)
    with reading(call) as store:
        status = store.status(answered.run_id)
    if call.out.for_machines:
        call.out.document(
            {
                "action": "answer",
                "request_id": asked,
                "run_id": answered.run_id,
                "workflow": status.workflow,
                "result": answered.result,
                "status": status.status,
            }
        )
        return
    from runwright.cli.rendering.statuses import next_lines

    call.out.say(
        f"Accepted{' before' if answered.result == 'adopted' else ''}. Run {answered.run_id} goes on behind it."
    )
    if not driven:
        call.out.say(*next_lines(status.next[:1]))


def _named(call: Invocation, store: "Reader", text: str) -> tuple[str, bool]:
    """The request that somebody named, by itself or by its run, and whether it is open."""
    from runwright.cli.references import LAST, find_run
    from runwright.engine.errors import NotFound

    if text != LAST:
        try:
            request_id = store.find_request(text)
        except NotFound:
            pass
        else:
            return request_id, any(each.request_id == request_id for each in store.requests())
    try:
        run_id = store.last_of_chain(find_run(call, store, text))
    except NotFound:
        raise NotFound("request or run", text) from None
    found = store.requests(run_id)
    if len(found) == 1:
        return found[0].request_id, True
    if not found:
        raise Refused(
            Failure(
                code="not_found",
                message=f"Run {run_id} waits for no answer.",
                hint=f"Look at what it waits for: runwright status {run_id}",
                exit_code=CONFLICT,
            )
        )
    lines = ", ".join(f"{each.request_id} ({each.path})" for each in found)
    raise Refused.usage(f"Run {run_id} waits for several answers: {lines}.", "Name one of them.", code="ambiguous_id")


def _answer(call: Invocation, asked: str, question: "Request | None", value: str | None) -> tuple[Change, bool]:
    """Have the answer accepted; and whether what goes on behind it is driven by somebody."""
    with changing(call) as changes:
        schema = {} if question is None else question.schema
        if value is not None or question is None:
            return changes.answer(asked, read_answer(value or "", schema)), changes.drives
        _show(call, question)
        while True:
            try:
                return changes.answer(asked, read_answer(_ask(), schema)), changes.drives
            except Exception as error:
                failure = failure_of(error)
                if failure is None or failure.code != "input_invalid":
                    raise
                call.out.fail(failure)


def _show(call: Invocation, question: "Request") -> None:
    from rich.text import Text

    from runwright.cli.rendering.questions import question_lines
    from runwright.cli.rendering.text import clean

    call.out.say(Text(clean(question.path), style="bold"), *question_lines(question))


def _ask() -> str:
    """Read one line; Ctrl-C and the end of the input leave, and nothing was written."""
    sys.stderr.write("answer> ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise click.Abort
    return line.rstrip("\n")
