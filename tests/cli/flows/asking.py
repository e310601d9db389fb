"""Asks an agent, tells something, and asks a person, who may take their time or not."""

from datetime import timedelta
from typing import Literal

from attrs import frozen

from runwright import Choice, Context, Question, Workflow, hours, seconds


@frozen
class Ask:
    """How long the person may take."""

    quick: bool = False


@frozen
class Review:
    """What the agent says."""

    verdict: Literal["clean", "issues"]
    count: int
    notes: str = ""


def over(title: str, deadline: timedelta) -> Workflow[Ask]:
    """The same graph with another deadline."""
    flow = Workflow(title, input=Ask)

    @flow.agent(returns=Review, timeout=hours(1))
    def review(ctx: Context[Ask]) -> str:
        """Ask the agent."""
        return "Review the commit."

    @flow.notify
    def tell(ctx: Context[Ask]) -> str:
        """Tell it."""
        return f"The review found {ctx.output(review).count}."

    @flow.decision(
        choices=[Choice("approve", label="Merge it"), Choice("reject", label="Send it back", text="Why?")],
        deadline=deadline,
        on_timeout="reject",
    )
    def decide(ctx: Context[Ask]) -> Question:
        """Ask the person."""
        return Question("Merge \x1b[31mthis?", facts={"notes": ctx.output(review).notes, "changed": 12})

    @flow.compute
    def done(ctx: Context[Ask]) -> str:
        """Say what was decided."""
        decided = ctx.output(decide)
        return f"{decided.choice} {decided.text}"

    flow.entry(review)
    flow.then(review, tell)
    flow.then(tell, decide)
    flow.switch(decide, {"approve": done, "reject": done}, on="$.choice")
    return flow


asking = over("asking", hours(1))
hasty = over("hasty", seconds(12))
