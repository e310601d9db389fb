"""Stories of runs told by hand: recorded events without a log, and units that chance makes up."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from runwright.eventstore.codec import encode_event
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events import effect, message, node, request, run, timer, turn, worker
from runwright.eventstore.events.command import CommandSettled
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.eventstore.events.event import Content, Event, ProcessIdentity
from runwright.eventstore.events.host import HostStarted
from runwright.eventstore.events.session import SessionAttached, SessionPersonSpoke
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from runwright.projections.errors import ImpossibleEvent
from runwright.projections.rows import MemoryRows

Told: TypeAlias = tuple[str, Event]

START = 1_800_000_000_000_000
PROCESS = ProcessIdentity(boot="boot", namespace="4026531836", pid=4711, start=99)


class Teller:
    """Gives events their places, one after another."""

    def __init__(self) -> None:
        self.position = 0
        self.versions: dict[str, int] = {}

    def tell(self, stream: str, event: Event, *, generation: int | None = None) -> RecordedEvent:
        """Record an event at the next position."""
        self.position += 1
        version = self.versions[stream] = self.versions.get(stream, 0) + 1
        data, body = encode_event(event)
        digest = None if body is None else bytes(32)
        at = START + self.position
        return RecordedEvent(
            self.position, stream, version, event.type, at, "operator", generation, None,
            data, digest, bytes(32), None if body is None else bytes(16), body, True, event,
        )  # fmt: skip

    def untell(self, recorded: Sequence[RecordedEvent]) -> None:
        """Take events back, the last first."""
        for each in reversed(recorded):
            self.position -= 1
            self.versions[each.stream] -= 1


def fold(told: Iterable[Told]) -> MemoryRows:
    """Fold told events into rows."""
    rows, teller = MemoryRows(CONTROL), Teller()
    for stream, event in told:
        rows.apply(teller.tell(stream, event))
    return rows


def queued(run_id: str = "r1", **changes: Any) -> Told:
    """A run that is accepted."""
    facts: dict[str, Any] = {
        "workflow": "report",
        "reference": "report.py:wf",
        "definition": "d1",
        "root": run_id,
        "max_steps": 100,
    }
    return f"run/{run_id}", run.RunQueued(**(facts | changes))


def launched(run_id: str = "r1", generation: int = 1, progress: int = 0) -> list[Told]:
    """A claim, the launch of its worker, and its readiness."""
    stream, name = f"run/{run_id}", f"{run_id}-w{generation}"
    return [
        (stream, run.RunClaimed(generation=generation, owner=f"h1:{name}", token_hash="ab" * 32)),
        (stream, worker.WorkerLaunched(worker=name, generation=generation, progress=progress, process=PROCESS)),
        (stream, worker.WorkerReady(worker=name)),
        (stream, run.RunStarted(worker=name)),
    ]


def started(run_id: str = "r1", **changes: Any) -> list[Told]:
    """A run from its start to its first worker's readiness."""
    stream = f"run/{run_id}"
    given = run.RunInput(input=Content.json({"task": "secret"}), key=Content.text("aa"))
    eligible = run.RunEligible(cause="headless")
    return [queued(run_id, **changes), (stream, given), (stream, eligible), *launched(run_id)]


def visited(run_id: str = "r1", path: str = "a", visit: int = 1, outcome: str = "completed") -> list[Told]:
    """A visit of one attempt."""
    stream = f"run/{run_id}"
    output = Content.json({"n": visit}) if outcome == "completed" else None
    return [
        (stream, node.NodeStarted(path=path, visit=visit, attempt=1, kind="compute")),
        (stream, node.NodeFinished(path=path, visit=visit, attempt=1, outcome=outcome, output=output)),
    ]


def completed(run_id: str = "r1", steps: int = 3, **changes: Any) -> list[Told]:
    """A whole run that ends well."""
    stream = f"run/{run_id}"
    visits = [each for number in range(1, steps + 1) for each in visited(run_id, "a", number)]
    settled = CommandSettled(operation="run.start", fingerprint="f", outcome="accepted", run=run_id)
    end: list[Told] = [
        (stream, run.RunCompleted(output=None)),
        (stream, worker.WorkerExited(worker=f"{run_id}-w1", outcome="finished")),
        (f"command/cli/key-{run_id}", settled),
    ]
    return [*started(run_id, **changes), *visits, *end]


def effect_id(number: int) -> str:
    """An effect ID."""
    return f"{number:064x}"


# --- what chance makes up ---------------------------------------------------------------------------------

RUNS_TOLD = ("r1", "r2", "r3")
SESSIONS_TOLD = ("s1", "s2", None)


def random_units(seed: int, count: int) -> list[list[Told]]:
    """Make up units of events; most of them fit what stands before, some do not.

    Args:
        seed: Decides everything.
        count: How many units.
    """
    chance = random.Random(seed)
    units: list[list[Told]] = []
    accepted: list[Told] = []
    for _ in range(count):
        rows, teller = fold(accepted), _teller_after(accepted)
        unit: list[Told] = []
        fits = True
        for _ in range(chance.randint(1, 4)):
            told = _propose(chance, rows, teller) if chance.random() < 0.95 else _made_up(chance, rows)
            unit.append(told)
            try:
                rows.apply(teller.tell(*told))
            except ImpossibleEvent:
                fits = False
        units.append(unit)
        if fits:
            accepted.extend(unit)
    return units


def _teller_after(told: Sequence[Told]) -> Teller:
    teller = Teller()
    for each in told:
        teller.tell(*each)
    return teller


def _propose(chance: random.Random, rows: MemoryRows, teller: Teller) -> Told:
    """Make up an event that fits, if a few tries find one."""
    told = _made_up(chance, rows)
    for _ in range(40):
        trial = MemoryRows(CONTROL)
        for projection in CONTROL:
            trial_table: Any = trial.table(projection)
            trial_table.update(rows.table(projection))
        recorded = teller.tell(*told)
        teller.untell([recorded])
        try:
            trial.apply(recorded)
        except ImpossibleEvent:
            told = _made_up(chance, rows)
        else:
            return told
    return told


def _made_up(chance: random.Random, rows: MemoryRows) -> Told:
    run_id = chance.choice(RUNS_TOLD)
    make = chance.choice(_MAKERS)
    event = make(chance, rows, run_id)
    if isinstance(event, SessionAttached | SessionPersonSpoke):
        return f"session/{chance.choice(('s1', 's2'))}", event
    if isinstance(event, DefinitionRecorded):
        return f"definition/d{chance.randint(1, 2)}", event
    if isinstance(event, CommandSettled):
        return f"command/cli/k{chance.randint(1, 5)}", event
    return ("host" if isinstance(event, HostStarted) else f"run/{run_id}"), event


def _node_started(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    path = chance.choice(("a", "b"))
    row = rows.get(VISITS, run_id, path)
    if row is not None and row.outcome in ("failed", "timed_out") and chance.random() < 0.5:
        return node.NodeStarted(path=path, visit=row.visits, attempt=row.attempt + 1, kind="agent")
    return node.NodeStarted(path=path, visit=(row.visits if row else 0) + 1, attempt=1, kind="agent")


def _node_finished(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    path = chance.choice(("a", "b"))
    row = rows.get(VISITS, run_id, path)
    outcome = chance.choice(("completed", "failed", "timed_out"))
    return node.NodeFinished(
        path=path, visit=row.visits if row else 1, attempt=row.attempt if row else 1, outcome=outcome
    )


def _claimed(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    row = rows.get(QUEUE, run_id)
    generation = (row.generation if row else 0) + 1
    return run.RunClaimed(generation=generation, owner=f"h1:{run_id}-w{generation}", token_hash="ab")


def _owner(rows: MemoryRows, run_id: str) -> str:
    row = rows.get(QUEUE, run_id)
    return f"{run_id}-w{row.generation if row else 1}"


def _launched(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    queue, row = rows.get(QUEUE, run_id), rows.get(RUNS, run_id)
    generation = queue.generation if queue else 1
    return worker.WorkerLaunched(
        worker=_owner(rows, run_id), generation=generation, progress=row.progress if row else 0, process=PROCESS
    )


def _applying(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    name = effect_id(chance.randint(1, 3))
    row = rows.get(EFFECTS, name)
    return effect.EffectApplying(effect=name, application=(row.applications if row else 0) + 1, generation=1)


def _reserved(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    number = chance.randint(1, 3)
    return effect.EffectReserved(
        effect=effect_id(number), effect_type="shell", path=f"p{number}", visit=1, fingerprint="f", contract="manual"
    )


def _opened(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    name = f"q{chance.randint(1, 3)}"
    return request.RequestOpened(request=name, kind="agent", path="a", visit=chance.randint(1, 2), attempt=1)


def _settled_request(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    name = f"q{chance.randint(1, 3)}"
    row = rows.get(REQUESTS, name)
    submission = row.submission if row and row.submission else "sub"
    return chance.choice(
        (
            request.RequestSubmitted(request=name, submission=f"sub{chance.randint(1, 2)}", key="k"),
            request.RequestRejected(request=name, submission=submission, actor="agent", code="schema"),
            request.RequestAccepted(request=name, submission=submission, source="agent"),
            request.RequestClosed(request=name, cause="cancelled"),
        )
    )


def _message(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    name = f"m{chance.randint(1, 4)}"
    row = rows.get(MESSAGES, name)
    queued_ = message.MessageQueued(
        message=name,
        kind=chance.choice(("step", "notification")),
        session="s1",
        order=chance.randint(1, 9),
        source=f"q{chance.randint(1, 2)}",
        starts_turn=True,
        reason=chance.choice(("initial", "resumed")),
    )
    return chance.choice(
        (
            queued_,
            queued_,
            message.MessageDelivered(
                message=name, session="s1", number=(row.deliveries if row else 0) + 1, epoch="e1", starts_turn=True
            ),
            message.MessageSent(message=name, epoch="e1", entry="x"),
            message.MessageCancelled(message=name, cause="paused"),
        )
    )


def _turn(chance: random.Random, rows: MemoryRows, run_id: str) -> Event:
    name = f"t{chance.randint(1, 4)}"
    row = rows.get(TURNS, name)
    if row is None:
        session = chance.choice(("s1", "s2"))
        source = f"m{chance.randint(1, 3)}"
        return turn.TurnStarted(turn=name, message=source, run=run_id, session=session, epoch="e1")
    return chance.choice(
        (turn.TurnEnded(turn=name, stop_reason="completed"), turn.TurnLost(turn=name, cause="detached"))
    )


_MAKERS: tuple[Callable[[random.Random, MemoryRows, str], Event], ...] = (
    lambda chance, rows, run_id: queued(run_id, session=chance.choice(SESSIONS_TOLD))[1],
    lambda chance, rows, run_id: queued(run_id, session=chance.choice(SESSIONS_TOLD))[1],
    lambda chance, rows, run_id: run.RunEligible(cause="headless"),
    lambda chance, rows, run_id: run.RunParked(reason=chance.choice(("waiting", "worker_crashed", "paused"))),
    lambda chance, rows, run_id: run.RunPaused(by="cli"),
    lambda chance, rows, run_id: run.RunResumed(by="cli"),
    lambda chance, rows, run_id: run.RunStarted(worker=_owner(rows, run_id)),
    lambda chance, rows, run_id: run.RunStarted(worker=_owner(rows, run_id)),
    lambda chance, rows, run_id: chance.choice(
        (
            run.RunCancelled(by="cli"),
            run.RunCompleted(output=None),
            run.RunFailed(code="node_failed", phase="execute", message="m"),
        )
    ),
    lambda chance, rows, run_id: worker.WorkerReady(worker=_owner(rows, run_id)),
    lambda chance, rows, run_id: worker.WorkerExited(worker=_owner(rows, run_id), outcome="parked"),
    lambda chance, rows, run_id: effect.EffectApplied(effect=effect_id(chance.randint(1, 3))),
    lambda chance, rows, run_id: effect.EffectAmbiguous(effect=effect_id(chance.randint(1, 3)), cause="crash"),
    lambda chance, rows, run_id: effect.EffectReleased(effect=effect_id(chance.randint(1, 3)), cause="try"),
    lambda chance, rows, run_id: timer.TimerSet(kind=chance.choice(("wait", "run")), due=chance.randint(1, 99)),
    lambda chance, rows, run_id: timer.TimerFired(kind=chance.choice(("wait", "run"))),
    lambda chance, rows, run_id: SessionAttached(epoch=f"e{chance.randint(1, 3)}", agent="pi"),
    lambda chance, rows, run_id: SessionPersonSpoke(epoch=f"e{chance.randint(1, 3)}"),
    lambda chance, rows, run_id: DefinitionRecorded(workflow="w"),
    lambda chance, rows, run_id: CommandSettled(operation="o", fingerprint="f", outcome="accepted", run=run_id),
    lambda chance, rows, run_id: worker.ProcessRegistered(worker="w", process=PROCESS),
    lambda chance, rows, run_id: worker.ProcessEnded(worker="w", process=PROCESS),
    lambda chance, rows, run_id: HostStarted(epoch=f"h{chance.randint(1, 2)}", version="1", process=PROCESS),
    _node_started,
    _node_started,
    _node_finished,
    _node_finished,
    _claimed,
    _claimed,
    _launched,
    _applying,
    _reserved,
    _opened,
    _settled_request,
    _settled_request,
    _message,
    _turn,
    _turn,
)
