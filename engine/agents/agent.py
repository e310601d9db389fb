"""What an executor of agent nodes is, and what it is asked."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from attrs import field, frozen

from runwright.eventstore.events.run import PERSON
from runwright.eventstore.values import JsonObject

#: The executor of nodes that name none; in a session, the session itself.
DEFAULT_AGENT: Final = "default"
#: The specification of a person at the terminal.
CONSOLE: Final = "console"


class Report(Protocol):
    """Reports progress while an executor works; durable, bounded, and never blocking."""

    def __call__(
        self,
        key: str = "overall",
        *,
        completed: float | None = None,
        total: float | None = None,
        unit: str = "",
        message: str = "",
    ) -> None:
        """Report progress of one key; the newest wins."""
        ...


@frozen(kw_only=True)
class AgentRequest:
    """One question to an executor: exactly one run, node path, visit and attempt.

    Attributes:
        prompt: The prompt; after a crash the saved one.
        schema: The JSON Schema that the answer must meet.
        run_id: The run.
        path: The full node path.
        visit: The visit.
        attempt: The attempt.
        request_id: The durable request; the same when it is asked again.
        deadline: When the time for an answer is up, or ``None``.
        cwd: The folder that the run was started in.
        scratch: The run's private folder.
        resumed: Whether a worker before this one may have asked already.
        refused: Why the last answer was refused, or ``None``.
        update: Reports progress, as `Context.update` does.
        log: Takes a line of text for the run's private output log.
    """

    prompt: str
    schema: JsonObject
    run_id: str
    path: str
    visit: int
    attempt: int
    request_id: str
    deadline: datetime | None
    cwd: Path
    scratch: Path
    resumed: bool = False
    refused: str | None = None
    update: Report = field(eq=False, repr=False)
    log: Callable[[str], None] = field(eq=False, repr=False)


class PersonElsewhere:
    """A person at a terminal that this process does not have: the run is not to ask, but to park and be answered."""

    async def run(self, request: AgentRequest) -> object:
        """Refuse: nobody sits here.

        Raises:
            EOFError: Always.
        """
        raise EOFError(f"nobody is at the terminal to answer {request.path}")


def kind_of(agent: "Agent") -> str:
    """The kind under which a run saves an executor: its class, and for every person the same."""
    return PERSON if isinstance(agent, PersonElsewhere) else type(agent).__name__


@runtime_checkable
class Agent(Protocol):
    """Anything that answers agent requests."""

    async def run(self, request: AgentRequest) -> object:
        """Answer a request.

        Args:
            request: The question.

        Returns:
            The answer: JSON, or a value of the node's own type. A wrong one is refused with its reason, and the
            executor is asked again with that reason in `AgentRequest.refused`.
        """
        ...
