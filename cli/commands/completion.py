"""``runwright completion``: the script that lets a shell complete."""

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation

#: The variable by which a shell asks for completions.
VARIABLE = "_RUNWRIGHT_COMPLETE"


@intent("completion", example='eval "$(runwright completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(call: Invocation, shell: str) -> None:
    """Let bash, zsh or fish complete.

    Prints the script; your shell reads it at its start.
    """
    from click.shell_completion import get_completion_class

    from runwright.cli.catalogue import runwright

    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(runwright, {}, "runwright", VARIABLE)
    script = made.source_template % made.source_vars()
    if call.out.for_machines:
        call.out.document({"shell": shell, "script": script})
    else:
        call.out.raw(script + "\n")
