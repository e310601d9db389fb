"""Events about workers and the processes they start (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, ProcessIdentity, private, recorded


@recorded("worker.launched")
@frozen(kw_only=True)
class WorkerLaunched(Event):
    """A worker was given one generation of the run, at this progress."""

    worker: str
    generation: int
    progress: int
    process: ProcessIdentity


@recorded("worker.ready")
@frozen(kw_only=True)
class WorkerReady(Event):
    """A worker verified the sources and said ``ready``."""

    worker: str


@recorded("worker.exited")
@frozen(kw_only=True)
class WorkerExited(Event):
    """A worker's end was observed.

    Attributes:
        worker: Its epoch.
        outcome: ``finished``, ``parked``, ``failed``, ``crashed``, ``timed_out``, ``claim_lost``, ``orphaned``.
        phase: Where a failure happened: ``bootstrap``, ``load`` or ``execute``.
        code: The error code.
        diagnostics: Bounded text (text/plain).
    """

    worker: str
    outcome: str
    phase: str | None = None
    code: str | None = None
    diagnostics: Content | None = private()


@recorded("process.registered")
@frozen(kw_only=True)
class ProcessRegistered(Event):
    """A worker started a process that has to be found again after a crash."""

    worker: str
    process: ProcessIdentity


@recorded("process.ended")
@frozen(kw_only=True)
class ProcessEnded(Event):
    """A registered process is gone."""

    worker: str
    process: ProcessIdentity


@recorded("presentation.prepared")
@frozen(kw_only=True)
class PresentationPrepared(Event):
    """The presentation of an end was worked out."""

    attempt: int
    instructions: Content | None = private()


@recorded("presentation.failed")
@frozen(kw_only=True)
class PresentationFailed(Event):
    """The presentation of an end could not be built this time."""

    attempt: int
    code: str
    reason: str


@recorded("presentation.abandoned")
@frozen(kw_only=True)
class PresentationAbandoned(Event):
    """The presentation of an end will never be built, or was erased before anybody was told."""

    code: str
