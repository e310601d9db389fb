"""C12, C14, C41: of competing transitions one wins for good, and the others are told, by type, what stands."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.commands.client import CancelRun, PauseRun
from runwright.engine.commands.host import ClaimRun, RecordExit, TimeOutRun
from runwright.engine.commands.worker import CompleteRun, FinishNode, StartNode
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from support.graphs import graph, node
from support.stage import PROCESS, Stage, settled, stage

FLOW = graph(node("only"))
Ask = Callable[[], "Future[Any]"]
DONE = (FinishNode(path="only", visit=1, attempt=1, outcome="completed", output=1), CompleteRun())


@pytest.fixture
def scene(home: Path) -> Iterator[Stage]:
    """A stage over a new log."""
    with stage(home) as each:
        yield each


def ask_all(chance: random.Random, asked: list[Ask]) -> list[Any]:
    """Ask in any order, now at once and now one after another; the answers stand in the order of the questions."""
    order = list(range(len(asked)))
    chance.shuffle(order)
    futures: dict[int, Future[Any]] = {}
    for each in order:
        futures[each] = asked[each]()
        if chance.random() < 0.5:
            futures[each].result(30)
    return [settled(futures[each]) for each in range(len(asked))]


def test_c12_a_sweep_never_takes_a_finished_run_back(scene: Stage) -> None:
    """C12: the word that the worker is gone comes before, with and after its own last word: done stays done."""
    chance = random.Random(12)
    ends: Counter[str] = Counter()
    for number in range(50):
        run_id = scene.queue(FLOW, f"run-{number}")
        worker = scene.claim(run_id)
        scene.applied(worker, StartNode(path="only", visit=1, attempt=1))
        sweep = RecordExit(run_id=run_id, worker=worker.worker, outcome="timed_out")
        transitions = scene.transitions
        asked: list[Ask] = [lambda: transitions.worker(worker, DONE), lambda: transitions.host(sweep)]  # noqa: B023
        ask_all(chance, asked)
        status, state = scene.row(RUNS, run_id).status, scene.row(QUEUE, run_id).state
        ends[status] += 1
        before = scene.revision(run_id)
        scene.host(sweep)
        assert (scene.row(RUNS, run_id).status, scene.row(QUEUE, run_id).state) == (status, state)
        assert scene.revision(run_id) == before
        assert (status, state) in (("completed", "done"), ("running", "parked"))
    assert set(ends) == {"completed", "running"}


def test_c14_eight_claims_at_once_have_one_winner(scene: Stage) -> None:
    """C14: each of many runs is claimed by exactly one token, and the losers hear so by type."""
    for number in range(40):
        scene.queue(FLOW, f"run-{number}")
    asked = [
        (
            number,
            scene.transitions.host(ClaimRun(run_id=f"run-{number}", owner=owner, token_hash=token, process=PROCESS)),
        )
        for number in range(40)
        for owner, token in ((f"epoch:w{number}-{each}", f"{number}-{each}".ljust(64, "0")) for each in range(8))
    ]
    answers = [(number, settled(answer)) for number, answer in asked]
    for number in range(40):
        of_run = [answer for each, answer in answers if each == number]
        assert sum(isinstance(answer, Applied) for answer in of_run) == 1
        lost = [answer for answer in of_run if not isinstance(answer, Applied)]
        assert all(isinstance(answer, Conflict) and answer.code == "claim_lost" for answer in lost)
        assert scene.types(f"run-{number}").count("run.claimed") == 1


def test_c41_an_end_has_one_cause(scene: Stage) -> None:
    """C41: completion, cancel and the run's limit: applied exactly for the end that stands, else told how it ended."""
    chance = random.Random(41)
    ends: Counter[str] = Counter()
    for number in range(60):
        run_id = scene.queue(FLOW, f"run-{number}", timeout=60_000_000)
        worker = scene.claim(run_id)
        scene.applied(worker, StartNode(path="only", visit=1, attempt=1))
        caller, transitions = scene.caller(), scene.transitions
        asked: list[Ask] = [
            lambda: transitions.worker(worker, DONE),  # noqa: B023 - asked in this round
            lambda: transitions.command(caller, CancelRun(run_id=run_id)),  # noqa: B023 - asked in this round
            lambda: transitions.host(TimeOutRun(run_id=run_id)),  # noqa: B023 - asked in this round
        ]
        answers = dict(zip(("completed", "cancelled", "timed_out"), ask_all(chance, asked), strict=True))
        outcome = scene.row(TERMINAL, run_id).outcome
        ends[outcome] += 1
        for name, answer in answers.items():
            last = answer[-1] if isinstance(answer, list) else answer
            assert isinstance(last, Applied) == (name == outcome), (name, outcome, last)
            if not isinstance(last, Applied):
                assert isinstance(last, Conflict)
                assert last.code in ("already_terminal", "claim_lost")
        assert scene.row(RUNS, run_id).status == outcome
    assert set(ends) == {"completed", "cancelled", "timed_out"}


def test_c12_a_stale_revision_changes_nothing(scene: Stage) -> None:
    """C12: who decided on older facts is told so; who asks for what is so already is not."""
    run_id = scene.queue(FLOW)
    worker = scene.claim(run_id)
    stale = scene.revision(run_id)
    scene.applied(worker, StartNode(path="only", visit=1, attempt=1))
    head = scene.log.head()
    for command in (PauseRun(run_id=run_id, expected=stale), CancelRun(run_id=run_id, expected=stale)):
        answer = scene.ask(command)
        assert isinstance(answer, Conflict)
        assert answer.code == "revision_changed"
    assert scene.log.head() == head
    assert isinstance(scene.ask(CancelRun(run_id=run_id, expected=scene.revision(run_id))), Applied)
    assert isinstance(scene.ask(CancelRun(run_id=run_id, expected=stale)), Adopted)
