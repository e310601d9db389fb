"""Candidates of a session's agent: recorded, judged, and bounded; what has no word in it changes nothing."""

from typing import Any

import pytest

from runwright.engine.commands.client import Caller, CancelRun, PauseRun, ResumeRun, SubmitAnswer, UpdateRequest
from runwright.engine.commands.host import FireTimer, JudgeSubmission
from runwright.engine.commands.worker import AskSession, StartNode
from runwright.engine.errors import ConflictError
from runwright.engine.progress import BURST, MOST_NAMES
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.eventstore.events.node import NodeFinished, NodeUpdated
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.timers import TIMERS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, settled

FLOW = graph(node("ask", "agent"), node("end"))


@pytest.fixture
def pi(scene: Stage) -> ScriptedSession:
    """A session that works on its run's step, with a limit on its time."""
    session = ScriptedSession(scene)
    scene.queue(FLOW, session="s1")
    session.settle()
    ask = AskSession(path="ask", visit=1, attempt=1, kind="agent", prompt="Do it", contract={}, limit=60_000_000)
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), ask)
    session.begin(session.receive().message)
    return session


def request(scene: Stage) -> RequestRow:
    """The only request."""
    (row,) = scene.rows(REQUESTS)
    return row


def model(key: str) -> Caller:
    """The session's model."""
    return Caller(client="pi:s1", key=key, actor="client:pi:s1", person=False)


def submit(
    scene: Stage, pi: ScriptedSession, value: Any = "done", *, key: str = "k", session: str | None = "s1", **more: Any
) -> Result[Any]:
    """Hand in a candidate as the session's model."""
    command = SubmitAnswer(request=request(scene).request, value=value, session=session, epoch=pi.epoch)
    return settled(scene.transitions.command(more.get("caller", model(key)), command))


def judge(scene: Stage, refusal: str | None = None, code: str | None = None, output: Any = "done") -> Any:
    """Settle the candidate that is being checked."""
    row = request(scene)
    assert row.submission is not None
    command = JudgeSubmission(
        run_id="run-1", request=row.request, submission=row.submission, output=output, refusal=refusal, code=code
    )
    return scene.host(command)


def test_an_accepted_candidate_finishes_the_node(scene: Stage, pi: ScriptedSession) -> None:
    """Recorded first; the verdict, the node's end and eligibility are one append, and nothing of the step is left."""
    pi.end(scene.rows(MESSAGES)[0].message, "completed")
    assert [each.state for each in scene.rows(MESSAGES)] == ["sent", "pending"]
    assert isinstance(submit(scene, pi), Applied)
    assert (request(scene).state, scene.types()[-1]) == ("validating", "request.submitted")
    verdict = judge(scene, output={"full": True})
    assert verdict.value == "accepted"
    assert scene.types()[-5:] == [
        "request.accepted", "message.cancelled", "timer.cleared", "node.finished", "run.eligible",
    ]  # fmt: skip
    (finished,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeFinished)]
    assert finished.output is not None
    assert finished.output.value == {"full": True}
    assert scene.row(SESSIONS, "s1").wake_ups == 0
    assert scene.rows(TIMERS) == []
    assert request(scene).source == "agent"


def test_a_refused_candidate_opens_the_request_again(scene: Stage, pi: ScriptedSession) -> None:
    """While the turn goes on, nothing else wakes the session."""
    submit(scene, pi)
    assert judge(scene, "at $.a: is no text", "output_invalid").value == "rejected"
    row = request(scene)
    assert (row.state, row.refused, row.crashed, row.messages) == ("open", 1, 0, 1)
    assert isinstance(submit(scene, pi, "better", key="k2"), Applied)


def test_a_candidate_refused_after_its_turn_was_over_reminds_the_session(scene: Stage, pi: ScriptedSession) -> None:
    """Its turn was productive as long as the candidate was being checked."""
    submit(scene, pi)
    pi.end(scene.rows(MESSAGES)[0].message, "completed")
    assert request(scene).messages == 1
    judge(scene, "no", "validation_failed")
    row = request(scene)
    assert (row.state, row.messages, row.unproductive) == ("open", 2, 1)


@pytest.mark.parametrize(("code", "most"), [("output_invalid", 5), ("validation_failed", 5), ("worker_crashed", 2)])
def test_refusals_are_bounded(scene: Stage, pi: ScriptedSession, code: str, most: int) -> None:
    """The last one fails the attempt, and closes all that the session has of it."""
    for number in range(most):
        submit(scene, pi, number, key=f"k{number}")
        verdict = judge(scene, "no", code)
        assert verdict.value == ("failed" if number == most - 1 else "rejected")
    (finished,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeFinished)]
    assert (finished.outcome, finished.code) == ("failed", "validation_failed")
    assert (request(scene).state, request(scene).cause) == ("closed", "failed")
    assert scene.rows(TIMERS) == []
    assert scene.row(QUEUE, "run-1").eligible


def test_a_workflow_that_is_not_there_counts_for_nothing(scene: Stage, pi: ScriptedSession) -> None:
    """The candidate could not be checked, and may well be right."""
    for number in range(6):
        submit(scene, pi, number, key=f"k{number}")
        assert judge(scene, "not there", "environment_missing").value == "rejected"
    assert (request(scene).refused, request(scene).crashed) == (0, 0)


def test_a_repeat_adopts_and_another_one_has_to_wait(scene: Stage, pi: ScriptedSession) -> None:
    """The same key is the same candidate, also from a coordinator that attached anew; one is checked at a time."""
    submit(scene, pi)
    assert isinstance(submit(scene, pi), Adopted)
    pi.attach()
    assert isinstance(submit(scene, pi), Adopted)
    busy = submit(scene, pi, "other", key="k2")
    assert isinstance(busy, Conflict)
    assert "is being checked" in ConflictError(busy).message
    reused = submit(scene, pi, "other")
    assert isinstance(reused, Conflict)
    assert reused.code == "key_reused"
    judge(scene)
    assert isinstance(submit(scene, pi, key="k3"), Adopted)
    late = submit(scene, pi, "other", key="k4")
    assert isinstance(late, Conflict)
    assert late.evidence["state"] == "accepted"


def test_who_has_no_word_changes_nothing(scene: Stage, pi: ScriptedSession) -> None:
    """Another session, a coordinator that was fenced, a model that speaks for no session: each is told which."""
    present = ScriptedSession(scene, "s1")
    foreign = ScriptedSession(scene, "s2")
    before = scene.log.head()
    cases = [
        (submit(scene, pi), "claim_lost", "attached to session"),
        (submit(scene, present, session="s2"), "claim_lost", "attached to session"),
        (submit(scene, present, session=None), "human_required", "Only a person"),
        (submit(scene, foreign, session="s2"), "protocol_rejected", "is not put to session s2"),
    ]
    assert scene.log.head() == before
    for refused, code, said in cases:
        assert isinstance(refused, Conflict)
        assert refused.code == code
        assert said in ConflictError(refused).message


def test_a_paused_and_an_ended_run_take_none(scene: Stage, pi: ScriptedSession) -> None:
    """Both say so, and nothing is written."""
    scene.ask(PauseRun(run_id="run-1"))
    before = scene.log.head()
    paused = submit(scene, pi)
    assert isinstance(paused, Conflict)
    assert paused.code == "paused"
    assert scene.log.head() == before
    scene.ask(CancelRun(run_id="run-1"))
    ended = submit(scene, pi)
    assert isinstance(ended, Conflict)
    assert ended.code == "already_terminal"


def test_a_verdict_under_a_pause_waits_for_the_resume(scene: Stage, pi: ScriptedSession) -> None:
    """The candidate came in before it; the node finishes, and the run goes on when it may."""
    submit(scene, pi)
    scene.ask(PauseRun(run_id="run-1"))
    assert judge(scene).value == "accepted"
    assert not scene.row(QUEUE, "run-1").eligible
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.row(QUEUE, "run-1").eligible


@pytest.mark.parametrize("end", ["deadline", "cancel"])
def test_an_end_overtakes_the_check(scene: Stage, pi: ScriptedSession, end: str) -> None:
    """The verdict comes too late, and changes nothing."""
    submit(scene, pi)
    if end == "deadline":
        scene.host(FireTimer(run_id="run-1", kind="deadline"))
    else:
        scene.ask(CancelRun(run_id="run-1"))
    before, run = scene.log.head(), scene.row(RUNS, "run-1")
    late = judge(scene)
    assert isinstance(late, Conflict)
    assert (late.code, late.evidence["state"]) == ("revision_changed", "closed")
    assert (scene.log.head(), scene.row(RUNS, "run-1")) == (before, run)


def test_progress_of_the_attempt(scene: Stage, pi: ScriptedSession) -> None:
    """From its session alone; also while a candidate is being checked, and not after."""
    submit(scene, pi)
    assert isinstance(progress(scene, pi, "u1"), Applied)
    assert isinstance(progress(scene, pi, "u2", session="s2"), Conflict)
    judge(scene)
    assert isinstance(progress(scene, pi, "u3"), Conflict)
    (updated,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeUpdated)]
    assert (updated.path, updated.key) == ("ask", "files")


def test_progress_is_bounded_in_rate(scene: Stage, pi: ScriptedSession) -> None:
    """A hundred at once, then twenty a second; only what is written counts, and what is refused leaves no receipt."""
    for number in range(BURST):
        assert isinstance(progress(scene, pi, f"u{number}"), Applied)
        assert isinstance(progress(scene, pi, f"u{number}"), Adopted)
        assert isinstance(progress(scene, pi, "foreign", session="s2"), Conflict)
    for _ in range(3):
        refused = progress(scene, pi, "late")
        assert isinstance(refused, Conflict)
        assert (refused.code, refused.evidence["rule"]) == ("protocol_rejected", "too_many_updates")
    scene.wait(0.06)
    assert isinstance(progress(scene, pi, "late"), Applied)
    assert isinstance(progress(scene, pi, "later"), Conflict)
    scene.wait(60)
    assert [type(progress(scene, pi, f"v{number}")) for number in range(BURST + 1)] == [Applied] * BURST + [Conflict]
    assert scene.types().count("node.updated") == 2 * BURST + 1


def test_progress_is_bounded_in_names(scene: Stage, pi: ScriptedSession) -> None:
    """Under so many names of one run; each of them is heard for ever, and another run has names of its own."""
    for number in range(MOST_NAMES):
        scene.wait(0.06)
        assert isinstance(progress(scene, pi, f"u{number}", name=f"n{number}"), Applied)
    scene.wait(0.06)
    refused = progress(scene, pi, "more", name="more")
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence["rule"]) == ("protocol_rejected", "too_many_names")
    assert isinstance(progress(scene, pi, "old", name="n0"), Applied)


def progress(scene: Stage, pi: ScriptedSession, key: str, *, session: str = "s1", name: str = "files") -> Result[Any]:
    """Report progress as a session's model."""
    update = UpdateRequest(
        request=request(scene).request, name=name, update={"completed": 3}, session=session, epoch=pi.epoch
    )
    return settled(scene.transitions.command(model(key), update))


def test_a_person_may_play_the_agent(scene: Stage, pi: ScriptedSession) -> None:
    """The answer is a person's then."""
    submitted = submit(scene, pi, session=None, caller=scene.caller("p"))
    assert isinstance(submitted, Applied)
    judge(scene)
    assert request(scene).source == "person"
