"""Every message of a worker's channel, and of a resolver's, as a class."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from runwright.engine.commands.worker import WorkerTransition
from runwright.engine.execution.port import RunState
from runwright.engine.wire.records import Tagged, tags
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.transitions import NAMES, Answered
from runwright.eventstore.values import JsonObject

# --- from the host ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Command:
    """The one run command, with the run as it is saved; the answer to `SayReady`."""

    state: RunState


@frozen(kw_only=True)
class Answer:
    """What became of a message: one result for each transition that was decided, or none where there are none."""

    id: int
    results: tuple[Answered, ...] = ()


@frozen(kw_only=True)
class Stop:
    """Park the run at its next boundary, and exit."""


@frozen(kw_only=True)
class Ask:
    """One question about a workflow, to a resolver.

    Attributes:
        question: What is asked, as `runwright.engine.embedded.remote_code` writes it; may be private.
        cwd: The folder to ask it in.
        user: The user's configuration folder, which may hold workflows.
        environment: The variables of ``pass_env``; private, and in memory only.
    """

    question: JsonObject = field(repr=False)
    cwd: Path
    user: Path | None = None
    environment: Mapping[str, str] = field(factory=dict[str, str], repr=False)


FromHost: TypeAlias = Launch | Command | Answer | Stop | Ask

FROM_HOST: Final[Tagged[FromHost]] = Tagged(
    {"launch": Launch, "command": Command, "answer": Answer, "stop": Stop, "resolve": Ask}
)


# --- from a worker ----------------------------------------------------------------------------------------


@frozen(kw_only=True)
class WorkerMessage:
    """What each message of a worker carries.

    Attributes:
        run_id: The run.
        generation: The claim's generation.
        worker: The worker epoch.
        id: Counted from 1; a repeated one gets the answer that it got.
        revision: The version of the run's stream that the worker heard of last; 0 before the first.
    """

    run_id: str
    generation: int
    worker: str
    id: int
    revision: int = 0


@frozen(kw_only=True)
class SayReady(WorkerMessage):
    """Sources and definition were verified."""


@frozen(kw_only=True)
class Transact(WorkerMessage):
    """An ordered list of transitions, decided and committed together."""

    transitions: tuple[WorkerTransition, ...] = field(metadata=tags(NAMES), repr=False)


@frozen(kw_only=True)
class Renew(WorkerMessage):
    """The worker lives; gets no answer."""


@frozen(kw_only=True)
class Exiting(WorkerMessage):
    """The last message: nothing more comes, and the process ends by itself.

    Attributes:
        outcome: How it ended; ``crashed`` where it could not say so in a transition.
        problem: What stopped it, in words that hold no private value; empty where nothing did.
    """

    outcome: Literal["finished", "parked", "failed", "claim_lost", "crashed"]
    problem: str = ""


@frozen(kw_only=True)
class Resolved:
    """A resolver's answer; may be private."""

    answer: JsonObject = field(repr=False)


@frozen(kw_only=True)
class Unresolved:
    """A resolver has no answer, not even a refusal.

    Attributes:
        problem: What stopped it, in words that hold no private value.
    """

    problem: str


FromWorker: TypeAlias = SayReady | Transact | Renew | Exiting
FromChild: TypeAlias = FromWorker | Resolved | Unresolved

FROM_CHILD: Final[Tagged[FromChild]] = Tagged(
    {
        "ready": SayReady,
        "transact": Transact,
        "renew": Renew,
        "exiting": Exiting,
        "resolved": Resolved,
        "refused": Unresolved,
    }
)
