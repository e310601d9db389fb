"""``runwright output``: the result alone, made for pipes."""

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.texts import WholeNumber


@intent("output", example="runwright output @last | jq .total\nrunwright output 7k2m3x inspect --visit 2")
@click.argument("run")
@click.argument("node", required=False)
@click.option("--visit", type=WholeNumber(1, 2**31), metavar="N", help="The Nth visit of NODE, not its last one.")
def command(call: Invocation, run: str, node: str | None, visit: int | None) -> None:
    """A run's output, or a node's, alone.

    JSON, or the text where it is one; made for pipes. Follows continued runs.
    """
    from runwright.cli.chains import last_of_chain
    from runwright.cli.references import find_node, find_run

    with reading(call) as store:
        run_id = find_run(call, store, run)
        if node is not None:
            find_node(store, run_id, node)
        value = store.output(run_id if node else last_of_chain(store, run_id), node, visit)
    call.out.value(value)
