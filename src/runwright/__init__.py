"""Runwright: a durable workflow runtime for agents. The public names, each loaded when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.engine.authoring.context import Context as Context
    from runwright.engine.authoring.errors import DefinitionError as DefinitionError
    from runwright.engine.authoring.errors import OutputMissing as OutputMissing
    from runwright.engine.authoring.nodes import Exit as Exit
    from runwright.engine.authoring.nodes import Mount as Mount
    from runwright.engine.authoring.nodes import MountExit as MountExit
    from runwright.engine.authoring.nodes import Node as Node
    from runwright.engine.authoring.nodes import Place as Place
    from runwright.engine.authoring.observations import Absent as Absent
    from runwright.engine.authoring.observations import Observation as Observation
    from runwright.engine.authoring.observations import Present as Present
    from runwright.engine.authoring.observations import Recovery as Recovery
    from runwright.engine.authoring.observations import Uncertain as Uncertain
    from runwright.engine.authoring.observations import Unclear as Unclear
    from runwright.engine.authoring.questions import Choice as Choice
    from runwright.engine.authoring.questions import Decided as Decided
    from runwright.engine.authoring.questions import Question as Question
    from runwright.engine.authoring.results import NodeError as NodeError
    from runwright.engine.authoring.results import NodeResult as NodeResult
    from runwright.engine.authoring.shell import Command as Command
    from runwright.engine.authoring.shell import OutputFile as OutputFile
    from runwright.engine.authoring.shell import ShellResult as ShellResult
    from runwright.engine.authoring.times import Retry as Retry
    from runwright.engine.authoring.times import days as days
    from runwright.engine.authoring.times import hours as hours
    from runwright.engine.authoring.times import minutes as minutes
    from runwright.engine.authoring.times import seconds as seconds
    from runwright.engine.authoring.workflow import Workflow as Workflow
    from runwright.eventstore.values import Json as Json
    from runwright.eventstore.values import JsonObject as JsonObject

__version__ = "0.1.0"

_AUTHORING = "runwright.engine.authoring"
_WHERE = {
    f"{_AUTHORING}.context": ("Context",),
    f"{_AUTHORING}.errors": ("DefinitionError", "OutputMissing"),
    f"{_AUTHORING}.nodes": ("Exit", "Mount", "MountExit", "Node", "Place"),
    f"{_AUTHORING}.observations": ("Absent", "Observation", "Present", "Recovery", "Uncertain", "Unclear"),
    f"{_AUTHORING}.questions": ("Choice", "Decided", "Question"),
    f"{_AUTHORING}.results": ("NodeError", "NodeResult"),
    f"{_AUTHORING}.shell": ("Command", "OutputFile", "ShellResult"),
    f"{_AUTHORING}.times": ("Retry", "days", "hours", "minutes", "seconds"),
    f"{_AUTHORING}.workflow": ("Workflow",),
    "runwright.eventstore.values": ("Json", "JsonObject"),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Absent",
    "Choice",
    "Command",
    "Context",
    "Decided",
    "DefinitionError",
    "Exit",
    "Json",
    "JsonObject",
    "Mount",
    "MountExit",
    "Node",
    "NodeError",
    "NodeResult",
    "Observation",
    "OutputFile",
    "OutputMissing",
    "Place",
    "Present",
    "Question",
    "Recovery",
    "Retry",
    "ShellResult",
    "Uncertain",
    "Unclear",
    "Workflow",
    "days",
    "hours",
    "minutes",
    "seconds",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for, and keep it."""
    if (module := _HOME.get(name)) is None:
        raise AttributeError(f"module 'runwright' has no attribute {name!r}")
    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*_HOME, "__version__"])
