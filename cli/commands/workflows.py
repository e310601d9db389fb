"""``runwright workflows``: what can be started by name."""

from runwright.cli.command import intent
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.pages import print_list


@intent("workflows", example="runwright workflows", lines=True)
def command(call: Invocation) -> None:
    """What can be started by name.

    The project's workflows, your own, and those of installed packages.
    """
    from runwright.engine.sources.locate import list_workflows

    found = list_workflows(call.project, user_folder())
    if call.out.for_machines:
        items = [
            {"name": each.name, "origin": each.origin, "file": None if each.file is None else str(each.file)}
            for each in found
        ]
        print_list(call.out, items, position=None)
    elif not found:
        call.out.say(
            "No workflows. `runwright init` writes one; a file can be named, too: runwright run flows/review.py"
        )
    else:
        from runwright.cli.rendering.tables import plain_table

        rows = [(each.name, each.origin, "-" if each.file is None else str(each.file)) for each in found]
        call.out.show(plain_table(("workflow", "from", "file"), rows, whole=("workflow",)))
