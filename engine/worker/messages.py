"""Every message of a worker's channel, and of a resolver's, as a class."""

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
        question: Its name; see `runwright.engine.worker.questions`.
        payload: What is asked; may be private.
    """

    question: str
    payload: JsonObject = field(repr=False)


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
    """Why a resolver has no answer.

    Attributes:
        code: The stable code.
        message: The safe sentence.
        hint: The next step.
        facts: What the error's own class knows besides, as JSON.
    """

    code: str
    message: str
    hint: str
    facts: JsonObject = field(factory=dict)


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
