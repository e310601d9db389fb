"""Law 4: every transition answers one of four types; never a bare boolean, never a raw database error."""

import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from attrs import fields

from runwright.engine import codes
from runwright.engine.commands import client, host, worker
from runwright.engine.commands.client import CancelRun, PauseRun, ResolveEffect, ResumeRun
from runwright.engine.commands.host import FireTimer, GiveUpWorker, ParkIdleRun, RecordExit, TimeOutRun
from runwright.engine.commands.worker import Authority, FinishNode, StartNode
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired
from runwright.eventstore.values import MAX_VALUE
from support.graphs import graph, node
from support.stage import PROCESS, Stage, queue_command

FLOW = graph(node("one"))
TYPED = (Applied, Adopted, Conflict, RecoveryRequired)
SAMPLES: dict[str, Any] = {
    "run_id": "nowhere", "path": "one", "visit": 1, "attempt": 1, "kind": "agent", "prompt": "p", "contract": None,
    "request": "r", "candidate": 1, "cause": "failed", "outcome": "failed", "application": 1, "key": "k", "update": 1,
    "reason": "paused", "code": "node_failed", "phase": "execute", "message": "m", "invocation": 1, "exit": None,
    "process": PROCESS, "text": "t", "title": "t", "facts": {}, "subject": None, "choices": [],
}  # fmt: skip


def sample(cls: type[Any]) -> Any:
    """An instance of a transition, of whatever kind."""
    return cls(**{each.name: SAMPLES[each.name] for each in fields(cls) if each.name in SAMPLES})


@pytest.mark.parametrize("cls", get_args(worker.WorkerTransition), ids=lambda each: each.__name__)
def test_every_worker_transition_is_answered_by_type(scene: Stage, cls: type[Any]) -> None:
    """For a run that is not there, and for one that is, at a state that it does not fit."""
    scene.queue(FLOW)
    worker_of_it = scene.claim()
    nobody = Authority(run_id="nowhere", owner="epoch:w", token="0", generation=1)
    for authority in (nobody, worker_of_it):
        results = scene.tell(authority, sample(cls))
        assert [isinstance(each, TYPED) for each in results] == [True]


def test_every_command_is_answered_by_type(scene: Stage) -> None:
    """Client and host commands that name nothing there is."""
    commands = [
        PauseRun(run_id="x"),
        ResumeRun(run_id="x"),
        CancelRun(run_id="x"),
        ResolveEffect(effect="x", resolution="done", reason="r"),
    ]
    for command in commands:
        result = scene.ask(command)  # type: ignore[arg-type]
        assert isinstance(result, Conflict)
        assert result.code == "not_found"
    for order in (
        TimeOutRun(run_id="x"),
        FireTimer(run_id="x", kind="run"),
        ParkIdleRun(run_id="x", reason="imported"),
        RecordExit(run_id="x", worker="w", outcome="crashed"),
        GiveUpWorker(run_id="x", worker="w"),
    ):
        assert isinstance(scene.host(order), Conflict)


def test_what_the_store_refuses_is_a_typed_answer(scene: Stage) -> None:
    """A key or an ID that no header can hold: refused, without a trace and without the store's own error."""
    before = scene.log.head()
    for command, key in ((queue_command(FLOW, "a/b"), "k"), (queue_command(FLOW, "run-1"), "a/b")):
        assert isinstance(scene.ask(command, key=key), Conflict)
    assert scene.log.head() == before


def test_what_is_too_large_to_store_is_a_typed_answer(scene: Stage) -> None:
    """An output over the limit is refused as a conflict with its size; what stood before it is committed."""
    scene.queue(FLOW)
    claimed = scene.claim()
    path = next(iter(FLOW.nodes))
    began, refused = scene.tell(
        claimed,
        StartNode(path=path, visit=1, attempt=1),
        FinishNode(path=path, visit=1, attempt=1, outcome="completed", output="x" * (MAX_VALUE + 1)),
    )
    assert isinstance(began, Applied)
    assert isinstance(refused, Conflict)
    assert refused.code == "payload_too_large"
    assert scene.types()[-1] == "node.started"


def test_every_code_that_decisions_answer_is_in_the_closed_list() -> None:
    """The codes in the source are those of the list, and so is each that a command can carry."""
    known = codes.RUN_CODES | codes.COMMAND_CODES
    used: set[str] = set()
    engine = Path(codes.__file__).parent
    for file in [*engine.glob("decisions/*.py"), *engine.glob("transitions/*.py")]:
        used |= set(re.findall(r"(?:Conflict|RecoveryRequired)\(\s*\"([a-z_]+)\"", file.read_text("utf-8")))
    assert len(used) > 10
    assert used <= known


def test_commands_carry_no_sql_and_no_guess() -> None:
    """No transition takes a boolean."""
    for module in (client, host, worker):
        for name, cls in vars(module).items():
            if isinstance(cls, type) and cls.__module__ == module.__name__ and name not in ("Caller", "Timer"):
                hints = get_type_hints(cls)
                assert bool not in hints.values(), name
