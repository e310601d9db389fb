"""Decides, tells, asks, and goes on behind the answer in the run that carries it on; what it prints is indented."""

import sys
from datetime import timedelta

from attrs import frozen

from runwright import Choice, Context, Json, Question, Workflow, hours


@frozen
class Ask:
    """Nothing is needed."""

    note: str = ""


@frozen
class Word:
    """What somebody answers."""

    word: str


behind = Workflow("behind", input=Ask)
_LONG: timedelta = hours(1)


@behind.decision(choices=[Choice("go"), Choice("stay")], deadline=_LONG, on_timeout="stay")
def decide(ctx: Context[Ask]) -> Question:
    """Ask whether to go on."""
    del ctx
    return Question("Go on?")


@behind.notify
def tell(ctx: Context[Ask]) -> str:
    """Tell what was decided."""
    return f"Decided: {ctx.output(decide).choice}."


@behind.checkpoint(summary="Which word?", returns=Word)
def ask(ctx: Context[Ask]) -> Json:
    """Ask for a word."""
    del ctx
    return {}


@behind.notify
def tell_more(ctx: Context[Ask]) -> str:
    """Tell what was answered."""
    return f"Answered: {ctx.output(ask).word}."


@behind.compute
def done(ctx: Context[Ask]) -> str:
    """Print something that is indented, and end."""
    sys.stderr.write("  two  blanks\n\tand a tab\n")
    return ctx.output(ask).word


behind.entry(decide)
behind.switch(decide, {"go": tell, "stay": tell}, on="$.choice")
behind.then(tell, ask)
behind.then(ask, tell_more)
behind.then(tell_more, done)
