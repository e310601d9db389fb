"""How a run is shown: one status, what may be done, one document."""

from typing import Any

import pytest

from runwright.engine.errors import AgentMissing, PreflightError
from runwright.engine.host.errors import EnvironmentMissing
from runwright.eventstore.events.effect import EffectAmbiguous, EffectApplying, EffectReleased, EffectReserved
from runwright.eventstore.events.node import NodeFinished, NodeStarted
from runwright.eventstore.events.request import RequestClosed, RequestOpened, RequestSubmitted
from runwright.eventstore.events.run import (
    AgentBinding,
    RunCancelled,
    RunCompleted,
    RunContinued,
    RunEligible,
    RunFailed,
    RunParked,
    RunPaused,
    RunPauseRequested,
    RunQueued,
    RunResumed,
    RunTimedOut,
)
from runwright.eventstore.events.timer import TimerSet
from runwright.eventstore.events.worker import WorkerExited
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.runs import RUNS
from runwright.projections.errors import ImpossibleEvent, RunUnknown
from runwright.projections.rows import MemoryRows
from runwright.projections.views.run_list import RUN_LIST
from runwright.projections.views.status import controls, display_status, next_lines, standing, status_document
from runwright.projections.views.statuses import STATUSES
from support.listed import listed_standing
from support.told import Teller, Told, completed, effect_id, launched, queued, random_units, started

STREAM = "run/r1"
RESERVED = EffectReserved(
    effect=effect_id(1), effect_type="mail", path="a", visit=1, fingerprint="f", contract="manual"
)
AMBIGUOUS: list[Told] = [
    (STREAM, RESERVED),
    (STREAM, EffectApplying(effect=effect_id(1), application=1, generation=1)),
    (STREAM, EffectAmbiguous(effect=effect_id(1), cause="worker_crashed")),
]
OPEN: Told = (STREAM, NodeStarted(path="a", visit=1, attempt=1, kind="agent"))
ASKED: Told = (STREAM, RequestOpened(request="q1", kind="agent", path="a", visit=1, attempt=1, deadline=1))
GONE: Told = (STREAM, WorkerExited(worker="r1-w1", outcome="parked"))


def parked(reason: str) -> list[Told]:
    """A run that stopped."""
    return [*started(), (STREAM, RunParked(reason=reason, detail="why")), GONE]


def fold(told: list[Told]) -> tuple[MemoryRows, MemoryRows]:
    """Fold told events into control rows and into the list."""
    rows, listed, teller = MemoryRows(CONTROL), MemoryRows([RUN_LIST]), Teller()
    for each in told:
        recorded = teller.tell(*each)
        rows.apply(recorded)
        listed.apply(recorded)
    return rows, listed


PAUSED = (STREAM, RunPaused(by="cli"))
OUT_OF_TIME = (STREAM, RunTimedOut(code="c", phase="execute", message="m"))
DOUBTED: list[Told] = [*started(), *AMBIGUOUS, *parked("effect_ambiguous")[-2:]]
RESOLVED: list[Told] = [
    *DOUBTED,
    (STREAM, EffectReleased(effect=effect_id(1), cause="resolved")),
    (STREAM, RunEligible(cause="resolved")),
]
CASES: list[tuple[list[Told], bool, str, list[str]]] = [
    ([queued()], True, "queued", ["cancel"]),
    ([queued()], False, "queued", ["resume", "cancel"]),
    (started(), True, "running", ["pause", "cancel"]),
    (started(), False, "queued", ["resume", "pause", "cancel"]),
    ([*started(), (STREAM, RunPauseRequested(by="cli"))], True, "running", ["cancel"]),
    ([*started(), (STREAM, TimerSet(kind="deadline", due=9))], True, "running", ["pause", "cancel"]),
    (parked("worker_crashed"), True, "queued", ["pause", "cancel"]),
    (parked("worker_no_progress"), True, "queued", ["resume", "pause", "cancel"]),
    ([*started(), OPEN, ASKED, *parked("waiting")[-2:]], True, "waiting", ["answer", "pause", "cancel"]),
    ([*started(), OPEN, ASKED, *parked("waiting")[-2:], PAUSED], True, "paused", ["resume", "cancel"]),
    ([*parked("waiting"), (STREAM, TimerSet(kind="wait", due=9))], True, "waiting", ["pause", "cancel"]),
    ([*parked("waiting"), (STREAM, TimerSet(kind="wait", due=9))], False, "waiting", ["resume", "pause", "cancel"]),
    (DOUBTED, True, "ambiguous", ["resolve", "pause", "cancel"]),
    ([*DOUBTED, PAUSED], True, "ambiguous", ["resolve", "resume", "cancel"]),
    (RESOLVED, True, "queued", ["pause", "cancel"]),
    (RESOLVED, False, "queued", ["resume", "pause", "cancel"]),
    (completed(), True, "completed", ["restart"]),
    ([*started(), (STREAM, RunFailed(code="c", phase="execute", message="m"))], True, "failed", ["restart"]),
    ([*started(), *AMBIGUOUS, (STREAM, RunCancelled(by="cli"))], True, "cancelled", ["resolve", "restart"]),
    ([*parked("waiting"), (STREAM, RunContinued(child="r2", request="q"))], True, "continued", []),
    ([*parked("waiting"), OUT_OF_TIME], True, "timed_out", ["restart"]),
]  # fmt: skip


@pytest.mark.parametrize(("told", "held", "status", "allowed"), CASES)
def test_the_first_that_holds(told: list[Told], held: bool, status: str, allowed: list[str]) -> None:
    """Display status and controls by the page's order, from control rows and from a listed row alike."""
    rows, listed = fold(told)
    found = standing(rows, "r1", revision=1, position=rows.position)
    assert display_status(found, held=held) == status
    assert list(controls(found, held=held)) == allowed
    row = listed.get(RUN_LIST, "r1")
    assert row is not None
    assert display_status(listed_standing(row), held=held) == status
    assert list(controls(listed_standing(row), held=held)) == allowed
    assert listed_standing(row).reason == found.reason
    if told is RESOLVED:
        assert found.reason is None


def test_an_open_turn_of_a_connected_coordinator_is_running() -> None:
    """A turn at work shows as running while the run itself waits."""
    rows, _ = fold([*started(), OPEN, ASKED, *parked("waiting")[-2:]])
    found = standing(rows, "r1", revision=1, position=rows.position, turn_open=True)
    assert display_status(found, held=True) == "running"


def test_an_answered_request_asks_for_nothing() -> None:
    """A candidate that is checked still waits; a closed request does not."""
    asked = [*started(), OPEN, ASKED, *parked("waiting")[-2:]]
    checked: Told = (STREAM, RequestSubmitted(request="q1", submission="s", key="k"))
    closed: list[Told] = [
        (STREAM, RequestClosed(request="q1", cause="timed_out")),
        (STREAM, NodeFinished(path="a", visit=1, attempt=1, outcome="timed_out")),
        (STREAM, RunEligible(cause="deadline")),
    ]
    for told, status in (([*asked, checked], "waiting"), ([*asked, *closed], "queued")):
        rows, _ = fold(told)
        assert display_status(standing(rows, "r1", revision=1, position=1), held=True) == status


def test_the_document_has_one_shape() -> None:
    """Every key is there in every state; what is absent is null."""
    keys: set[tuple[str, ...]] = set()
    for told, held, status, _ in CASES:
        rows, _ = fold(told)
        document = status_document(standing(rows, "r1", revision=4, position=9), held=held)
        assert document["status"] == status
        assert status in STATUSES
        keys.add(tuple(document))
    assert len(keys) == 1
    (names,) = keys
    assert list(names) == [
        "run_id", "workflow", "status", "run_status", "queue_state", "reason", "node", "visit", "attempt", "steps",
        "session", "parent_run_id", "root_run_id", "restart_number", "continued_by", "created_at", "started_at",
        "finished_at", "error", "requests", "effects", "presentation", "controls", "next", "revision", "position",
    ]  # fmt: skip


def test_the_document_says_what_to_type() -> None:
    """A waiting run names its request, an ambiguous one its effect, a parked one its reason."""
    rows, _ = fold([*started(), OPEN, ASKED, *parked("waiting")[-2:]])
    document: Any = status_document(standing(rows, "r1", revision=4, position=9), held=True)
    assert document["next"] == ["runwright answer q1"]
    assert document["requests"][0]["kind"] == "agent"
    assert document["reason"]["code"] == "waiting"
    rows, _ = fold([*started(), *AMBIGUOUS, *parked("effect_ambiguous")[-2:]])
    document = status_document(standing(rows, "r1", revision=4, position=9), held=True)
    assert document["next"][0].startswith(f"runwright resolve {effect_id(1)} done")
    assert document["effects"] == {"ambiguous": 1}
    rows, _ = fold(parked("source_changed"))
    document = status_document(standing(rows, "r1", revision=4, position=9), held=True)
    assert document["next"] == ["runwright resume r1 --accept-source"]


@pytest.mark.parametrize(
    ("lack", "line"),
    [
        (EnvironmentMissing("r1", agents=("a", "b"), variables=("TOKEN",)), "--agent a=SPEC --agent b=SPEC"),
        (AgentMissing("review", "default"), "--agent default=SPEC"),
        (EnvironmentMissing("r1", variables=("TOKEN",)), ""),
    ],
)
def test_a_run_that_lacks_executors_asks_for_them_by_name(lack: PreflightError, line: str) -> None:
    """Whatever says that one is missing names it in the form that is read; a line without it would be refused."""
    park: Told = (STREAM, RunParked(reason="environment_missing", detail=lack.message))
    resume = f"runwright resume r1 {line}".strip()
    for asked, lines in (([], [resume]), ([OPEN, ASKED], [resume, "runwright answer q1"])):
        rows, _ = fold([*started(), *asked, park, GONE])
        document: Any = status_document(standing(rows, "r1", revision=4, position=9), held=True)
        assert document["next"] == lines


@pytest.mark.parametrize(
    ("held", "specs", "agents"),
    [
        (True, {}, ""),
        (False, {}, " --agent a=SPEC --agent b=SPEC"),
        (False, {"a": "a=cmd:sh -c 'x y'", "b": ""}, """ --agent 'a=cmd:sh -c '"'"'x y'"'"''"""),
        (True, {"a": "a=console", "me": "me=cmd:x"}, " --agent a=console --agent me=cmd:x"),
    ],
)
def test_a_line_names_the_executors_that_nobody_has_kept(held: bool, specs: dict[str, str], agents: str) -> None:
    """Whoever holds the store has them, a person at the terminal is there, and what is known is written as it is."""
    bound = tuple(
        AgentBinding(name=name, kind=kind)
        for name, kind in (("a", "CommandAgent"), ("b", "CallableAgent"), ("me", "ConsoleAgent"))
    )
    rows, _ = fold([*started(agents=bound), *parked("paused")[-2:]])
    found = standing(rows, "r1", revision=4, position=9)
    assert list(next_lines(found, ["resume"], held=held, specs=specs)) == [f"runwright resume r1{agents}"]


def test_what_its_session_says_has_no_line_to_type() -> None:
    """An answer from anywhere else is refused, so none is offered."""
    asked: Told = (STREAM, RequestOpened(request="q1", kind="assistant", path="a", visit=1, attempt=1, deadline=1))
    rows, _ = fold([*started(), OPEN, asked, *parked("waiting")[-2:]])
    found = standing(rows, "r1", revision=4, position=9)
    assert "answer" not in controls(found, held=True)
    assert status_document(found, held=True)["next"] == []


def test_an_unknown_run_is_named() -> None:
    """There is no status of nothing."""
    with pytest.raises(RunUnknown, match="r9"):
        standing(MemoryRows(CONTROL), "r9", revision=0, position=0)


def test_a_list_says_what_a_status_says() -> None:
    """For histories that chance makes up, listed and gathered facts show the same document."""
    compared = 0
    for seed in range(40):
        rows, listed, teller = MemoryRows(CONTROL), MemoryRows([RUN_LIST]), Teller()
        for unit in random_units(seed, 30):
            for each in unit:
                if rows.get(RUNS, each[0].removeprefix("run/")) is None and not isinstance(each[1], RunQueued):
                    continue  # nothing stands in a run's stream before the run
                recorded = teller.tell(*each)
                try:
                    rows.apply(recorded)
                except ImpossibleEvent:  # what is refused never reaches a log
                    teller.untell([recorded])
                    continue
                listed.apply(recorded)
        for row in listed.find(RUN_LIST):
            own = standing(rows, row.run_id, revision=row.revision, position=row.position)
            assert status_document(listed_standing(row), held=True) == status_document(own, held=True)
            compared += 1
    assert compared > 40


def test_resuming_clears_what_was_asked() -> None:
    """A resume of a run that was about to pause lets it go on."""
    told: list[Told] = [*started(), (STREAM, RunPauseRequested(by="cli")), (STREAM, RunResumed(by="cli"))]
    rows, _ = fold(told)
    assert "pause" in controls(standing(rows, "r1", revision=1, position=1), held=True)


def test_a_second_launch_runs_again() -> None:
    """A run that was parked and claimed anew shows as running, and no longer its reason."""
    told = [*parked("worker_crashed"), (STREAM, RunEligible(cause="progress")), *launched("r1", 2)]
    rows, _ = fold([*told, (STREAM, RunCompleted(output=None))])
    rows, _ = fold(told)
    document: Any = status_document(standing(rows, "r1", revision=1, position=1), held=True)
    assert (document["status"], document["reason"]) == ("running", None)
