"""What a run is shown as: its status, what may be done with it, and the document that says both."""

import json
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from attrs import frozen

from runwright.eventstore.events.run import PERSON
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, UNSETTLED, RequestRow
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.terminal import TERMINAL, TerminalRow
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.workers import WORKERS
from runwright.projections.errors import RunUnknown
from runwright.projections.rows import Rows
from runwright.projections.shown import shown_time
from runwright.projections.views.lines import NO_SPECS, Specs, agent_line, lacking_executors, spec_of

#: Park reasons that go on by themselves under a host, by what they wait for, or by another command.
BY_ITSELF: Final = ("worker_crashed", "host_stopped", "orphaned")
_NOT_BY_RESUME: Final = ("waiting",)

#: Timers that a run stands still for; the others bound what goes on.
_AWAITED: Final = ("wait", "retry")


class OpenRequest(Protocol):
    """What a display needs of a request that waits for an answer; a request's row has it."""

    @property
    def request(self) -> str:
        """The request ID."""
        ...

    @property
    def kind(self) -> str:
        """Its kind, which decides what answers it."""
        ...

    @property
    def path(self) -> str:
        """The node's full path."""
        ...

    @property
    def deadline(self) -> int | None:
        """When it closes (UTC microseconds)."""
        ...


@frozen(kw_only=True)
class Standing:
    """The facts that a run is shown by.

    Attributes:
        run: Its row.
        queue_state: How the scheduler sees it.
        reason: The park reason, or ``None``, also where what it names was resolved since.
        detail: A safe message about it.
        since: Since when it is so (UTC microseconds).
        ambiguous: Its ambiguous effects, by ID.
        requests: Its requests that are not settled.
        timers: The kinds of timers that are set.
        due: When the first of those falls due that the run stands still for (UTC microseconds), or ``None``.
        uncertain: The nodes whose manual effects are in application: without their process nobody can tell whether
            they happened.
        ready: Whether the last thing known of a worker of it is that it was ready.
        turn_open: Whether a connected coordinator has a turn of it open.
        presentation: State and time of telling people how it ended, or ``None`` before.
        held_back: Whether it waits for its session to come to rest.
        eligible: Whether it may be carried on now, whatever it was parked for.
        revision: The version of its stream.
        position: The position that all this was read at.
    """

    run: RunRow
    queue_state: str
    reason: str | None
    detail: str | None
    since: int
    ambiguous: tuple[str, ...] = ()
    requests: tuple[OpenRequest, ...] = ()
    timers: tuple[str, ...] = ()
    due: int | None = None
    uncertain: tuple[str, ...] = ()
    ready: bool = False
    turn_open: bool = False
    presentation: tuple[str, int] | None = None
    held_back: bool = False
    eligible: bool = False
    revision: int
    position: int


def standing_reason(reason: str | None, ambiguous: tuple[str, ...]) -> str | None:
    """Answer what a run is still parked for: an effect that was resolved keeps it from going on no longer."""
    return None if reason == "effect_ambiguous" and not ambiguous else reason


def standing(rows: Rows, run_id: str, *, revision: int, position: int, turn_open: bool | None = None) -> Standing:
    """Gather the facts of one run.

    Args:
        rows: Control rows, live or replayed.
        run_id: The run.
        revision: The version of its stream.
        position: The position that the rows stand at.
        turn_open: Whether a connected coordinator has a turn of it open. Rows of a run's own stream cannot tell, for
            who is connected stands in that of its session; ``None`` asks the rows.

    Raises:
        RunUnknown: There is no such run.
    """
    run, queue = rows.get(RUNS, run_id), rows.get(QUEUE, run_id)
    if run is None or queue is None:
        raise RunUnknown(run_id)
    terminal = rows.get(TERMINAL, run_id)
    ambiguous = tuple(each.effect for each in rows.find(EFFECTS, run_id=run_id, state="ambiguous"))
    applying = rows.find(EFFECTS, run_id=run_id, state="applying")
    timers = rows.find(TIMERS, run_id=run_id)
    return Standing(
        run=run,
        queue_state=queue.state,
        reason=standing_reason(queue.reason, ambiguous),
        detail=queue.detail,
        since=queue.since,
        ambiguous=ambiguous,
        requests=_waiting(rows, run_id),
        timers=tuple(each.kind for each in timers),
        due=min((each.due for each in timers if each.kind in _AWAITED), default=None),
        uncertain=tuple(each.path for each in applying if each.contract == "manual"),
        ready=bool(rows.find(WORKERS, run_id=run_id, state="ready")),
        turn_open=_turn_open(rows, run) if turn_open is None else turn_open,
        presentation=None if terminal is None else _told(rows, terminal),
        eligible=queue.eligible,
        held_back=run.session is not None and queue.state == "queued" and not queue.eligible,
        revision=revision,
        position=position,
    )


def _waiting(rows: Rows, run_id: str) -> tuple[RequestRow, ...]:
    """The requests of a run that wait, among however many it ever made."""
    found = [each for state in UNSETTLED for each in rows.find(REQUESTS, run_id=run_id, state=state)]
    return tuple(sorted(found, key=lambda row: row.request))


def _told(rows: Rows, terminal: TerminalRow) -> tuple[str, int]:
    """How far telling of an end is, and since when: ``sent`` once its message has reached the session."""
    message = rows.get(MESSAGES, f"{terminal.message_due}:{terminal.run_id}")
    if terminal.presentation == "prepared" and message is not None and message.state == "sent":
        return "sent", message.updated_at
    return terminal.presentation, terminal.since


def _turn_open(rows: Rows, run: RunRow) -> bool:
    """Whether the present coordinator of a run's session has a turn of it open."""
    session = None if run.session is None or run.finished_at is not None else rows.get(SESSIONS, run.session)
    if session is None or not session.attached:
        return False
    turns = rows.find(TURNS, session=run.session, state="open")
    return any((each.run_id, each.epoch) == (run.run_id, session.epoch) for each in turns)


def display_status(of: Standing, *, held: bool) -> str:
    """Answer the one status that a run is shown with: the first that holds.

    Args:
        of: The facts.
        held: Whether a process holds the store and can have the run's worker at work right now.
    """
    if of.run.finished_at is not None:
        return of.run.status
    if of.ambiguous:
        return "ambiguous"
    if of.run.paused:
        return "paused"
    if held and ((of.ready and of.queue_state == "running") or of.turn_open):
        return "running"
    if of.requests or of.run.status == "waiting" or any(kind in _AWAITED for kind in of.timers):
        return "waiting"
    return "queued"


def controls(of: Standing, *, held: bool) -> tuple[str, ...]:
    """Answer what may be done with a run, the likeliest first.

    ``resume`` is offered where it changes something: a paused run, one parked for a reason that needs somebody,
    and, while nobody holds the store, any live run that could go on: the command then drives it.
    """
    run = of.run
    if run.finished_at is not None:
        found = ["resolve"] if of.ambiguous else []
        if run.status != "continued" and not run.input_erased:
            found.append("restart")
        return tuple(found)
    found = []
    if _answerable(of) and not run.paused:
        found.append("answer")
    if of.ambiguous:
        found.append("resolve")
    if _resumable(of, held=held):
        # An executor that is missing is rather handed back than answered for.
        found.insert(0 if of.reason == "environment_missing" else len(found), "resume")
    if run.started_at is not None and not run.paused and not run.pause_requested:
        found.append("pause")
    found.append("cancel")
    return tuple(found)


def _answerable(of: Standing) -> tuple[OpenRequest, ...]:
    """The requests that somebody may answer now: no worker is asking, and no session is asked."""
    if of.queue_state != "parked":
        return ()
    of_session = ("assistant",) if of.run.session is None else ("agent", "assistant")
    return tuple(each for each in of.requests if each.kind not in of_session)


def _resumable(of: Standing, *, held: bool) -> bool:
    if of.run.paused:
        return True
    if of.ambiguous or of.held_back or (of.requests and of.reason == "waiting"):
        return False
    if not held:
        return True
    return of.queue_state == "parked" and of.reason not in (None, *BY_ITSELF, *_NOT_BY_RESUME)


def status_document(of: Standing, *, held: bool, specs: Specs = NO_SPECS) -> JsonObject:
    """Answer what ``status RUN --json`` prints: one shape, ``null`` and never absent."""
    run = of.run
    allowed = controls(of, held=held)
    return {
        "run_id": run.run_id,
        "workflow": run.workflow,
        "status": display_status(of, held=held),
        "run_status": run.status,
        "queue_state": of.queue_state,
        "reason": _reason(of),
        "node": run.node,
        "visit": run.visit or None,
        "attempt": run.attempt or None,
        "steps": {"used": run.step_base + run.steps, "max": run.max_steps},
        "session": run.session,
        "parent_run_id": run.parent,
        "root_run_id": run.root,
        "restart_number": run.restart_number,
        "continued_by": run.continued_by,
        "created_at": shown_time(run.created_at),
        "started_at": shown_time(run.started_at),
        "finished_at": shown_time(run.finished_at),
        "error": None if run.code is None else {"code": run.code, "message": run.message},
        "requests": [
            {
                "request_id": each.request,
                "kind": each.kind,
                "node": each.path,
                "deadline": shown_time(each.deadline),
            }
            for each in of.requests
        ],
        "effects": {"ambiguous": len(of.ambiguous)},
        "presentation": _presentation(of),
        "controls": list(allowed),
        "next": list(next_lines(of, allowed, held=held, specs=specs)),
        "revision": of.revision,
        "position": of.position,
    }


def _reason(of: Standing) -> Json:
    if of.reason is None:
        return None
    return {"code": of.reason, "detail": of.detail, "since": shown_time(of.since)}


def _presentation(of: Standing) -> Json:
    state, since = of.presentation or ("none", None)
    return {"state": state, "since": shown_time(since)}


def next_lines(of: Standing, allowed: Iterable[str], *, held: bool, specs: Specs = NO_SPECS) -> Iterable[str]:
    """Write the commands to type now; what can always be done is left out.

    Args:
        of: The run.
        allowed: What may be done with it.
        held: Whether a living process holds the store.
        specs: What is known of executors where the lines are read. ``SPEC`` stands where only the reader knows more.
    """
    for control in allowed:
        match control:
            case "answer":
                yield from (f"runwright answer {each.request}" for each in _answerable(of))
            case "resolve":
                for effect in of.ambiguous:
                    yield f"runwright resolve {effect} done --result JSON --reason TEXT"
                    yield f"runwright resolve {effect} not-done --reason TEXT"
            case "restart" if of.run.status in ("failed", "timed_out"):
                # What was handed over for a run is forgotten with its end.
                yield agent_line("restart", of.run.run_id, agents=_handed_over(of, held=False, specs=specs))
            case "resume":
                accept, agents = of.reason == "source_changed", _handed_over(of, held=held, specs=specs)
                yield agent_line("resume", of.run.run_id, accept_source=accept, agents=agents)
            case _:
                pass


def _handed_over(of: Standing, *, held: bool, specs: Specs) -> Iterator[str]:
    """What `--agent` is given for a run's executors: how a program is started is stored nowhere.

    A process that holds the store has what it was handed, unless it says that something is missing.
    """
    lacking = lacking_executors(of.detail or "") if of.reason == "environment_missing" else ()
    bound = {str(each["name"]): str(each["kind"]) for each in json.loads(of.run.agents)}
    for name in dict.fromkeys((*lacking, *bound)):
        needed = name in lacking or not (held or bound[name] == PERSON)
        if spec := specs.get(name, spec_of(name) if needed else ""):
            yield spec
