"""What operations answer: the facts of runs, requests and effects, events, and pages of them."""

from attrs import frozen

from runwright.engine.protocol.fields import Part, of
from runwright.engine.protocol.kinds import AnyJson, AnyObject, Many, Maybe, Name, OneOf, Prose, Truth, Whole
from runwright.engine.protocol.limits import (
    CURSOR,
    HASH,
    ID,
    INLINE,
    MOST_ITEMS,
    NODE,
    PATH,
    POSITION,
    REFERENCE,
    SESSION,
    TIME,
    WORD,
)
from runwright.eventstore.values import Json, JsonObject


@frozen(kw_only=True)
class Value:
    """A committed private value: itself where it is small, else where its parts are read.

    Attributes:
        position: The position of its event; with ``field`` what `content.read` takes.
        field: The field of the event.
        media: ``application/json`` or ``text/plain``.
        bytes: The bytes of its JSON text, or of the text.
        sha256: Over those bytes, in hex.
        inline: Whether ``value`` is it.
        value: The value, where it is inline.
    """

    position: int = of(Whole(1))
    field: str = of(WORD)
    media: str = of(OneOf(("application/json", "text/plain")))
    bytes: int = of(Whole())
    sha256: str = of(HASH)
    inline: bool = of(Truth())
    value: Json = of(AnyJson(INLINE), default=None)


@frozen(kw_only=True)
class ContentPart:
    """A part of a value.

    Attributes:
        media: The value's media type.
        bytes: The bytes of the whole.
        sha256: Over the whole, in hex.
        part: Which part this is, from 0.
        parts: How many there are.
        data: Its bytes in base64.
    """

    media: str = of(OneOf(("application/json", "text/plain")))
    bytes: int = of(Whole())
    sha256: str = of(HASH)
    part: int = of(Whole())
    parts: int = of(Whole(1))
    data: str = of(Prose(1024 * 1024))


# --- runs -------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Reason:
    """Why a run is parked, and since when."""

    code: str = of(WORD)
    detail: str | None = of(Maybe(Prose(4 * 1024)))
    since: str = of(TIME)


@frozen(kw_only=True)
class RunError:
    """Why a run ended badly."""

    code: str = of(WORD)
    message: str = of(Prose(4 * 1024))


@frozen(kw_only=True)
class Steps:
    """Steps used, the chain's included, and the bound on them."""

    used: int = of(Whole())
    max: int = of(Whole())


@frozen(kw_only=True)
class WaitingFor:
    """A request that a run waits on."""

    request_id: str = of(ID)
    kind: str = of(WORD)
    node: str = of(NODE)
    deadline: str | None = of(Maybe(TIME))


@frozen(kw_only=True)
class EffectCounts:
    """How many of a run's effects nobody can tell the outcome of."""

    ambiguous: int = of(Whole())


@frozen(kw_only=True)
class Presentation:
    """How far telling people about the end is."""

    state: str = of(WORD)
    since: str | None = of(Maybe(TIME))


@frozen(kw_only=True)
class RunStatus:
    """One run's facts, as ``runwright status RUN --json`` prints them: every field is there.

    Attributes:
        status: The display status.
        run_status: How far the run is.
        queue_state: What the scheduler may do with it.
        controls: The commands that would do something now.
        next: The lines to type, the most useful first.
        revision: The version of the run's stream.
        position: The log's head that all of this was read at.
    """

    run_id: str = of(ID)
    workflow: str = of(WORD)
    status: str = of(WORD)
    run_status: str = of(WORD)
    queue_state: str = of(WORD)
    reason: Reason | None = of(Maybe(Part(Reason)))
    node: str | None = of(Maybe(NODE))
    visit: int | None = of(Maybe(Whole()))
    attempt: int | None = of(Maybe(Whole()))
    steps: Steps = of(Part(Steps))
    session: str | None = of(Maybe(SESSION))
    parent_run_id: str | None = of(Maybe(ID))
    root_run_id: str = of(ID)
    restart_number: int = of(Whole())
    continued_by: str | None = of(Maybe(ID))
    created_at: str = of(TIME)
    started_at: str | None = of(Maybe(TIME))
    finished_at: str | None = of(Maybe(TIME))
    error: RunError | None = of(Maybe(Part(RunError)))
    requests: tuple[WaitingFor, ...] = of(Many(Part(WaitingFor), 1024))
    effects: EffectCounts = of(Part(EffectCounts))
    presentation: Presentation = of(Part(Presentation))
    controls: tuple[str, ...] = of(Many(WORD, 16))
    next: tuple[str, ...] = of(Many(Prose(16 * 1024), 4096))
    revision: int = of(Whole())
    position: int = of(POSITION)


@frozen(kw_only=True)
class RunsPage:
    """A page of runs, newest first; ``next`` is the cursor of the page behind it."""

    items: tuple[RunStatus, ...] = of(Many(Part(RunStatus), MOST_ITEMS))
    position: int = of(POSITION)
    next: str | None = of(CURSOR)


@frozen(kw_only=True)
class LiveRuns:
    """Every run that has not ended, newest first; ``left_out`` counts those that the frame has no room for."""

    items: tuple[RunStatus, ...] = of(Many(Part(RunStatus), MOST_ITEMS))
    left_out: int = of(Whole())
    position: int = of(POSITION)


@frozen(kw_only=True)
class RunQueued:
    """A run is queued, durably; more is not claimed."""

    action: str = of(OneOf(("start",)))
    workflow: str = of(WORD)
    run_id: str = of(ID)
    queued: bool = of(Truth())


@frozen(kw_only=True)
class RunNamed:
    """The run that a command was about, or that it made."""

    run_id: str = of(ID)


@frozen(kw_only=True)
class RunOutputFound:
    """An output; ``run_id`` is the run that holds it, the last of a chain of continuations."""

    run_id: str = of(ID)
    output: Value = of(Part(Value))


@frozen(kw_only=True)
class LogLines:
    """Lines of a run's output log.

    Attributes:
        lines: The lines, without their ends.
        next: The place in the file behind the last line that was looked at.
        more: Whether there is more behind it already.
    """

    lines: tuple[str, ...] = of(Many(Prose(256 * 1024), 4096))
    next: int = of(POSITION)
    more: bool = of(Truth())


# --- requests and effects ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class RequestFound:
    """An open request; its values are ``null`` where there is none, or it was erased.

    Attributes:
        state: ``open``, or ``validating`` while a candidate is checked.
        session: The session that it is put to.
        protected: Whether only a person may answer it.
        digest: What a decision is about: subject, text, choices, deadline; `request.decide` may name it.
        refused: How many candidates were refused.
        prompt: What is asked.
        contract: The schema of an answer.
        presentation: What people are shown of a decision.
        reason: Why the last candidate was refused.
    """

    request_id: str = of(ID)
    run_id: str = of(ID)
    kind: str = of(WORD)
    path: str = of(NODE)
    state: str = of(OneOf(("open", "validating")))
    session: str | None = of(Maybe(SESSION))
    deadline: str | None = of(Maybe(TIME))
    opened_at: str = of(TIME)
    protected: bool = of(Truth())
    digest: str | None = of(Maybe(Name(128)))
    refused: int = of(Whole())
    prompt: Value | None = of(Maybe(Part(Value)))
    contract: Value | None = of(Maybe(Part(Value)))
    presentation: Value | None = of(Maybe(Part(Value)))
    reason: Value | None = of(Maybe(Part(Value)))


@frozen(kw_only=True)
class RequestsPage:
    """Open requests, the oldest first; ``left_out`` counts those that the frame has no room for."""

    items: tuple[RequestFound, ...] = of(Many(Part(RequestFound), MOST_ITEMS))
    left_out: int = of(Whole())
    position: int = of(POSITION)


@frozen(kw_only=True)
class RequestAnswered:
    """An answer was accepted; ``run_id`` is the run that goes on: behind a checkpoint a child of the one that asked."""

    request_id: str = of(ID)
    run_id: str = of(ID)


@frozen(kw_only=True)
class EffectFound:
    """One side effect; request and result are ``null`` where there is none, or it was erased."""

    effect: str = of(ID)
    run_id: str = of(ID)
    type: str = of(Name(128))
    path: str = of(NODE)
    visit: int = of(Whole())
    contract: str = of(WORD)
    state: str = of(WORD)
    applications: int = of(Whole())
    external_reference: str | None = of(Maybe(Prose(4 * 1024)))
    code: str | None = of(Maybe(WORD))
    cause: str | None = of(Maybe(WORD))
    since: str = of(TIME)
    request: Value | None = of(Maybe(Part(Value)))
    result: Value | None = of(Maybe(Part(Value)))


# --- workflows --------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class WorkflowNamed:
    """A workflow that can be started by name."""

    name: str = of(WORD)
    origin: str = of(Name(256))
    file: str | None = of(Maybe(PATH))


@frozen(kw_only=True)
class WorkflowsFound:
    """What can be started by name."""

    items: tuple[WorkflowNamed, ...] = of(Many(Part(WorkflowNamed), 4096))


@frozen(kw_only=True)
class Problem:
    """One thing that is wrong with a definition."""

    code: str = of(WORD)
    severity: str = of(WORD)
    message: str = of(Prose(8 * 1024))
    fix: str = of(Prose(8 * 1024))
    file: str = of(Prose(4096))
    line: int = of(Whole())


@frozen(kw_only=True)
class WorkflowChecked:
    """What a check found; ``graph`` and ``input_schema`` where they were asked for and there is a whole definition."""

    workflow: str = of(REFERENCE)
    ok: bool = of(Truth())
    problems: tuple[Problem, ...] = of(Many(Part(Problem), 1024))
    graph: str | None = of(Maybe(Prose(512 * 1024)))
    input_schema: JsonObject | None = of(Maybe(AnyObject(256 * 1024)))
