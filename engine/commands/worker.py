"""What the worker of one generation of one run asks; a message carries an ordered list of these."""

from typing import Final, Literal, TypeAlias

from attrs import frozen

from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.values import Json

#: Bytes of a notification, encoded.
MAX_NOTIFICATION: Final = 64 * 1_024

Outcome: TypeAlias = Literal["completed", "failed", "timed_out", "cancelled"]

#: Where a worker was when it failed: before it could look at the workflow, while it loaded that, or in the run.
Phase: TypeAlias = Literal["bootstrap", "load", "execute"]


@frozen(kw_only=True)
class Authority:
    """A worker's claim: every protected write is checked against it (law 3).

    Attributes:
        run_id: The run.
        owner: ``<host epoch>:<worker epoch>``.
        token: 32 random bytes in hex; only its SHA-256 is ever stored.
        generation: The claim's generation.
    """

    run_id: str
    owner: str
    token: str
    generation: int

    @property
    def worker(self) -> str:
        """The worker epoch."""
        return self.owner.partition(":")[2]


@frozen(kw_only=True)
class Ready:
    """The sources and the definition were verified; the run (or its next launch) starts.

    Events: ``worker.ready``, ``run.started``. Value: ``None``.
    """


@frozen(kw_only=True)
class StartNode:
    """Start an attempt of a visit: the fence before user code. Value: ``None``.

    Refused with ``paused`` when a pause was asked for, with the claim's reason when the claim is gone.
    """

    path: str
    visit: int
    attempt: int
    deadline: int | None = None


@frozen(kw_only=True)
class FinishNode:
    """End the open attempt.

    Attributes:
        next: The place that follows; ``None`` where the run ends here or another attempt follows.
        output: The output as JSON, when it completed.
        error: The error text, when it did not.
    """

    path: str
    visit: int
    attempt: int
    outcome: Outcome
    code: str | None = None
    next: str | None = None
    output: Json = None
    error: str | None = None


@frozen(kw_only=True)
class EnterMount:
    """Enter a mounted child. Value: ``None``.

    Where no fitting input could be worked out, the invocation ends as it begins, with an outcome like a node's.
    Refused with ``paused`` when a pause was asked for.

    Attributes:
        path: The full mount path.
        invocation: The entry, counted from 1 over the run.
        input: The child's input as JSON.
        outcome: How the mapping failed, where it did.
        code: Its code.
        error: The error text, at most 8 KiB, already masked.
    """

    path: str
    invocation: int
    input: Json = None
    outcome: Literal["failed", "timed_out"] | None = None
    code: str | None = None
    error: str | None = None


@frozen(kw_only=True)
class ExitMount:
    """Leave a mounted child: by a way out, with the output of its node, or uncaught. Value: ``None``.

    Attributes:
        path: The full mount path.
        invocation: The entry that ends.
        exit: The way out; ``None`` where a bad outcome leaves it.
        outcome: How it is left.
        code: The code of a bad outcome.
        error: The error text, at most 8 KiB, already masked.
    """

    path: str
    invocation: int
    exit: str | None
    outcome: Literal["completed", "failed", "timed_out"]
    code: str | None = None
    error: str | None = None


@frozen(kw_only=True)
class UpdateNode:
    """Report progress of the open attempt; counts as no progress of the run."""

    path: str
    visit: int
    attempt: int
    key: str
    update: Json


@frozen(kw_only=True)
class ReserveEffect:
    """Record an effect before it is tried. Value: `EffectGrant`; an equal one is adopted with its saved result."""

    path: str
    visit: int
    request: Json


@frozen(kw_only=True)
class EffectGrant:
    """What a reservation answers."""

    effect: str
    state: str
    applications: int
    result: Json = None


@frozen(kw_only=True)
class BeginEffect:
    """Begin to apply a reserved effect. Value: the application's number (`int`)."""

    path: str
    visit: int


@frozen(kw_only=True)
class SettleEffect:
    """Say what became of the application under way.

    Attributes:
        outcome: ``applied``, ``rejected``, ``released`` (it may be tried again) or ``ambiguous``.
        cause: For ``released`` ``try``, ``idempotent`` or ``absent``; for ``ambiguous`` what made it so.
        result: The result of an applied effect.
    """

    path: str
    visit: int
    application: int
    outcome: Literal["applied", "rejected", "released", "ambiguous"]
    cause: str = ""
    code: str | None = None
    result: Json = None
    external_reference: str | None = None
    error: str | None = None


@frozen(kw_only=True)
class OpenRequest:
    """Ask a headless executor, whose worker keeps its claim, or at a checkpoint, whose run parks behind it.

    Value: the request ID; an open equal one is adopted.

    Attributes:
        kind: ``agent`` or ``checkpoint``.
        prompt: What is asked; a checkpoint's summary.
        contract: The JSON Schema of the answer.
        presentation: What a checkpoint shows beside its summary.
    """

    path: str
    visit: int
    attempt: int
    kind: Literal["agent", "checkpoint"]
    prompt: str
    contract: Json
    presentation: Json = None
    deadline: int | None = None


@frozen(kw_only=True)
class AskSession:
    """Put a request to the run's session and stop: nothing runs while people think. Value: the request ID.

    The request, the message that asks for it and the park are one transaction, which gives the claim back.

    Attributes:
        limit: Microseconds that the session has from the moment the message is sent; ``None`` for ever.
    """

    path: str
    visit: int
    attempt: int
    kind: Literal["agent", "assistant"]
    prompt: str
    contract: Json
    limit: int | None = None


@frozen(kw_only=True)
class AskPerson:
    """Put a decision to people and stop. Value: the request ID.

    The request, its message where the run has a session, the timer of its deadline and the park are one transaction,
    which gives the claim back.

    Attributes:
        title: The question.
        facts: What to know before answering, as a JSON object.
        subject: What is decided on; it never leaves the log for a channel.
        choices: What can be answered: a list of objects with ``name``, ``label`` and ``text``, the hint of its text.
        deadline: When it closes (UTC microseconds); ``None`` for never.
    """

    path: str
    visit: int
    attempt: int
    title: str
    facts: Json
    subject: Json
    choices: Json
    deadline: int | None = None


@frozen(kw_only=True)
class QueueNotification:
    """Have the run's session told something, without starting a turn. Value: the message ID.

    A visit tells one thing: a repeat after a crash is adopted, whatever its text.
    """

    path: str
    visit: int
    attempt: int
    text: str


@frozen(kw_only=True)
class SubmitCandidate:
    """Record an executor's answer as a candidate and settle it in the same breath.

    Attributes:
        refusal: ``None`` accepts it; else the reason, exact enough for a model to correct it.
        code: The refusal's code (``output_invalid``, ``validation_failed``).
    """

    request: str
    candidate: Json
    refusal: str | None = None
    code: str | None = None


@frozen(kw_only=True)
class CloseRequest:
    """Close the open request of an attempt that ends without an answer."""

    request: str
    cause: Literal["timed_out", "cancelled", "failed"]


@frozen(kw_only=True)
class Timer:
    """When a parked run goes on by itself; ``due`` is UTC microseconds."""

    kind: Literal["wait", "retry", "deadline"]
    due: int
    absolute: bool = False


@frozen(kw_only=True)
class ParkRun:
    """Stop at this boundary and give the claim back."""

    reason: str
    code: str | None = None
    detail: str | None = None
    timer: Timer | None = None


@frozen(kw_only=True)
class CompleteRun:
    """End the run with the output of the node that finished last."""


@frozen(kw_only=True)
class FailRun:
    """End the run ``failed`` or ``timed_out``; never started, its launch failed.

    Attributes:
        code: One of the closed list.
        phase: Where the worker was.
        message: A safe message, at most 1,024 bytes.
        error: The error text, at most 8 KiB, already masked.
    """

    outcome: Literal["failed", "timed_out"]
    code: str
    phase: Phase
    message: str
    error: str | None = None


@frozen(kw_only=True)
class RegisterProcess:
    """Name a process that the worker started and that waits behind its gate until this is committed. Value: ``None``.

    Whoever takes the store after a crash ends it by exactly this identity.
    """

    process: ProcessIdentity


@frozen(kw_only=True)
class UnregisterProcess:
    """Say that a registered process is gone; needs no claim, because it is evidence. Value: ``None``."""

    process: ProcessIdentity


@frozen(kw_only=True)
class ExitWorker:
    """The worker says how it ends."""

    outcome: Literal["finished", "parked", "failed", "claim_lost"]
    phase: Phase | None = None
    code: str | None = None


WorkerTransition: TypeAlias = (
    Ready
    | StartNode
    | FinishNode
    | EnterMount
    | ExitMount
    | UpdateNode
    | ReserveEffect
    | BeginEffect
    | SettleEffect
    | OpenRequest
    | AskSession
    | AskPerson
    | QueueNotification
    | SubmitCandidate
    | CloseRequest
    | ParkRun
    | CompleteRun
    | FailRun
    | RegisterProcess
    | UnregisterProcess
    | ExitWorker
)
