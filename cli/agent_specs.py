"""Executors as people name them: ``--agent [NAME=]SPEC`` and the settings ``agents.NAME`` and ``default_agent``."""

import re
import shlex
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from runwright.cli.asking import Asking
from runwright.cli.failures import Refused
from runwright.cli.settings import Settings
from runwright.engine.near import near

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent

_NAMED = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63})=(.*)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
#: The name of the executor for nodes that name none.
DEFAULT = "default"
F = TypeVar("F", bound=Callable[..., Any])


def agent_option(help_text: str = "Who answers agent nodes, as for `run`.") -> Callable[[F], F]:
    """Add ``--agent``, which is kept with the flags: also what is printed at the end may have to name it."""
    return click.option("--agent", "agents", multiple=True, metavar="[NAME=]SPEC", help=help_text)


def collect_specs(flags: Sequence[str], settings: Settings, needed: Collection[str] = ()) -> dict[str, str]:
    """The specification of every executor by name: those of the flags, and those of the settings that are needed.

    Args:
        flags: What ``--agent`` was given.
        settings: The settings; what nobody asks for in them is not judged.
        needed: The names that the workflow's nodes ask for.

    Raises:
        Refused: A specification is of a kind that this version does not run.
    """
    known = settings.agents()
    specs = {name: spec for name, spec in known.items() if name in needed}
    default = settings.text("default_agent")
    if default is not None and DEFAULT in needed:
        specs[DEFAULT] = _look_up(default, known)
    for flag in flags:
        name, spec = _split(flag)
        specs[name] = _look_up(spec, known)
    for name, spec in specs.items():
        check_spec(name, spec, known)
    return specs


def settled_agents(settings: Settings) -> dict[str, str]:
    """The specification of every executor that the settings name, the default one under its own name."""
    known = settings.agents()
    default = settings.text("default_agent")
    return known if default is None else {**known, DEFAULT: _look_up(default, known)}


def named_specs(flags: Sequence[str], settings: Settings) -> dict[str, str]:
    """The specification of every executor that ``--agent`` was given, by name."""
    known = settings.agents()
    return {name: _look_up(spec, known) for name, spec in map(_split, flags)}


def typed_specs(flags: Sequence[str], settings: Settings, *, private: bool) -> dict[str, str]:
    """What `--agent` is given for executors in a line to type, by name; empty for those that the settings have.

    Args:
        flags: What ``--agent`` was given; it is repeated.
        settings: The settings that hold where the line is typed.
        private: Whether only the person reads it who typed the flags: a command may hold what is for nobody else.
    """
    known = settings.agents()
    found = dict.fromkeys(settled_agents(settings), "")
    for name, spec in map(_split, flags):
        found.pop(name, None)
        if private or spec == "console" or spec in known:
            found[name] = f"{name}={spec}"
    return found


def named_agents(flags: Sequence[str]) -> tuple[str, ...]:
    """The names of the executors that ``--agent`` was given."""
    return tuple(_split(flag)[0] for flag in flags)


def check_spec(name: str, spec: str, known: Collection[str] = ()) -> list[str]:
    """Check one specification and split a command into its words.

    Returns:
        The command's words; empty for ``console``.

    Raises:
        Refused: It is of a kind that this version does not run, or its command is not there.
    """
    if spec == "console":
        return []
    kind, colon, rest = spec.partition(":")
    if kind != "cmd" or not colon:
        question = near(spec, ["console", *known])
        # Only a plain word is repeated: whatever else stands there may be private.
        what = repr(kind) if _WORD.fullmatch(kind) else f"What the executor {name} is given"
        raise _wrong(f"{what} is no kind of executor, and no name of one in the settings.", question)
    try:
        words = shlex.split(rest)
    except ValueError:
        raise _wrong(f"The command of the executor {name} has a quotation mark that is never closed.") from None
    if not words:
        raise _wrong(f"The executor {name} has no command.")
    if shutil.which(words[0]) is None:
        raise Refused.usage(
            f"The command of the executor {name} is not on the PATH, or cannot be run.",
            "Install it, or give its full path.",
            code="agent_missing",
        )
    return words


def build_agents(specs: Mapping[str, str], asking: Asking) -> "dict[str, Agent]":
    """Make the executors that the specifications name.

    Args:
        specs: The specifications by name.
        asking: The terminal, for those that are the person at it.
    """
    from runwright.engine.agents.agent import PersonElsewhere

    agents: dict[str, Agent] = {}
    for name, spec in specs.items():
        words = check_spec(name, spec)
        if words:
            from runwright.engine.agents.command import CommandAgent

            agents[name] = CommandAgent(words)
        elif asking.by_form:
            # The run stops at the question, and whoever shows it asks, as for a run of a host's.
            agents[name] = PersonElsewhere()
        else:
            from runwright.engine.agents.console import ConsoleAgent

            agents[name] = ConsoleAgent(output=asking, asking=asking.turn)
    return agents


def _split(flag: str) -> tuple[str, str]:
    """Name and specification of one ``--agent``."""
    match = _NAMED.fullmatch(flag)
    return (match[1], match[2]) if match else (DEFAULT, flag)


def _look_up(spec: str, known: Mapping[str, str]) -> str:
    return known.get(spec, spec)


def _wrong(message: str, question: str = "") -> Refused:
    forms = "Write cmd:COMMAND ARGUMENTS, console, or a name from the settings; NAME=SPEC for a named one."
    return Refused.usage(message, f"{question} {forms}".strip(), code="agent_missing")
