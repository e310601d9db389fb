"""What people are told about an end: owed by the committed end, built once, bounded, and told to its own session."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from runwright.engine.commands.client import CancelRun
from runwright.engine.commands.host import (
    FailPresentation,
    GiveUpWorker,
    HostCommand,
    PresentRun,
    RecordExit,
    TimeOutRun,
)
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.run import RunFailed
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.turns import TURNS
from support.ended_runs import FLOW, content, ended, failed_launch
from support.scripted_session import ScriptedSession, owned
from support.stage import Stage, settled

ENDS = ("completed", "failed", "timed_out", "cancelled")


def test_a_failed_launch_frees_everything_and_owes_one_message(scene: Stage) -> None:
    """S19: failed and safe error, reservation, input, then the message: exactly these facts and this text."""
    failed_launch(scene)
    assert scene.rows(RESERVATIONS) == []
    assert scene.row(RUNS, "run-1").input_erased
    assert scene.rows(MESSAGES) == []
    result = scene.host(PresentRun(run_id="run-1"))
    assert isinstance(result, Applied)
    assert result.value == "prepared"
    facts, text = content(scene, "launch_failure:run-1")
    assert facts == {
        "schema": "runwright.launch-failure.v1",
        "messageId": "launch_failure:run-1",
        "runId": "run-1",
        "workflow": "flow",
        "state": "failed",
        "code": "source_changed",
        "message": "The file flow.py has changed.",
    }
    assert text == (
        "Workflow flow failed to start (run run-1): The file flow.py has changed. "
        "Correct the cause, then call start again."
    )
    row = scene.row(MESSAGES, "launch_failure:run-1")
    assert (row.session, row.starts_turn, row.kind) == ("s1", True, "launch_failure")


RECOVERIES = {
    "vanished": ("crashed", "failed", "activation_failed"),
    "put back twice": ("orphaned", "failed", "activation_failed"),
    "unkillable": (None, "failed", "worker_unkillable"),
    "limit": (None, "timed_out", "run_timed_out"),
}


@pytest.mark.parametrize("way", RECOVERIES)
def test_a_launch_that_recovery_fails_is_told_its_own_session(scene: Stage, way: str) -> None:
    """S09: whoever holds the store by then, and whoever is attached: the session that asked hears of it, once."""
    outcome, status, code = RECOVERIES[way]
    pi = ScriptedSession(scene)
    scene.queue(FLOW, "run-1", {"canary": "c4n4ry"}, session="s1")
    pi.settle()
    pi.detach()
    later = scene.succeed("second")
    other = ScriptedSession(later, "s2")
    for _ in range(3 if way == "put back twice" else 1):
        worker = later.claim(ready=False).worker
        match outcome:
            case "crashed" | "orphaned":
                later.host(RecordExit(run_id="run-1", worker=worker, outcome=outcome))
            case _ if way == "limit":
                later.host(TimeOutRun(run_id="run-1"))
            case _:
                later.host(GiveUpWorker(run_id="run-1", worker=worker))
    run = later.row(RUNS, "run-1")
    assert (run.status, run.code, run.input_erased, later.rows(RESERVATIONS)) == (status, code, True, [])
    later.host(PresentRun(run_id="run-1"))
    facts, text = content(later, "launch_failure:run-1")
    assert (facts["state"], facts["code"]) == ("failed", code)
    assert "c4n4ry" not in f"{facts}{text}"
    other.settle()
    assert other.current is None
    assert ScriptedSession(later, "s1").receive().message == "launch_failure:run-1"


def test_the_message_is_built_once_whoever_asks_and_how_often(scene: Stage) -> None:
    """S46: repeats and racing reconcilers adopt; a second holder finds nothing to do."""
    failed_launch(scene)
    answers = [scene.transitions.host(PresentRun(run_id="run-1")) for _ in range(8)]
    kinds = [type(settled(each)).__name__ for each in answers]
    assert kinds.count("Applied") == 1
    assert kinds.count("Adopted") == 7
    assert isinstance(scene.succeed("second").host(PresentRun(run_id="run-1")), Adopted)
    assert [each.message for each in scene.rows(MESSAGES)] == ["launch_failure:run-1"]


def test_reconcilers_in_threads_build_one_message(scene: Stage) -> None:
    """Two holders' worth of threads at once."""
    ended(scene, "completed")
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: scene.host(PresentRun(run_id="run-1")), range(16)))
    assert sum(isinstance(each, Applied) for each in results) == 1
    assert [each.message for each in scene.rows(MESSAGES)] == ["terminal:run-1"]


@pytest.mark.parametrize("end", ENDS)
def test_every_end_of_a_started_run_owes_a_terminal_message(scene: Stage, end: str) -> None:
    """With the result or the error, quoted as data; without instructions it wakes nobody."""
    ended(scene, end)
    scene.host(PresentRun(run_id="run-1"))
    facts, text = content(scene, "terminal:run-1")
    assert (facts["schema"], facts["outcome"], facts["runId"]) == ("runwright.terminal.v1", end, "run-1")
    assert facts["result"] == ({"value": 1} if end == "completed" else None)
    assert facts["error"] == {"failed": {"value": "why"}, "cancelled": {"value": "not needed"}}.get(end)
    assert "run-1" in text
    assert not scene.row(MESSAGES, "terminal:run-1").starts_turn
    assert scene.row(TERMINAL, "run-1").presentation == "prepared"


def test_instructions_wake_the_session_once(scene: Stage) -> None:
    """They stand in the message, and in the log where their reader finds them."""
    ended(scene, "completed")
    scene.host(PresentRun(run_id="run-1", instructions="Tell the user."))
    facts, text = content(scene, "terminal:run-1")
    assert facts["instructions"] == "Tell the user."
    assert text.endswith("Tell the user.")
    assert scene.row(MESSAGES, "terminal:run-1").starts_turn


def test_cancelled_launches_are_silent(scene: Stage) -> None:
    """S26: while queued and while starting; no message is due, and none is built."""
    pi = ScriptedSession(scene)
    scene.queue(FLOW, "run-1", session="s1")
    scene.ask(CancelRun(run_id="run-1"))
    scene.queue(FLOW, "run-2", session="s1")
    pi.settle()
    scene.claim("run-2", ready=False)
    scene.ask(CancelRun(run_id="run-2"))
    for run_id in ("run-1", "run-2"):
        result = scene.host(PresentRun(run_id=run_id))
        assert isinstance(result, Adopted)
        assert result.value == "none"
    assert scene.rows(MESSAGES) == []
    scene.queue(FLOW, "run-3", session="s1")


def test_a_live_run_and_one_without_a_session_owe_nothing(scene: Stage) -> None:
    """There is nothing to tell, or nobody to tell it."""
    scene.queue(FLOW)
    live = scene.host(PresentRun(run_id="run-1"))
    assert isinstance(live, Conflict)
    assert live.code == "still_live"
    scene.ask(CancelRun(run_id="run-1"))
    assert isinstance(scene.host(PresentRun(run_id="run-1")), Adopted)
    assert scene.rows(MESSAGES) == []


def test_a_failure_is_recorded_and_the_next_try_succeeds(scene: Stage) -> None:
    """It changes nothing else; tries are counted."""
    ended(scene, "completed")
    for number in (1, 2):
        result = scene.host(FailPresentation(run_id="run-1", code="function_failed", reason="It raised.\nTwice."))
        assert isinstance(result, Applied)
        row = scene.row(TERMINAL, "run-1")
        assert (row.presentation, row.attempts, row.outcome) == ("failed", number, "completed")
    scene.host(PresentRun(run_id="run-1"))
    row = scene.row(TERMINAL, "run-1")
    assert (row.presentation, row.attempts) == ("prepared", 3)
    assert isinstance(scene.host(FailPresentation(run_id="run-1", code="x", reason="y")), Adopted)


def test_a_value_of_another_type_fails_the_presentation_only(scene: Stage) -> None:
    """The reader's fault, in its words; the run's end stands, and its session is free."""
    ScriptedSession(scene).settle()
    scene.queue(FLOW, session="s1")
    ScriptedSession(scene).settle()
    scene.claim()
    wrong = RunFailed(
        code="node_failed", phase="execute", message="m", message_due="terminal", error=Content.json({"a": 1})
    )
    settled(scene.log.transact(lambda tx: tx.append("run/run-1", tx.version("run/run-1"), [wrong], actor="operator")))
    result = scene.host(PresentRun(run_id="run-1"))
    assert isinstance(result, Applied)
    assert result.value == "failed"
    row = scene.row(TERMINAL, "run-1")
    assert (row.presentation, row.outcome) == ("failed", "failed")
    assert scene.rows(MESSAGES) == []
    scene.queue(FLOW, "run-2", session="s1")


@pytest.mark.parametrize(
    "command",
    [PresentRun(run_id="run-1"), FailPresentation(run_id="run-1", code="environment_missing", reason="It is gone.")],
)
def test_a_redacted_run_is_not_told_of(scene: Stage, command: HostCommand) -> None:
    """What was erased is not waited for, whatever else stands in the way."""
    ended(scene, "completed", value="secret")
    positions = [each.position for each in scene.log.read("run/run-1") if each.body]
    settled(scene.log.transact(lambda tx: tx.erase(positions)))
    result = scene.host(command)
    assert isinstance(result, Applied)
    assert result.value == "abandoned"
    assert isinstance(scene.host(PresentRun(run_id="run-1")), Adopted)
    assert scene.rows(MESSAGES) == []


def test_long_values_are_cut_and_say_so(scene: Stage) -> None:
    """A message stays small enough to be handed out; the whole is a command away."""
    ended(scene, "completed", value="x" * 100_000)
    scene.host(PresentRun(run_id="run-1", instructions="y" * 100_000))
    facts, text = content(scene, "terminal:run-1")
    assert facts["result"]["bytes"] == 100_000
    assert len(facts["result"]["cut"].encode()) <= 32 * 1_024
    assert len(text.encode()) < 128 * 1_024


# --- reaching the session -----------------------------------------------------------------------------------------


def test_the_message_causes_exactly_one_turn(scene: Stage) -> None:
    """S19, S58: never into a running one; owned by no run; ordinary turns after it are nobody's."""
    pi = failed_launch(scene)
    scene.host(PresentRun(run_id="run-1"))
    message = "launch_failure:run-1"
    pi.report(message, idle=False)
    assert isinstance(pi.deliver(message), Conflict)
    pi.receive(message)
    assert owned(pi.begin(message)) == "active"
    row = scene.row(TURNS, pi.turns[-1])
    assert row.run_id is None
    assert owned(pi.end(message)) == "settled"
    for _ in range(3):
        assert owned(pi.begin(message)) == "absent"
        pi.settle()
    assert len(scene.rows(TURNS)) == 1
    assert pi.current is None


@pytest.mark.parametrize("appended", [False, True], ids=["before", "after"])
def test_a_crash_around_the_append_shows_it_once(scene: Stage, appended: bool) -> None:
    """S20: before it nothing is lost, after it nothing is doubled."""
    pi = failed_launch(scene)
    scene.host(PresentRun(run_id="run-1"))
    message = pi.take().message
    branch = [message] if appended else []
    for _ in range(3):
        pi = ScriptedSession(scene, "s1", branch=branch)
        pi.report(message)
        if pi.current is not None:
            pi.receive(message)
    assert branch == [message]
    assert scene.row(MESSAGES, message).state == "sent"
    assert scene.row(MESSAGES, message).deliveries == (1 if appended else 2)


def test_it_is_handed_out_twice_at_most(scene: Stage) -> None:
    """However often it is lost; it holds nobody up."""
    failed_launch(scene)
    scene.host(PresentRun(run_id="run-1"))
    for _ in range(2):
        ScriptedSession(scene).take()
    last = ScriptedSession(scene)
    last.report("launch_failure:run-1")
    assert last.current is None
    assert isinstance(last.deliver("launch_failure:run-1"), Conflict)


def test_it_goes_to_its_own_session(scene: Stage) -> None:
    """C31: another session gets nothing; its own gets one when it comes back."""
    failed_launch(scene).detach()
    scene.host(PresentRun(run_id="run-1"))
    other = ScriptedSession(scene, "s2")
    other.settle()
    assert other.current is None
    back = ScriptedSession(scene, "s1")
    assert back.receive().message == "launch_failure:run-1"
