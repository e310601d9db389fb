"""A workflow that a session starts: it writes a ledger of what really ran."""

from pathlib import Path

from attrs import frozen

from runwright import Context, Workflow


@frozen
class Task:
    """What to do; private."""

    text: str = ""


flow = Workflow("told", input=Task, presentation="Tell the user how it went.")


@flow.compute
def first(ctx: Context[Task]) -> str:
    """Write a line, and hand the text on."""
    with (Path.cwd() / "ledger").open("a") as ledger:
        ledger.write(f"first {ctx.visit}\n")
    return ctx.input.text


flow.entry(first)
