"""Asks people to decide: in the root, inside a mounted child, and with little time."""

from attrs import frozen

from runwright import Choice, Context, Question, Workflow, seconds


@frozen
class Plan:
    """What to decide on."""

    number: int = 1


deciding = Workflow("deciding", input=Plan)


@deciding.compute
def draft(ctx: Context[Plan]) -> int:
    """Draft, another one each time."""
    return ctx.input.number * 10 + ctx.visits(draft)


@deciding.decision(choices=["ship", Choice("again", text="What is wrong?")])
def approve(ctx: Context[Plan]) -> Question:
    """Decide on exactly this draft."""
    return Question("Ship it?", facts={"draft": ctx.output(draft)}, subject={"draft": ctx.output(draft)})


@deciding.action(recovery="idempotent")
def gated(ctx: Context[Plan]) -> str:
    """Act on what was approved."""
    with (ctx.cwd / "ledger").open("a") as ledger:
        ledger.write("gated\n")
    return f"{ctx.output(draft)} by {ctx.output(approve).by}"


deciding.entry(draft)
deciding.then(draft, approve)
deciding.switch(approve, {"ship": gated, "again": draft}, on="$.choice")
acted = deciding.exit("acted", gated)

around = Workflow("around", input=Plan)
child = around.include("child", deciding, input=lambda ctx: ctx.input)


@around.compute
def report(ctx: Context[Plan]) -> list[str]:
    """Report what the child came to."""
    return [ctx.output(child[acted])]


around.entry(child)
around.then(child[acted], report)

expiring = Workflow("expiring", input=Plan)


@expiring.decision(choices=["yes", "no"], deadline=seconds(0.3), on_timeout="no")
def hurried(ctx: Context[Plan]) -> str:
    """Go on with a no where nobody answers in time."""
    return "Quick?"


@expiring.compute
def outcome(ctx: Context[Plan]) -> list[object]:
    """Tell who decided."""
    decided = ctx.output(hurried)
    return [decided.choice, decided.by, decided.timed_out]


expiring.entry(hurried)
expiring.then(hurried, outcome)

closing = Workflow("closing", input=Plan)


@closing.decision(choices=["yes", "no"], deadline=seconds(0.3))
def unanswered(ctx: Context[Plan]) -> str:
    """Nothing happens where nobody answers in time."""
    return "Quick?"


closing.entry(unanswered)
