"""Executors by their specification, as people write it: where a run's code runs, they are made of it."""

import shlex

from runwright.engine.agents.agent import CONSOLE, Agent, PersonElsewhere
from runwright.engine.agents.command import CommandAgent
from runwright.engine.execution.child import Gate

#: What the specification of a command begins with.
COMMAND = "cmd:"


class SpecUnusable(Exception):
    """A specification is of a kind that no worker runs, or names no command."""

    def __init__(self) -> None:
        super().__init__("a worker knows executors of the kinds cmd: and console only")


def agent_of(spec: str, gate: Gate | None = None) -> Agent:
    """Make the executor that a specification describes.

    Args:
        spec: ``cmd:COMMAND ARGUMENTS``, or ``console`` for whoever answers from a terminal.
        gate: Is told of each process that the executor starts, before that gets its prompt.

    Raises:
        SpecUnusable: It is of another kind.
    """
    if spec == CONSOLE:
        return PersonElsewhere()
    if not spec.startswith(COMMAND):
        raise SpecUnusable
    try:
        words = shlex.split(spec.removeprefix(COMMAND))
    except ValueError:
        raise SpecUnusable from None
    if not words:
        raise SpecUnusable
    return CommandAgent(words, gate=gate)
