"""The page of transitions, for `docs/generate.py`: every cell is what the decisions themselves answer."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve, fields

from runwright.engine.commands.client import AnswerRequest, Caller, CancelRun, PauseRun, RestartRun, ResumeRun
from runwright.engine.commands.run import Continue, Restart, Resume, RunCommand, Start
from runwright.engine.decisions.answering import AnswerFacts, decide_answer
from runwright.engine.decisions.control import decide_cancel, decide_pause, decide_resume
from runwright.engine.decisions.facts import RunFacts, Unsettled
from runwright.engine.decisions.restarting import RestartFacts, decide_restart
from runwright.engine.decisions.run_command import Launch, fit
from runwright.engine.decisions.session import Origin
from runwright.engine.graph.definition import Definition, NodeSpec
from runwright.engine.results import Adopted, Conflict, RecoveryRequired
from runwright.projections.control.effects import EffectRow
from runwright.projections.control.queue import MOVES, QueueRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.runs import RunRow
from runwright.projections.control.timers import TimerRow

_HEAD = """\
# Transitions

What a command finds and what it does, worked out by the same functions that decide it. `Applied`: this call made the
change. `Adopted`: it was so already, and nothing was written. `Conflict`: another fact stands in the way.
`RecoveryRequired`: an operator has to act first. Neither of the last two changes anything.

## Commands by how far a run is

"continue" is the answer to a checkpoint's request, and "restart" takes what a person asks for.
"""

_COMMANDS_HEAD = """
## What a worker is told

One of four things, which follow from the run's own facts and are held against them before any of the workflow's code is
loaded. `fits`, or the rule that is broken; a command that does not fit changes nothing.
"""

_QUEUE_HEAD = """
## Queue states

Every event that moves a run in the queue, where it may find the run, and where it leaves it. Every other pair is
refused without effect.

| event | from | to |
| --- | --- | --- |
"""

_DEFINITION = Definition(workflow="flow", entry="ask", nodes={"ask": NodeSpec(path="ask", kind="checkpoint")})
_PERSON = Caller(client="cli", key="k", actor="client:cli")
_BAD_ENDS = ("completed", "failed", "timed_out", "cancelled")


def _row(cls: type[Any], **facts: Any) -> Any:
    """A row with these facts and nothing else: zero, false or ``None``, as its fields are declared."""
    empty: dict[Any, Any] = {int: 0, bool: False, str: ""}
    return cls(**{each.name: facts.get(each.name, empty.get(each.type)) for each in fields(cls)})


def _run(**facts: Any) -> RunRow:
    row: RunRow = _row(
        RunRow,
        **{
            "run_id": "run",
            "root": "run",
            "workflow": "flow",
            "definition": "same",
            "sources": "same",
            "agents": "[]",
            "pass_env": "[]",
            "kind": "start",
            "status": "running",
            "started_at": 1,
            "node": "ask",
            "visit": 1,
            "attempt": 1,
            "max_steps": 1000,
            "input": 1,
            **facts,
        },
    )
    return row


def _facts(queue: str, reason: str | None = None, **facts: Any) -> RunFacts:
    owner = "host:worker" if queue in ("starting", "running") else None
    eligible = reason in ("worker_crashed", "host_stopped", "orphaned")
    row: QueueRow = _row(QueueRow, run_id="run", state=queue, reason=reason, owner=owner, eligible=eligible)
    return RunFacts(_run(**facts), row, 7, 7)


#: The columns: how far a run is, and the facts that say so.
STANDINGS: dict[str, RunFacts] = {
    "never started": _facts("queued", status="queued", started_at=None, node=None),
    "running": _facts("running"),
    "waiting (timer)": _facts("parked", "waiting", status="waiting"),
    "waiting (checkpoint)": _facts("parked", "waiting", status="waiting"),
    "parked, goes on by itself": _facts("parked", "worker_crashed"),
    "parked, by `effect_ambiguous`": _facts("parked", "effect_ambiguous"),
    "parked, by `source_changed`": _facts("parked", "source_changed"),
    "parked, by another reason": _facts("parked", "provider_error"),
    "paused": _facts("parked", "waiting", status="waiting", paused=True),
    **{end: _facts("done", status=end, finished_at=5) for end in _BAD_ENDS},
    "continued": _facts("done", status="continued", finished_at=5, continued_by="child"),
}


def _unsettled(standing: str) -> Unsettled:
    timers = (_row(TimerRow, run_id="run", kind="wait"),) if standing in ("waiting (timer)", "paused") else ()
    ambiguous = "effect_ambiguous" in standing
    effect: EffectRow | None = _row(EffectRow, effect="e", state="ambiguous") if ambiguous else None
    return Unsettled(timers=timers, effect=effect, requests=_requests(standing))


def _requests(standing: str) -> tuple[RequestRow, ...]:
    return (_request(standing),) if standing == "waiting (checkpoint)" else ()


def _request(standing: str) -> RequestRow:
    state = {"continued": "accepted", **dict.fromkeys(_BAD_ENDS, "closed")}.get(standing, "open")
    row: RequestRow = _row(RequestRow, request="0123456789request", run_id="run", kind="checkpoint", path="ask")
    return evolve(row, state=state)


def _pause(standing: str) -> object:
    return decide_pause(STANDINGS[standing], _unsettled(standing), PauseRun(run_id="run"), "cli")


def _resume(standing: str) -> object:
    command = ResumeRun(run_id="run")
    return decide_resume(STANDINGS[standing], _unsettled(standing), command, "cli", None)


def _cancel(standing: str) -> object:
    return decide_cancel(STANDINGS[standing], _unsettled(standing), CancelRun(run_id="run"), "cli")


def _continue(standing: str) -> object:
    if standing != "waiting (checkpoint)" and (standing.startswith(("waiting", "parked"))):
        return Conflict("not_found")  # there is no request that an answer could name
    facts = AnswerFacts(
        of=STANDINGS[standing],
        request=_request(standing),
        accepted="1" if standing == "continued" else None,
        unsettled=_unsettled(standing),
    )
    return decide_answer(facts, AnswerRequest(request="0123456789request", value=1), _PERSON, "submission")


def _restart(standing: str, *, input_there: bool = True) -> object:
    parent = STANDINGS[standing]
    facts = RestartFacts(
        parent=parent,
        root=parent.run,
        definition=_DEFINITION,
        terminal=None,
        last="child",
        input_there=input_there,
        restarts=0,
        repeats=0,
        origin=Origin(),
    )
    return decide_restart(facts, RestartRun(run_id="run", new_run_id="new"), _PERSON)


COMMANDS: dict[str, Callable[[str], object]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "continue": _continue,
    "restart": _restart,
    "restart, the input gone": lambda standing: _restart(standing, input_there=False),
}


def _answer(decided: object) -> str:
    match decided:
        case Conflict(code=code):
            return f"Conflict `{code}`"
        case RecoveryRequired(reason=reason):
            return f"RecoveryRequired `{reason}`"
        case Adopted():
            return "Adopted"
        case _:
            return "Applied"


def _matrix() -> Iterator[str]:
    yield f"\n| run | {' | '.join(COMMANDS)} |\n"
    yield f"| --- |{' --- |' * len(COMMANDS)}\n"
    for standing in STANDINGS:
        cells = " | ".join(_answer(decide(standing)) for decide in COMMANDS.values())
        yield f"| {standing} | {cells} |\n"


def _launch(kind: str, *, parent: str | None = None, started: bool = False, queue: str = "starting") -> Launch:
    continues = kind == "continue"
    run = _run(
        kind=kind,
        parent=None if kind == "start" else "parent",
        request="request" if continues else None,
        started_at=1 if started else None,
        status="running" if started else "queued",
    )
    before = _run(run_id="parent", status=parent, continued_by="run" if parent == "continued" else None)
    request: RequestRow = _row(RequestRow, request="request", run_id="parent", kind="checkpoint", path="ask")
    return Launch(
        run=run,
        queue=queue,
        parent=None if kind == "start" else before,
        request=request if continues else None,
    )


#: The columns: the run that a worker is launched for.
LAUNCHES: dict[str, Launch] = {
    "a root, never started": _launch("start"),
    "a root that started before": _launch("start", started=True),
    "a continuation, its parent continued by it": _launch("continue", parent="continued"),
    "a continuation, its parent still waiting": _launch("continue", parent="waiting"),
    "a continuation, its parent failed": _launch("continue", parent="failed"),
    "a continuation that started before": _launch("continue", parent="continued", started=True),
    "a restart of an ended run": _launch("restart", parent="failed"),
    "a restart of a continued run": _launch("restart", parent="continued"),
    "a restart of a live run": _launch("restart", parent="running"),
    "a restart that started before": _launch("restart", parent="failed", started=True),
    "any run that is not claimed": _launch("start", queue="parked"),
}

TOLD: dict[str, RunCommand] = {
    "Start": Start(run_id="run"),
    "Resume": Resume(run_id="run"),
    "Continue": Continue(run_id="run", parent="parent", request="request", node="ask"),
    "Restart": Restart(run_id="run", parent="parent"),
}


def _told() -> Iterator[str]:
    yield f"\n| run | {' | '.join(TOLD)} |\n"
    yield f"| --- |{' --- |' * len(TOLD)}\n"
    for name, launch in LAUNCHES.items():
        yield f"| {name} | {' | '.join(f'`{fit(command, launch)}`' for command in TOLD.values())} |\n"


def transitions_reference() -> str:
    """The text of ``docs/reference/transitions.md``."""
    moves = (f"| `{event}` | {', '.join(sources)} | {target} |\n" for event, (sources, target) in MOVES.items())
    return "".join((_HEAD, *_matrix(), _COMMANDS_HEAD, *_told(), _QUEUE_HEAD, *moves))
