"""Tells people twice on the way, once in more than a line and with what could steer a terminal."""

from attrs import frozen

from runwright import Context, Workflow


@frozen
class Work:
    """What there is to do."""

    parts: int = 3


telling = Workflow("telling", input=Work)


@telling.compute
def work(ctx: Context[Work]) -> int:
    """Do it."""
    return ctx.input.parts


@telling.notify
def half(ctx: Context[Work]) -> str:
    """Say how far it is."""
    return f"Half of {ctx.output(work)} parts.\n\x1b[31mThe rest follows."


@telling.notify(kind="final")
def done(ctx: Context[Work]) -> str:
    """Say that it is over."""
    return "All of it is done."


telling.entry(work)
telling.then(work, half)
telling.then(half, done)
