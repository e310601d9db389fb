"""Decisions: asked in one transaction, made by a person or by the policy of their deadline, refused on the record."""

from typing import Any

import pytest
from attrs import evolve

from runwright.engine.commands.client import (
    AnswerRequest,
    Caller,
    CancelRun,
    DecideRequest,
    PauseRun,
    ResumeRun,
    SubmitAnswer,
)
from runwright.engine.commands.host import FireTimer, ParkIdleRun
from runwright.engine.commands.worker import (
    AskPerson,
    ExitWorker,
    FinishNode,
    OpenRequest,
    ParkRun,
    StartNode,
    SubmitCandidate,
)
from runwright.engine.errors import ConflictError
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.request import RequestRefused
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.timers import TIMERS
from support.graphs import graph, node
from support.scripted_session import ScriptedSession
from support.stage import Stage, settled

OK = evolve(node("ok", "decision"), choices=("yes", "no"), deadline_us=60_000_000, audience="operator")
FLOW = graph(OK, node("end"))
WITH_POLICY = graph(evolve(OK, on_timeout="no"), node("end"))
MODEL = Caller(client="pi:s1", key="m", actor="client:pi:s1", person=False)
CHOICES = [{"name": "yes", "label": "Yes", "text": None}, {"name": "no", "label": "", "text": "Why not?"}]


def ask(**more: Any) -> AskPerson:
    """The question."""
    facts: dict[str, Any] = {"title": "Ship it?", "facts": {"size": 3}, "subject": {"plan": "A"}, "choices": CHOICES}
    return AskPerson(path="ok", visit=1, attempt=1, **{**facts, **more})


def asked(scene: Stage, definition: Any = FLOW, *, session: str | None = None, **more: Any) -> RequestRow:
    """A run that waits for a person."""
    scene.queue(definition, session=session)
    if session is not None:
        ScriptedSession(scene, session).settle()
    question = ask(**{"deadline": scene.clock.us + 60_000_000, **more})
    scene.applied(scene.claim(), StartNode(path="ok", visit=1, attempt=1), question, ExitWorker(outcome="parked"))
    return only(scene)


def only(scene: Stage) -> RequestRow:
    """The only request."""
    (row,) = scene.rows(REQUESTS)
    return row


def decide(request: RequestRow, choice: str = "yes", **more: Any) -> DecideRequest:
    """A choice."""
    return DecideRequest(request=request.request, choice=choice, **{"by": "Ada", **more})


def output(scene: Stage) -> Any:
    """What the decision's node ended with."""
    (finished,) = [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, NodeFinished)]
    assert finished.output is not None
    return finished.output.value


def refusals(scene: Stage) -> list[RequestRefused]:
    """What was refused on the record."""
    return [each.event for each in scene.log.read("run/run-1") if isinstance(each.event, RequestRefused)]


def test_it_is_asked_in_one_transaction(scene: Stage) -> None:
    """Request, deadline and park are one append, and the claim is given back."""
    row = asked(scene)
    assert scene.types()[-5:] == ["node.started", "request.opened", "timer.set", "run.parked", "worker.exited"]
    assert (row.kind, row.protected, row.session, row.deadline) == ("decision", True, None, scene.clock.us + 60_000_000)
    assert len(row.digest or "") == 64
    queue = scene.row(QUEUE, "run-1")
    assert (queue.state, queue.reason, queue.owner) == ("parked", "waiting", None)
    assert scene.rows(MESSAGES) == []


def test_in_a_session_its_message_is_part_of_that(scene: Stage) -> None:
    """It starts no turn and never holds what is decided on; the answer takes it back where it was not sent."""
    row = asked(scene, session="s1")
    (message,) = scene.rows(MESSAGES)
    assert (message.message, message.kind, message.starts_turn) == (f"decision:{row.request}:1", "decision", False)
    recorded = settled(scene.log.transact(lambda tx: tx.event(message.content)))
    assert recorded is not None
    assert "Ship it?" in (recorded.body or "")
    assert "plan" not in (recorded.body or "")
    assert isinstance(scene.ask(decide(row)), Applied)
    assert scene.row(MESSAGES, message.message).state == "cancelled"


def test_one_that_is_made_elsewhere_is_taken_back_from_whoever_keeps_it(scene: Stage) -> None:
    """Nothing takes its place, so that it is missing is believed at once."""
    row = asked(scene, session="s1")
    pi = ScriptedSession(scene)
    m = pi.take().message
    scene.ask(decide(row))
    current = pi.current
    assert current is not None
    assert (current.message, current.state, current.deliver) == (m, "cancelled", False)
    pi.report(m, idle=False)
    assert pi.current == current
    pi.report(m)
    assert pi.current is None


def test_a_person_decides_and_the_run_goes_on_by_itself(scene: Stage) -> None:
    """No child run; the output says what, by whom and when."""
    row = asked(scene)
    result = scene.ask(decide(row, "no", text="too soon", digest=row.digest))
    assert isinstance(result, Applied)
    assert result.value == "run-1"
    assert output(scene) == {
        "choice": "no",
        "text": "too soon",
        "by": "Ada",
        "at": "2023-11-14T22:13:20+00:00",
        "timed_out": False,
    }
    assert scene.row(QUEUE, "run-1").cause == "answer"
    assert scene.rows(TIMERS) == []
    assert only(scene).source == "person"
    scene.applied(
        scene.claim(),
        StartNode(path="end", visit=1, attempt=1),
        FinishNode(path="end", visit=1, attempt=1, outcome="completed", output=1),
    )


@pytest.mark.parametrize("how", ["decide", "answer", "submit"])
def test_a_model_is_refused_on_the_record(scene: Stage, how: str) -> None:
    """Whatever it calls its answer; the question stands as it was."""
    row = asked(scene, session="s1")
    epoch = scene.row(SESSIONS, "s1").epoch
    commands: dict[str, Any] = {
        "decide": decide(row),
        "answer": AnswerRequest(request=row.request, value="yes"),
        "submit": SubmitAnswer(request=row.request, value="yes", session="s1", epoch=epoch),
    }
    result = settled(scene.transitions.command(MODEL, commands[how]))
    assert isinstance(result, Conflict)
    assert result.code == "human_required"
    (refused,) = refusals(scene)
    assert (refused.actor, refused.code) == ("client:pi:s1", "human_required")
    assert refused.reason is not None
    assert "yes" in str(refused.reason.value)
    assert only(scene).state == "open"
    assert isinstance(scene.ask(decide(row)), Applied)


@pytest.mark.parametrize("end", ["person", "policy", "closed", "cancelled"])
def test_fifty_refusals_of_a_question_are_kept(scene: Stage, end: str) -> None:
    """Whoever gives them, before its end and after it; those beyond are refused and not written."""
    row = asked(scene, WITH_POLICY if end == "policy" else FLOW)
    for number in range(30):
        assert isinstance(settled(scene.transitions.command(evolve(MODEL, key=f"m{number}"), decide(row))), Conflict)
    match end:
        case "person":
            assert isinstance(scene.ask(decide(row)), Applied)
        case "cancelled":
            scene.ask(CancelRun(run_id="run-1"))
        case _:
            scene.host(FireTimer(run_id="run-1", kind="deadline"))
    late = [scene.ask(decide(row, "no", text="too late")) for _ in range(25)]
    assert {each.code for each in late if isinstance(each, Conflict)} == {"revision_changed"}
    assert len(refusals(scene)) == 50
    head = scene.log.head()
    assert isinstance(settled(scene.transitions.command(MODEL, decide(row))), Conflict)
    assert scene.log.head() == head


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"digest": "0" * 64}, "revision_changed", "is not what request"),
        ({"choice": "perhaps"}, "input_invalid", "is none of yes, no"),
        ({"text": "because"}, "input_invalid", "takes none"),
        ({"choice": "no", "text": "x" * 70_000}, "input_invalid", "more than"),
        ({"by": " "}, "input_invalid", "names nobody"),
    ],
)
def test_what_does_not_answer_the_question_is_refused_on_the_record(
    scene: Stage, wrong: dict[str, Any], code: str, said: str
) -> None:
    """A stale digest, a choice that there is not, a text that nobody asked for; the question stays open."""
    row = asked(scene)
    result = scene.ask(decide(row, **wrong))
    assert isinstance(result, Conflict)
    assert result.code == code
    assert said in ConflictError(result).message
    assert [each.code for each in refusals(scene)] == [code]
    assert only(scene).state == "open"


def test_a_digest_binds_what_was_shown(scene: Stage) -> None:
    """C53: another subject, text, choice or deadline is another question, and the first answer is none to it."""
    scene.queue(evolve(graph(OK, node("end")), then={"ok": "ok"}))
    others: list[dict[str, Any]] = [{}, {"subject": {"plan": "B"}}, {"title": "Ship?"}, {"facts": {}}, {"deadline": 9}]
    digests: list[str | None] = []
    first: RequestRow | None = None
    for visit, other in enumerate((*others, {"choices": CHOICES[::-1]}, {}), start=1):
        question = evolve(ask(**{"deadline": 1, **other}), visit=visit)
        scene.applied(scene.claim(), StartNode(path="ok", visit=visit, attempt=1), question)
        (row,) = scene.rows(REQUESTS, state="open")
        digests.append(row.digest)
        first = row if first is None else first
        if row != first and row.digest != first.digest:
            stale = scene.ask(decide(row, digest=first.digest))
            assert isinstance(stale, Conflict)
            old = scene.ask(decide(first, "no"))
            assert isinstance(old, Conflict)
        assert isinstance(scene.ask(decide(row, digest=row.digest)), Applied)
    assert len(set(digests)) == len(digests) - 1
    assert digests[0] == digests[-1]


def test_an_equal_answer_is_adopted_and_another_one_comes_late(scene: Stage) -> None:
    """Under another key; a repeat under the same key hears its receipt."""
    row = asked(scene)
    first = scene.ask(decide(row), key="k")
    assert isinstance(first, Applied)
    assert isinstance(scene.ask(decide(row), key="k"), Adopted)
    assert isinstance(scene.ask(decide(row)), Adopted)
    late = scene.ask(decide(row, "no"))
    assert isinstance(late, Conflict)
    assert (late.code, late.evidence["source"]) == ("revision_changed", "person")
    assert "was answered already by a person" in ConflictError(late).message
    assert [each.code for each in refusals(scene)] == ["revision_changed"]


def test_the_policy_of_a_deadline_wins_and_says_so(scene: Stage) -> None:
    """C51: labelled as timed out, by the policy and by no person; a later answer is told, and kept on the record."""
    row = asked(scene, WITH_POLICY)
    scene.wait(60)
    assert isinstance(scene.host(FireTimer(run_id="run-1", kind="deadline")), Applied)
    decided = output(scene)
    assert (decided["choice"], decided["by"], decided["timed_out"]) == ("no", "policy", True)
    assert (only(scene).state, only(scene).source) == ("accepted", "policy")
    assert scene.row(QUEUE, "run-1").cause == "deadline"
    late = scene.ask(decide(row))
    assert isinstance(late, Conflict)
    assert late.evidence["source"] == "policy"
    assert "nobody answered in time" in ConflictError(late).message
    assert len(refusals(scene)) == 1


def test_a_deadline_without_a_policy_closes_the_question(scene: Stage) -> None:
    """The node ends as timed out, and the next worker routes it."""
    row = asked(scene)
    scene.host(FireTimer(run_id="run-1", kind="deadline"))
    assert (only(scene).state, only(scene).cause) == ("closed", "timed_out")
    assert scene.types()[-4:] == ["timer.fired", "request.closed", "node.finished", "run.eligible"]
    late = scene.ask(decide(row))
    assert isinstance(late, Conflict)
    assert "is closed (timed_out)" in ConflictError(late).message


def test_what_is_said_of_an_ended_run_is_not_kept(scene: Stage) -> None:
    """Its private values may be erased already, and nobody erases them twice; that somebody said something is kept."""
    row = asked(scene)
    scene.ask(CancelRun(run_id="run-1", reason="enough"))
    assert isinstance(scene.ask(decide(row, text="a secret")), Conflict)
    (refused,) = refusals(scene)
    assert (refused.code, refused.reason) == ("revision_changed", None)


def test_a_paused_run_refuses_and_its_deadline_runs_on(scene: Stage) -> None:
    """Nothing is written of the refusal; the policy's choice waits for the resume."""
    row = asked(scene, WITH_POLICY)
    scene.ask(PauseRun(run_id="run-1"))
    before = scene.log.head()
    refused = scene.ask(decide(row))
    assert isinstance(refused, Conflict)
    assert refused.code == "paused"
    assert scene.log.head() == before
    scene.host(FireTimer(run_id="run-1", kind="deadline"))
    assert only(scene).source == "policy"
    assert not scene.row(QUEUE, "run-1").eligible
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.row(QUEUE, "run-1").eligible


def test_a_run_that_ends_closes_it(scene: Stage) -> None:
    """Question, message and timer go with the run; whoever answers then is told so."""
    row = asked(scene, session="s1")
    scene.ask(CancelRun(run_id="run-1"))
    assert (only(scene).state, only(scene).cause) == ("closed", "cancelled")
    assert [each.state for each in scene.rows(MESSAGES)] == ["cancelled"]
    assert scene.rows(TIMERS) == []
    assert isinstance(scene.ask(decide(row)), Conflict)
    assert scene.row(RUNS, "run-1").status == "cancelled"


def test_the_deadline_outlives_a_run_that_nobody_can_drive(scene: Stage) -> None:
    """It falls due all the same; the run itself goes on by what it is parked for."""
    row = asked(scene, WITH_POLICY)
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    assert [each.kind for each in scene.rows(TIMERS)] == ["deadline"]
    scene.host(FireTimer(run_id="run-1", kind="deadline"))
    assert only(scene).source == "policy"
    assert not scene.row(QUEUE, "run-1").eligible
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.row(QUEUE, "run-1").eligible
    assert row.request == only(scene).request


def test_a_worker_that_comes_back_waits_as_before(scene: Stage) -> None:
    """The open question is the same one, whatever the worker would ask now."""
    row = asked(scene)
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    scene.ask(ResumeRun(run_id="run-1"))
    assert scene.applied(scene.claim(), ask(title="Other?"), ExitWorker(outcome="parked"))[0] == row.request
    assert scene.row(QUEUE, "run-1").reason == "waiting"
    assert [each.kind for each in scene.rows(TIMERS)] == ["deadline"]


def test_only_a_decision_is_decided(scene: Stage) -> None:
    """A checkpoint is answered."""
    scene.queue(graph(node("ask", "checkpoint")))
    opened = OpenRequest(path="ask", visit=1, attempt=1, kind="checkpoint", prompt="p", contract={})
    scene.applied(scene.claim(), StartNode(path="ask", visit=1, attempt=1), opened, ParkRun(reason="waiting"))
    refused = scene.ask(decide(only(scene)))
    assert isinstance(refused, Conflict)
    assert (refused.code, refused.evidence["rule"]) == ("protocol_rejected", "no_decision")
    assert "is of kind checkpoint and no decision" in ConflictError(refused).message
    unknown = scene.ask(DecideRequest(request="nowhere", choice="yes", by="Ada"))
    assert isinstance(unknown, Conflict)
    assert unknown.code == "not_found"


def test_no_worker_answers_in_a_persons_place(scene: Stage) -> None:
    """Neither by ending the node, before or after it asked, nor with a candidate of its own."""
    scene.queue(FLOW)
    scene.applied(scene.claim(), StartNode(path="ok", visit=1, attempt=1))
    done = FinishNode(path="ok", visit=1, attempt=1, outcome="completed", output={"choice": "yes"})
    (refused,) = scene.tell(scene.last, done)
    assert isinstance(refused, Conflict)
    assert refused.evidence["rule"] == "answered_elsewhere"
    scene.applied(scene.last, ask(), ExitWorker(outcome="parked"))
    scene.host(ParkIdleRun(run_id="run-1", reason="environment_missing"))
    scene.ask(ResumeRun(run_id="run-1"))
    worker = scene.claim()
    candidate = SubmitCandidate(request=only(scene).request, candidate="yes")
    for transition, rule in ((done, "answered_elsewhere"), (candidate, "takes_no_submission")):
        (refused,) = scene.tell(worker, transition)
        assert isinstance(refused, Conflict)
        assert refused.evidence["rule"] == rule
    assert only(scene).state == "open"
