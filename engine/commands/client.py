"""What people, programs and models ask for."""

from typing import TypeAlias

from attrs import frozen

from runwright.engine.commands.session import QueueFollowUp
from runwright.eventstore.events.run import AgentBinding
from runwright.eventstore.values import Json, JsonObject


@frozen(kw_only=True)
class Caller:
    """Who asks, and under which idempotency key.

    Attributes:
        client: ``cli``, ``engine``, ``pi:<session>``, ``mcp:<session>`` or ``hook:<session>``.
        key: The idempotency key; the same key with the same payload adopts the first receipt.
        actor: The actor written into events, ``client:cli`` for one.
        person: Whether a person stands behind it (the command line or an embedding program).
    """

    client: str
    key: str
    actor: str
    person: bool = True


@frozen(kw_only=True)
class QueueRun:
    """Accept a run durably. Everything in it was checked before: a refusal here is a conflict, not a mistake.

    ``snapshot`` is the compiled definition (digest ``definition``), ``paths`` the source set (digest ``sources``);
    either is recorded only where the log does not hold it yet.
    """

    run_id: str
    workflow: str
    reference: str
    definition: str
    snapshot: JsonObject
    sources: str | None
    paths: JsonObject | None
    input: Json
    max_steps: int
    timeout: int | None
    session: str | None = None
    project: str | None = None
    cwd: str | None = None
    interpreter: str | None = None
    agents: tuple[AgentBinding, ...] = ()
    pass_env: tuple[str, ...] = ()


@frozen(kw_only=True)
class PauseRun:
    """Let no further node start."""

    run_id: str
    expected: int | None = None


@frozen(kw_only=True)
class ResumeRun:
    """Make a paused or parked run eligible again.

    Attributes:
        sources: The digest of the source set as it stands now, or ``None`` where nothing is checked.
        definition: The digest of the definition as it compiles now, or ``None`` where nothing is checked.
        accept: The changed definition's snapshot and paths when the caller accepts them.
    """

    run_id: str
    expected: int | None = None
    sources: str | None = None
    definition: str | None = None
    accept: "AcceptedSources | None" = None


@frozen(kw_only=True)
class AcceptedSources:
    """A changed source set and definition that somebody accepted."""

    snapshot: JsonObject
    paths: JsonObject | None


@frozen(kw_only=True)
class CancelRun:
    """End the run now, whatever it is doing."""

    run_id: str
    expected: int | None = None
    reason: str = ""


@frozen(kw_only=True)
class ResolveEffect:
    """Say what became of an ambiguous effect.

    Attributes:
        effect: The effect ID.
        resolution: ``done``, ``not_done`` or ``timed_out``.
        result: The result of a ``done`` effect, already checked against the node's type.
        output: The node's output that follows from ``result`` (they differ where a shell node parses).
        reason: Why; private text.
    """

    effect: str
    resolution: str
    result: Json = None
    output: Json = None
    reason: str


@frozen(kw_only=True)
class RestartRun:
    """Run an ended run's root afresh.

    Attributes:
        run_id: The run that ended, the new one's parent.
        new_run_id: The new run.
        at: The node it begins at, with what finished before that node's last visit; ``None`` for the first one.
        sources: The digest of the source set as it stands now, or ``None`` where nothing is checked.
        definition: The digest of the definition as it compiles now, or ``None`` where nothing is checked.
    """

    run_id: str
    new_run_id: str
    at: str | None = None
    sources: str | None = None
    definition: str | None = None
    expected: int | None = None


@frozen(kw_only=True)
class AnswerRequest:
    """Answer a checkpoint, or an agent's request that no worker is waiting for.

    Attributes:
        request: The request.
        value: The answer, already checked against the node's type.
        sources: The digest of the source set as it stands now, or ``None`` where nothing is checked.
        definition: The digest of the definition as it compiles now, or ``None`` where nothing is checked.
    """

    request: str
    value: Json
    sources: str | None = None
    definition: str | None = None


@frozen(kw_only=True)
class DecideRequest:
    """A person's answer to a decision.

    Attributes:
        request: The request.
        choice: The name of one of its choices.
        text: What was written beside it, where the choice takes a text.
        by: Who decided, in the words of whoever vouches for that person.
        digest: The digest of what the person saw; ``None`` where nothing is compared.
    """

    request: str
    choice: str
    text: str | None = None
    by: str
    digest: str | None = None


@frozen(kw_only=True)
class SubmitAnswer:
    """A candidate for an agent's request: recorded first, then checked, then accepted or refused.

    Attributes:
        request: The request.
        value: The candidate.
        session: The session that speaks; ``None`` for a person who plays the agent.
        epoch: Its coordinator's epoch; ``None`` where no session speaks.
    """

    request: str
    value: Json
    session: str | None = None
    epoch: str | None = None


@frozen(kw_only=True)
class UpdateRequest:
    """Progress of the attempt that waits for an agent's answer.

    Attributes:
        request: The request.
        name: What it is progress of; the newest of each name is shown.
        update: The progress.
        session: The session that speaks; ``None`` for a person who plays the agent.
        epoch: Its coordinator's epoch; ``None`` where no session speaks.
    """

    request: str
    name: str
    update: Json
    session: str | None = None
    epoch: str | None = None


ClientCommand: TypeAlias = (
    QueueRun
    | PauseRun
    | ResumeRun
    | CancelRun
    | ResolveEffect
    | RestartRun
    | AnswerRequest
    | DecideRequest
    | SubmitAnswer
    | UpdateRequest
    | QueueFollowUp
)
