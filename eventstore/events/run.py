"""Events about a run's life (stream ``run/<run ID>``)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded

#: The kind of an executor that is the person at a terminal: nothing has to be handed over for one.
PERSON: Final = "ConsoleAgent"


@frozen(kw_only=True)
class AgentBinding:
    """An executor's name and kind, as a start named them; never its command line."""

    name: str
    kind: str


@recorded("run.queued")
@frozen(kw_only=True)
class RunQueued(Event):
    """A run was durably accepted, with everything that a later launch needs to know.

    Attributes:
        workflow: The workflow's name.
        reference: How to find the workflow again: file and variable, name, import path, or ``object:<name>``.
        sources: Digest of the source set, or ``None`` where nothing was loaded from a file.
        definition: Digest of the compiled definition.
        session: The conversation that holds it, or ``None`` for a headless run.
        project: The project folder.
        cwd: The folder it was started in.
        interpreter: The Python that loads its code.
        agents: The executors a start named.
        pass_env: Names (never values) of environment variables handed on.
        kind: ``start``, ``continue`` or ``restart``.
        cause: The run whose message caused the turn that started this one, or ``None``.
        depth: How many such causes stand in a row.
        parent: The run it continues or restarts.
        root: The first run of the chain; its own ID for a start.
        restart_number: How many restarts stand before it in the chain.
        parent_fingerprint: The parent's terminal fingerprint (restarts).
        request: The answered request (continuations).
        at: The node a restart begins at.
        step_base: Steps that the chain had used before.
        input: Position of the root's `RunInput`; ``None`` for a root itself, whose own follows.
        max_steps: The bound on steps.
        timeout: The run's own time limit in microseconds, or ``None``.
    """

    workflow: str
    reference: str
    sources: str | None = None
    definition: str
    session: str | None = None
    project: str | None = None
    cwd: str | None = None
    interpreter: str | None = None
    agents: tuple[AgentBinding, ...] = ()
    pass_env: tuple[str, ...] = ()
    kind: str = "start"
    cause: str | None = None
    depth: int = 0
    parent: str | None = None
    root: str
    restart_number: int = 0
    parent_fingerprint: str | None = None
    request: str | None = None
    at: str | None = None
    step_base: int = 0
    input: int | None = None
    max_steps: int
    timeout: int | None = None


@recorded("run.input")
@frozen(kw_only=True)
class RunInput(Event):
    """The input of a root run and the key of its run tree; ``key`` is hex text, gone with the input."""

    input: Content | None = private()
    key: Content | None = private()


@recorded("run.eligible")
@frozen(kw_only=True)
class RunEligible(Event):
    """The scheduler may take the run; ``cause`` says why (event catalogue)."""

    cause: str


@recorded("run.claimed")
@frozen(kw_only=True)
class RunClaimed(Event):
    """A new owner took the run for one generation; of its token only the SHA-256 is stored, in hex.

    ``owner`` is ``<host epoch>:<worker epoch>``.
    """

    generation: int
    owner: str
    token_hash: str


@recorded("run.started")
@frozen(kw_only=True)
class RunStarted(Event):
    """The worker of a launch said ``ready``; once per launch."""

    worker: str


@recorded("run.requeued")
@frozen(kw_only=True)
class RunRequeued(Event):
    """A run that never started went back to ``queued``."""

    reason: str


@recorded("run.recovered")
@frozen(kw_only=True)
class RunRecovered(Event):
    """Recovery moved a queue state in a way that only recovery may."""

    source: str
    target: str
    reason: str


@recorded("run.pause_requested")
@frozen(kw_only=True)
class RunPauseRequested(Event):
    """Somebody asked for a pause; the next boundary grants it."""

    by: str


@recorded("run.paused")
@frozen(kw_only=True)
class RunPaused(Event):
    """No node of the run starts until somebody resumes it."""

    by: str


@recorded("run.resumed")
@frozen(kw_only=True)
class RunResumed(Event):
    """An explicit resume."""

    by: str


@recorded("run.parked")
@frozen(kw_only=True)
class RunParked(Event):
    """The run stopped at a durable boundary.

    Attributes:
        reason: One of the park reasons.
        code: The error code behind it, or ``None``.
        detail: A safe message, or ``None``.
    """

    reason: str
    code: str | None = None
    detail: str | None = None


@recorded("run.source_accepted")
@frozen(kw_only=True)
class RunSourceAccepted(Event):
    """Somebody accepted changed sources."""

    old_sources: str | None
    new_sources: str | None
    old_definition: str
    new_definition: str
    by: str


@recorded("run.completed")
@frozen(kw_only=True)
class RunCompleted(Event):
    """The run ended well.

    Attributes:
        output: Position of the `NodeFinished` that holds its output.
        fingerprint: The terminal fingerprint, in hex, or ``None`` where the tree's key is gone.
        message_due: ``none``, ``launch_failure`` or ``terminal``.
    """

    output: int | None
    fingerprint: str | None = None
    message_due: str = "none"


@recorded("run.failed")
@frozen(kw_only=True)
class RunFailed(Event):
    """The run failed.

    Attributes:
        code: One of the closed list of codes.
        phase: ``launch``, ``bootstrap``, ``load`` or ``execute``.
        message: A safe message.
        fingerprint: The terminal fingerprint, in hex, or ``None`` where the tree's key is gone.
        message_due: ``none``, ``launch_failure`` or ``terminal``.
        error: The error text (text/plain).
    """

    code: str
    phase: str
    message: str
    fingerprint: str | None = None
    message_due: str = "none"
    error: Content | None = private()


@recorded("run.timed_out")
@frozen(kw_only=True)
class RunTimedOut(Event):
    """The run ended on a time limit; the fields are those of `RunFailed`."""

    code: str
    phase: str
    message: str
    fingerprint: str | None = None
    message_due: str = "none"
    error: Content | None = private()


@recorded("run.cancelled")
@frozen(kw_only=True)
class RunCancelled(Event):
    """Somebody cancelled the run."""

    by: str
    fingerprint: str | None = None
    message_due: str = "none"
    reason: Content | None = private()


@recorded("run.continued")
@frozen(kw_only=True)
class RunContinued(Event):
    """A child run carries on from this run's checkpoint."""

    child: str
    request: str


@recorded("run.input_erased")
@frozen(kw_only=True)
class RunInputErased(Event):
    """The input of a launch that never started was erased."""
