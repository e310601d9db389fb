"""Runwright: a durable workflow runtime for agents. The public names, each loaded when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent as Agent
    from runwright.engine.agents.agent import AgentRequest as AgentRequest
    from runwright.engine.agents.callable import CallableAgent as CallableAgent
    from runwright.engine.agents.command import CommandAgent as CommandAgent
    from runwright.engine.agents.console import ConsoleAgent as ConsoleAgent
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
    from runwright.engine.embedded.answering import Answered as Answered
    from runwright.engine.embedded.async_engine import AsyncEngine as AsyncEngine
    from runwright.engine.embedded.engine import Engine as Engine
    from runwright.engine.embedded.outcome import Outcome as Outcome
    from runwright.engine.embedded.preflight import Surroundings as Surroundings
    from runwright.engine.errors import AgentMissing as AgentMissing
    from runwright.engine.errors import AmbiguousId as AmbiguousId
    from runwright.engine.errors import AnswerRejected as AnswerRejected
    from runwright.engine.errors import ConflictError as ConflictError
    from runwright.engine.errors import EngineError as EngineError
    from runwright.engine.errors import InputInvalid as InputInvalid
    from runwright.engine.errors import NotFound as NotFound
    from runwright.engine.errors import PreflightError as PreflightError
    from runwright.engine.errors import RecoveryRequiredError as RecoveryRequiredError
    from runwright.engine.errors import SessionMissing as SessionMissing
    from runwright.engine.errors import WorkflowInvalid as WorkflowInvalid
    from runwright.engine.errors import WorkflowNotFound as WorkflowNotFound
    from runwright.engine.reading.effects import Effect as Effect
    from runwright.engine.reading.requests import Request as Request
    from runwright.engine.reading.status import Status as Status
    from runwright.engine.results import Adopted as Adopted
    from runwright.engine.results import Applied as Applied
    from runwright.eventstore.errors import StoreError as StoreError
    from runwright.eventstore.errors import StoreInUse as StoreInUse
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
    "runwright.engine.agents.agent": (
        "Agent",
        "AgentRequest",
    ),
    "runwright.engine.agents.callable": ("CallableAgent",),
    "runwright.engine.agents.command": ("CommandAgent",),
    "runwright.engine.agents.console": ("ConsoleAgent",),
    "runwright.engine.embedded.async_engine": ("AsyncEngine",),
    "runwright.engine.embedded.engine": ("Engine",),
    "runwright.engine.embedded.answering": ("Answered",),
    "runwright.engine.embedded.outcome": ("Outcome",),
    "runwright.engine.embedded.preflight": ("Surroundings",),
    "runwright.engine.errors": (
        "AgentMissing",
        "AmbiguousId",
        "AnswerRejected",
        "ConflictError",
        "EngineError",
        "InputInvalid",
        "NotFound",
        "PreflightError",
        "RecoveryRequiredError",
        "SessionMissing",
        "WorkflowInvalid",
        "WorkflowNotFound",
    ),
    "runwright.engine.reading.effects": ("Effect",),
    "runwright.engine.reading.requests": ("Request",),
    "runwright.engine.reading.status": ("Status",),
    "runwright.engine.results": (
        "Adopted",
        "Applied",
    ),
    "runwright.eventstore.errors": (
        "StoreError",
        "StoreInUse",
    ),
    "runwright.eventstore.values": ("Json", "JsonObject"),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "Absent",
    "Adopted",
    "Agent",
    "AgentMissing",
    "AgentRequest",
    "AmbiguousId",
    "AnswerRejected",
    "Answered",
    "Applied",
    "AsyncEngine",
    "CallableAgent",
    "Choice",
    "Command",
    "CommandAgent",
    "ConflictError",
    "ConsoleAgent",
    "Context",
    "Decided",
    "DefinitionError",
    "Effect",
    "Engine",
    "EngineError",
    "Exit",
    "InputInvalid",
    "Json",
    "JsonObject",
    "Mount",
    "MountExit",
    "Node",
    "NodeError",
    "NodeResult",
    "NotFound",
    "Observation",
    "Outcome",
    "OutputFile",
    "OutputMissing",
    "Place",
    "PreflightError",
    "Present",
    "Question",
    "Recovery",
    "RecoveryRequiredError",
    "Request",
    "Retry",
    "SessionMissing",
    "ShellResult",
    "Status",
    "StoreError",
    "StoreInUse",
    "Surroundings",
    "Uncertain",
    "Unclear",
    "Workflow",
    "WorkflowInvalid",
    "WorkflowNotFound",
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
