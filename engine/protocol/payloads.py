"""What operations take; beside it a call names its run and the revision it expects."""

from typing import Final

from attrs import frozen

from runwright.engine.protocol.fields import Part, of
from runwright.engine.protocol.kinds import AnyJson, Many, Maybe, Name, Number, OneOf, Prose, Table, Truth, Whole
from runwright.engine.protocol.limits import (
    CURSOR,
    ID,
    LIMIT,
    MOST_ITEMS,
    NODE,
    PATH,
    POSITION,
    REASON,
    REFERENCE,
    SESSION,
    TIME,
    WORD,
)
from runwright.eventstore.values import Json

#: The most bytes of an input.
MAX_INPUT: Final = 1024 * 1024
#: Variables that are handed over, with their values.
VARIABLES: Final = Table(Name(256, r"[A-Za-z_][A-Za-z0-9_]*"), Prose(32 * 1024), 256)


@frozen(kw_only=True)
class Nothing:
    """Nothing."""


@frozen(kw_only=True)
class AgentSpec:
    """An executor of agent and choose nodes.

    Attributes:
        name: Its name.
        spec: How it is reached: ``cmd:PROGRAM ARGUMENTS``.
        spare: Whether it is only there in case a node asks for it; of the others each has to be asked for.
    """

    name: str = of(WORD)
    spec: str = of(Name(8 * 1024))
    spare: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class WorkflowList:
    """Which workflows can be started by name, from a project's folder."""

    project: str = of(PATH)


@frozen(kw_only=True)
class WorkflowCheck:
    """Look for everything that is wrong with a workflow.

    Attributes:
        workflow: A file, a name or an import path.
        cwd: The folder that it is named from.
        project: The project's folder; ``null`` for the one that the workflow stands in.
        graph: How to draw its graph; ``null`` for not at all.
        input_schema: Whether to answer the JSON Schema of its input.
    """

    workflow: str = of(REFERENCE)
    cwd: str = of(PATH)
    project: str | None = of(Maybe(PATH), default=None)
    graph: str | None = of(Maybe(OneOf(("text", "mermaid"))), default=None)
    input_schema: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class FieldTyped:
    """One field of an input as somebody typed it: a text that takes the declared type, or the text of JSON."""

    key: str = of(Prose(4 * 1024))
    text: str = of(Prose(MAX_INPUT))
    is_json: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class RunStart:
    """Queue a run durably.

    Attributes:
        workflow: A file, a name or an import path.
        input: Its input.
        fields: Fields that are put into the input, in order; each takes its declared type.
        task: A text for the input's field ``task``; ``null`` for none.
        cwd: The folder that the run works in, and that the workflow is named from.
        project: The project's folder; ``null`` for the one that the workflow stands in.
        interpreter: The Python that runs its code; ``null`` for the host's own.
        session: The conversation that starts it.
        agents: Its executors; they are kept in the host's memory alone.
        pass_env: Variables that its code gets; the values are kept in the host's memory alone.
    """

    workflow: str = of(REFERENCE)
    input: Json = of(AnyJson(MAX_INPUT))
    fields: tuple[FieldTyped, ...] = of(Many(Part(FieldTyped), 1024), default=())
    task: str | None = of(Maybe(Prose(MAX_INPUT)), default=None)
    cwd: str = of(PATH)
    project: str | None = of(Maybe(PATH), default=None)
    interpreter: str | None = of(Maybe(PATH), default=None)
    session: str | None = of(Maybe(SESSION), default=None)
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


@frozen(kw_only=True)
class RunResume:
    """Let a paused or parked run go on.

    Attributes:
        accept_source: Whether to go on with a workflow that has changed since the run was started.
        agents: Executors that are handed back.
        pass_env: Variables that are handed back.
    """

    accept_source: bool = of(Truth(), default=False)
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


@frozen(kw_only=True)
class RunCancel:
    """End a run now; the reason is private and stays in the log."""

    reason: str = of(REASON, default="")


@frozen(kw_only=True)
class RunRestart:
    """Run an ended run's workflow afresh, from the first node or from ``at``.

    Attributes:
        at: The node to begin at.
        agents: Its executors.
        pass_env: Variables that its code gets.
    """

    at: str | None = of(Maybe(NODE), default=None)
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


@frozen(kw_only=True)
class RunStatusOf:
    """One run's status: that of the call's run, or of the one that is named otherwise.

    Attributes:
        session: The run that holds this session, else its latest.
        name: What people call it: its ID, the last four or more characters of it, or ``@last``.
        project: The project's folder: ``@last`` is the newest run of it, or that was started in it.
        cwd: A folder: ``@last`` may have been started in this one as well. Without either it is the newest of all.
    """

    session: str | None = of(Maybe(SESSION), default=None)
    name: str | None = of(Maybe(Name(64)), default=None)
    project: str | None = of(Maybe(PATH), default=None)
    cwd: str | None = of(Maybe(PATH), default=None)


@frozen(kw_only=True)
class RunList:
    """A page of runs, newest first.

    Attributes:
        statuses: Only these display statuses; all without any.
        workflow: Only this workflow.
        since: Only runs created at or after this time, RFC 3339.
        live: Every run that has not ended, and no page.
        limit: How many at most.
        cursor: The ``next`` of the page before.
    """

    statuses: tuple[str, ...] = of(Many(WORD, 16), default=())
    workflow: str | None = of(Maybe(WORD), default=None)
    since: str | None = of(Maybe(TIME), default=None)
    live: bool = of(Truth(), default=False)
    limit: int = of(LIMIT, default=100)
    cursor: str | None = of(CURSOR, default=None)


@frozen(kw_only=True)
class RunOutput:
    """A run's final output, or the output of a node's visit: its last accepted one without ``visit``."""

    node: str | None = of(Maybe(NODE), default=None)
    visit: int | None = of(Maybe(Whole(1)), default=None)


@frozen(kw_only=True)
class RunLogs:
    """Lines of what a run's code wrote.

    Attributes:
        node: Only lines of this node.
        after: The place in the file after which to begin: 0, or the ``next`` of the answer before.
        follow: Whether lines that come later follow as events, until the run has ended.
    """

    node: str | None = of(Maybe(NODE), default=None)
    after: int = of(POSITION, default=0)
    follow: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class RunFollowUp:
    """A text for a live run's own session, sent once the run has completed.

    Attributes:
        session: The session that speaks, which has to be the run's own.
        epoch: Its coordinator's epoch, which has to be the present one.
        text: The text.
    """

    session: str = of(SESSION)
    epoch: str = of(ID)
    text: str = of(Prose(64 * 1024))


@frozen(kw_only=True)
class RequestGet:
    """One open request, by its ID or the last four or more characters of it."""

    request_id: str = of(ID)


@frozen(kw_only=True)
class RequestAnswer:
    """Answer a checkpoint, or an agent's request that no worker is waiting for.

    Attributes:
        request_id: The request.
        value: The answer.
        agents: Executors that are handed back to the run which goes on.
        pass_env: Variables that are handed back to it.
    """

    request_id: str = of(ID)
    value: Json = of(AnyJson())
    agents: tuple[AgentSpec, ...] = of(Many(Part(AgentSpec), 64), default=())
    pass_env: dict[str, str] = of(VARIABLES, default={})


@frozen(kw_only=True)
class ViewGet:
    """The view of the call's run, or of a session.

    Attributes:
        session: The session, where the call names no run.
        epoch: That of the session's coordinator, which may be handed a message; ``null`` for whoever only looks.
    """

    session: str | None = of(Maybe(SESSION), default=None)
    epoch: str | None = of(Maybe(ID), default=None)


@frozen(kw_only=True)
class ViewPage:
    """More of a run's view than its bounded document holds.

    Attributes:
        part: Which part.
        after: How many items to pass over.
        revision: The revision that the pages before were of; another one is a conflict.
    """

    part: str = of(OneOf(("nodes", "mounts", "visits", "edges")))
    after: int = of(POSITION, default=0)
    revision: int | None = of(Maybe(Whole()), default=None)


@frozen(kw_only=True)
class ViewSubscribe:
    """Follow the view of the call's run, or of a session, or else of all live runs.

    Attributes:
        session: The session, where the call names no run.
        epoch: That of the session's coordinator, which is handed its messages; ``null`` for whoever only looks.
        after: The position of the last view that is known: nothing comes until there is a newer one. A session's
            view comes at once in any case.
        replaces: The call ID of a subscription of this connection that ends with it.
    """

    session: str | None = of(Maybe(SESSION), default=None)
    epoch: str | None = of(Maybe(ID), default=None)
    after: int = of(POSITION, default=0)
    replaces: str | None = of(Maybe(ID), default=None)


@frozen(kw_only=True)
class EventsRead:
    """Events in order, of one run or all.

    Attributes:
        after: Only events after this position.
        types: Only types that one of these patterns fits (``effect.*``).
        values: Whether private values come along.
        limit: How many at most.
    """

    after: int = of(POSITION, default=0)
    types: tuple[str, ...] = of(Many(WORD, 64), default=())
    values: bool = of(Truth(), default=False)
    limit: int = of(LIMIT, default=MOST_ITEMS)


@frozen(kw_only=True)
class EventsSubscribe:
    """Events after a position, then new ones as they commit; fields as in `EventsRead` and `ViewSubscribe`."""

    after: int = of(POSITION, default=0)
    types: tuple[str, ...] = of(Many(WORD, 64), default=())
    values: bool = of(Truth(), default=False)
    replaces: str | None = of(Maybe(ID), default=None)


@frozen(kw_only=True)
class ContentRead:
    """A part of a committed private value: the event's position, the field's name, and which part, from 0."""

    position: int = of(Whole(1))
    field: str = of(WORD)
    part: int = of(Whole(0, 64), default=0)


@frozen(kw_only=True)
class ProjectionQuery:
    """Rows of a projection, filtered and sorted by field (``status=failed``, ``-created_at``)."""

    projection: str = of(WORD)
    where: tuple[str, ...] = of(Many(Name(4096), 32), default=())
    sort: tuple[str, ...] = of(Many(Name(128), 16), default=())
    limit: int = of(LIMIT, default=100)
    cursor: str | None = of(CURSOR, default=None)


@frozen(kw_only=True)
class ProjectionNames:
    """Which projections; all of them where none is named."""

    names: tuple[str, ...] = of(Many(WORD, 64), default=())


@frozen(kw_only=True)
class EffectGet:
    """One side effect, by its ID or the last four or more characters of it."""

    effect_id: str = of(ID)


@frozen(kw_only=True)
class EffectResolve:
    """Say what became of an ambiguous effect; ``result`` is that of a ``done`` one, the reason is private."""

    effect_id: str = of(ID)
    outcome: str = of(OneOf(("done", "not_done", "timed_out")))
    result: Json = of(AnyJson(), default=None)
    reason: str = of(REASON)


@frozen(kw_only=True)
class LogRedact:
    """Erase the private values of an ended run's tree; a dry run only says what would be erased."""

    reason: str = of(REASON, default="")
    dry_run: bool = of(Truth(), default=False)


@frozen(kw_only=True)
class StoreBackup:
    """Write a verified copy of the store into a new file, an absolute path."""

    file: str = of(PATH)


@frozen(kw_only=True)
class HostStop:
    """Take nothing more, let every worker stop at its next boundary, and exit; ``grace`` is in seconds."""

    grace: float | None = of(Maybe(Number(3600)), default=None)
