"""Events about nodes and mounts of a run (stream ``run/<run ID>``)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded

#: The key of an update by which a run without a session tells what a notify node says.
NOTIFICATION: Final = "notification"


@recorded("node.carried")
@frozen(kw_only=True)
class NodeCarried(Event):
    """A continuation, or a restart at a node, took over what a node of its ancestor had reached.

    Attributes:
        path: The full compiled node path.
        kind: The node kind.
        visits: Visits so far.
        invocation: The entry of the mount around the node in which the last visit stands, 0 outside of mounts.
        invocation_visits: Visits in that entry.
        outcome: The last outcome.
        output: Position of the accepted output in the ancestor's stream.
        code: The last error code.
        finished: Position of the last end in the ancestor's stream, where that is no accepted output.
        started_at: When the last visit started (UTC microseconds).
        finished_at: When it ended.
    """

    path: str
    kind: str
    visits: int
    invocation: int = 0
    invocation_visits: int
    outcome: str | None
    output: int | None
    code: str | None = None
    finished: int | None = None
    started_at: int | None = None
    finished_at: int | None = None


@recorded("mount.carried")
@frozen(kw_only=True)
class MountCarried(Event):
    """A continuation, or a restart at a node, took over a mount of its ancestor as it stood.

    Attributes:
        path: The full mount path.
        invocation: The last entry, counted from 1 over the chain.
        within: The entry of the mount around this one, 0 outside of mounts.
        entries: Entries in that one.
        step_base: The number of steps that the chain had used when it entered.
        input: Position of the mount's input in the ancestor's stream.
        inside: Whether that entry is open.
        exit: The way it was left by, where it was.
        outcome: How it was left, where it was.
        code: The error code, where it was left badly.
        output: Position of the output in the ancestor's stream.
        exited: Position of the last exit in the ancestor's stream, where that has no output.
    """

    path: str
    invocation: int
    within: int = 0
    entries: int = 1
    step_base: int = 0
    input: int | None
    inside: bool = True
    exit: str | None = None
    outcome: str | None = None
    code: str | None = None
    output: int | None = None
    exited: int | None = None


@recorded("node.started")
@frozen(kw_only=True)
class NodeStarted(Event):
    """An attempt of a visit began; one per attempt, not per launch.

    Attributes:
        path: The full compiled node path.
        visit: The how-many-th visit of exactly that path, from 1.
        attempt: The try within the visit, from 1.
        kind: The node kind.
        invocation: The entry of the mount around the node, counted from 1 over the run; 0 outside of mounts.
        deadline: When its time is up (UTC microseconds), or ``None``.
    """

    path: str
    visit: int
    attempt: int
    kind: str
    invocation: int = 0
    deadline: int | None = None


@recorded("node.finished")
@frozen(kw_only=True)
class NodeFinished(Event):
    """An attempt ended.

    Attributes:
        path: The full compiled node path.
        visit: The visit.
        attempt: The attempt.
        outcome: ``completed``, ``failed``, ``timed_out`` or ``cancelled``.
        code: The error code, or ``None`` when it completed.
        next: The place that follows, or ``None`` where the run ends, retries, or the host finished it.
        output: The output (application/json).
        error: The error text (text/plain).
    """

    path: str
    visit: int
    attempt: int
    outcome: str
    code: str | None = None
    next: str | None = None
    output: Content | None = private()
    error: Content | None = private()


@recorded("node.updated")
@frozen(kw_only=True)
class NodeUpdated(Event):
    """Progress that a node reported; ``number`` counts the run's updates."""

    path: str
    visit: int
    attempt: int
    key: str
    number: int
    update: Content | None = private()


@recorded("mount.entered")
@frozen(kw_only=True)
class MountEntered(Event):
    """One entry into a mounted child.

    Attributes:
        path: The full mount path.
        invocation: The entry, counted from 1 over the run.
        within: The entry of the mount around this one, 0 outside of mounts.
        step_base: The number of steps that the run had used before it.
        input: The child's input (application/json); none where no fitting one could be worked out.
    """

    path: str
    invocation: int
    within: int = 0
    step_base: int = 0
    input: Content | None = private()


@recorded("mount.exited")
@frozen(kw_only=True)
class MountExited(Event):
    """A mounted child was left.

    Attributes:
        path: The full mount path.
        invocation: The entry that ends.
        exit: The way out, or ``None`` where a bad outcome left it uncaught.
        outcome: ``completed``, ``failed``, ``timed_out`` or ``cancelled``.
        code: The error code, or ``None`` when it completed.
        output: The way out's output (application/json).
        error: The error text (text/plain).
    """

    path: str
    invocation: int
    exit: str | None
    outcome: str
    code: str | None = None
    output: Content | None = private()
    error: Content | None = private()
