"""Wrong uses of the surface; each marked line, and no other, has to be found."""

from attrs import frozen

from runwright import Choice, Context, Question, Retry, Workflow, hours, minutes


@frozen
class Task:
    """An input."""

    name: str


flow = Workflow("flow", input=Task)
other = Workflow("other", input=str)


@flow.compute
def start(ctx: Context[Task]) -> int:
    return 1


@flow.compute  # expect-error: a context of another input
def foreign(ctx: Context[str]) -> int:
    return 1


@flow.agent  # expect-error: a prompt that is no text
def prompt(ctx: Context[Task]) -> int:
    return 1


@flow.notify(kind="loud")  # expect-error: no such kind
def tell(ctx: Context[Task]) -> str:
    return ""


@flow.decision(choices=["yes"])  # expect-error: a question that is neither text nor a Question
def approve(ctx: Context[Task]) -> int:
    return 1


@flow.decision(choices=["yes", Choice("no", text="Why not?")], deadline=hours(1), on_timeout="no")
def ship(ctx: Context[Task]) -> Question:
    return Question("Ship it?")


@flow.compute
def shipped(ctx: Context[Task]) -> bool:
    if ctx.output(ship).timed_out:
        return ctx.output(ship).choise == "yes"  # expect-error: a misspelt field of what was decided
    return ctx.output(ship) == ctx.output(ship).text.strip()  # expect-error: a text that may be missing


flow.entry("start")  # expect-error: a name instead of a place
flow.then(start, start.name)  # expect-error: a name instead of a place
flow.catch(start, start, on=("cancelled",))  # expect-error: an outcome that is never routed
flow.limit(start, "3", start)  # expect-error: a number as text
flow.include("child", other, input=lambda ctx: 3)  # expect-error: an input of another type
flow.wait("pause", 3)  # expect-error: a number instead of a time
Retry(first=3)  # expect-error: a number instead of a time
start("context")  # expect-error: called with something else
minutes("5")  # expect-error: a text instead of a number
