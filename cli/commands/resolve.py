"""``runwright resolve``: settle an effect that nobody is sure of."""

from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.changes import Change, Outcome
from runwright.cli.changing import changing
from runwright.cli.command import intent, takes_store
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.naming_runs import Runs, runs_of
from runwright.cli.opening import reading
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.errors import InputInvalid

_EXAMPLE = "It is JSON, so a text stands in two kinds of quotation marks: --result '\"text\"'."
_SHELL = """It is JSON: --result '{"stdout": "published"}'."""
_OUTCOMES: dict[str, Outcome] = {
    "done": "done",
    "not-done": "not_done",
    "timed-out": "timed_out",
}


@intent("resolve", example="runwright resolve 9f3c21 done --result '\"ok\"' --reason 'seen in the mailbox'")
@click.argument("effect")
@click.argument("outcome", type=click.Choice(list(_OUTCOMES)))
@click.option("--result", metavar="JSON", help="With `done`: its result, of the node's type.")
@click.option("--reason", required=True, metavar="TEXT", help="How you know; a private value.")
@takes_store
def command(call: Invocation, effect: str, outcome: str, result: str | None, reason: str) -> None:
    """Say what became of an uncertain effect.

    done: it happened. not-done: it did not, and is tried again. timed-out: its node goes the way of a time-out.
    """
    if result is not None and outcome != "done":
        raise Refused.usage("--result belongs to `done`.", "Leave it out.")
    if not reason.strip():
        raise Refused.usage("--reason is empty.", "Say how you know.")
    value = None if result is None else _json(result)
    with runs_of(call) as runs:
        found = runs.find_effect(effect)
        effect_id, run_id = str(found["effect"]), str(found["run_id"])
        change = _resolve(call, runs, effect_id, outcome, value, reason)
        state, run = runs.find_effect(effect_id)["state"], runs.facts(run_id)
    was_so = change.result == "adopted"
    if call.out.for_machines:
        facts = {"action": "resolve", "effect": effect_id, "state": state, "run_id": run_id}
        call.out.document({**facts, "result": change.result, "status": run["status"]})
        return
    call.out.say(f"Effect {effect_id[-12:]} is {state}{' (it was so already)' if was_so else ''}.")
    if run["finished_at"] is None:
        from runwright.cli.rendering.statuses import next_lines

        call.out.say(*next_lines(run["next"][:1]))


def _resolve(call: Invocation, runs: Runs, effect_id: str, outcome: str, value: Json, reason: str) -> Change:
    from runwright.engine.errors import InputInvalid

    try:
        with changing(call, runs.client) as changes:
            return changes.resolve(effect_id, _OUTCOMES[outcome], result=value, reason=reason)
    except InputInvalid as error:
        raise _unfit(call, effect_id, error, missing=value is None) from None


def _unfit(call: Invocation, effect_id: str, error: "InputInvalid", *, missing: bool) -> Refused:
    """Say what a result has to be: the node's own type."""
    from runwright.cli.definitions import saved_definition
    from runwright.engine.schemas import type_words

    with reading(call) as store:
        effect = store.effect(effect_id).effect
        definition = saved_definition(store, effect.run_id)
    spec = None if definition is None else definition.nodes.get(effect.path)
    words, example = "" if spec is None else f", whose type is {type_words(spec.schema)}", _EXAMPLE
    if spec is not None and spec.kind == "shell":
        words, example = ', a shell node: {"stdout": "…"} says what its command printed', _SHELL
    if missing:
        return Refused.usage(f"--result is missing: it is the output of node {effect.path}{words}.", example)
    where = "" if error.path == "$" else f" at {error.path}"
    return Refused.usage(
        f"--result does not fit node {effect.path}{words}: {error.problem}{where}.", example, code=error.code
    )


def _json(text: str) -> Json:
    from runwright.eventstore.errors import ValueRefused
    from runwright.eventstore.values import decode

    try:
        return decode(text)
    except ValueRefused as error:
        raise Refused.usage(
            f"The JSON of --result is not usable: {error.path} {error.problem}.", f"{error.fix}.", code="input_invalid"
        ) from None
