"""What agents submit and people decide, asked of both engines: who may, what it changes, and how a run goes on."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright import AnswerRejected, Choice, ConflictError, Context, Json, JsonObject, NotFound, Question, Workflow
from runwright.engine.commands.session import TurnEnd
from runwright.engine.progress import A_SECOND, BURST
from support.engine_session import EngineSession, attached
from support.engines import KINDS, opened
from support.stage import TestClock

pytestmark = pytest.mark.parametrize("kind", KINDS)


@frozen
class Verdict:
    """What the agent says."""

    word: str


def refuse_shouting(_: Context[JsonObject], verdict: Verdict) -> None:
    """The node's own check."""
    if verdict.word.isupper():
        raise ValueError("say it more quietly")


def talk() -> Workflow[JsonObject]:
    """Asks a session twice, tells it something, and asks a person."""
    flow: Workflow[JsonObject] = Workflow("talk", input=JsonObject)

    @flow.notify
    def hello(ctx: Context[JsonObject]) -> str:
        return "I begin."

    @flow.agent(returns=Verdict, validate=refuse_shouting)
    def ask(ctx: Context[JsonObject]) -> str:
        return "Say a word."

    @flow.assistant(max_chars=5)
    def tell(ctx: Context[JsonObject]) -> str:
        return f"Tell the person about {ctx.output(ask).word}."

    @flow.decision(choices=["yes", Choice("no", label="No", text="Why not?")])
    def ship(ctx: Context[JsonObject]) -> Question:
        return Question("Ship it?", facts={"said": ctx.output(tell)}, subject={"word": ctx.output(ask).word})

    @flow.compute
    def end(ctx: Context[JsonObject]) -> list[Json]:
        decided = ctx.output(ship)
        return [ctx.output(tell), decided.choice, decided.text, decided.by, decided.timed_out, decided.at.year > 2000]

    flow.entry(hello)
    flow.then(hello, ask)
    flow.then(ask, tell)
    flow.then(tell, ship)
    flow.then(ship, end)
    return flow


async def begun(engine: Any, workflow: Workflow[JsonObject] | None = None) -> tuple[EngineSession, str, Any]:
    """A session with its run, which stands at its first question."""
    pi = await EngineSession(engine).attach()
    run_id = await engine.start(talk() if workflow is None else workflow, {}, session="s1")
    await pi.settle()
    await engine.wait(run_id, until="asked")
    (request,) = await engine.requests(run_id)
    return pi, run_id, request


async def next_step(pi: EngineSession) -> str:
    """Be handed messages until one asks for something."""
    while (message := await pi.receive()) is None or not message.startswith("step:"):
        assert (await pi.view()).current is not None
    return message


async def test_a_run_talks_to_its_session_and_to_a_person(kind: str, tmp_path: Path) -> None:
    """Notification, submission, visible answer, decision: each moves the run on, which was nobody's in between."""
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine)
        assert (request.kind, request.session, request.prompt) == ("agent", "s1", "Say a word.")
        message = await next_step(pi)
        assert [each.partition(":")[0] for each in pi.branch] == ["notification", "step"]
        await pi.turn("t1", message, run_id)
        answered = await engine.submit(request.request_id, {"word": "soft"}, session="s1", epoch=pi.epoch)
        assert (answered.run_id, answered.adopted) == (run_id, False)
        await pi.turn("t1", message, run_id, TurnEnd(stop_reason="completed", entry="e1", text="done"))
        await engine.wait(run_id, until="asked")
        message = await next_step(pi)
        await pi.turn("t2", message, run_id)
        await pi.turn("t2", message, run_id, TurnEnd(stop_reason="completed", entry="e2", text="It is soft."))
        await engine.wait(run_id, until="asked")
        (question,) = await engine.requests(run_id)
        assert (question.kind, question.choices, question.subject) == ("decision", ("yes", "no"), {"word": "soft"})
        assert question.presentation["facts"] == {"said": "It is"}
        await pi.settle()
        assert (await pi.receive() or "").startswith("decision:")
        decided = await engine.decide(question.request_id, "no", text="too soft", by="Ada", digest=question.digest)
        assert decided.run_id == run_id
        assert (await engine.wait(run_id)).output == ["It is", "no", "too soft", "Ada", False, True]


async def test_a_refused_candidate_says_what_to_correct(kind: str, tmp_path: Path) -> None:
    """By its type, or by the node's own check; the same key hears the same verdict, and the fifth ends the attempt."""
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine)
        wrong: list[tuple[Json, str, str]] = [
            ({"word": 7}, "output_invalid", r"\$\.word"),
            ({"word": "LOUD"}, "validation_failed", "more quietly"),
            ("word", "output_invalid", "expected"),
            ({}, "output_invalid", "word"),
            ({"word": "LOUD"}, "validation_failed", "more quietly"),
        ]
        for number, (value, code, said) in enumerate(wrong):
            for _ in range(2):
                with pytest.raises(AnswerRejected, match=said) as refused:
                    await engine.submit(request.request_id, value, session="s1", epoch=pi.epoch, key=f"k{number}")
                assert (refused.value.code, refused.value.left) == (code, 4 - number)
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.error.code) == ("failed", "validation_failed")
        with pytest.raises(ConflictError):
            await engine.submit(request.request_id, {"word": "soft"}, session="s1", epoch=pi.epoch)


async def test_who_may_answer_what(kind: str, tmp_path: Path) -> None:
    """A session its own request, a person in its place as well; nobody else, and nothing that is not there."""
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine)
        other = await attached(engine, "s2")
        for speaker, code in (
            ({"session": "s2", "epoch": other.epoch}, "protocol_rejected"),
            ({"session": "s2", "epoch": pi.epoch}, "claim_lost"),
            ({"session": "s1", "epoch": "e"}, "claim_lost"),
            ({"session": "s1"}, "claim_lost"),
        ):
            with pytest.raises(ConflictError) as refused:
                await engine.submit(request.request_id, {"word": "soft"}, **speaker)
            assert refused.value.code == code
        with pytest.raises(ConflictError, match="no decision"):
            await engine.decide(request.request_id, "yes", by="Ada")
        for nowhere in (engine.submit("nowhere", 1), engine.decide("nowhere", "yes", by="Ada")):
            with pytest.raises(NotFound):
                await nowhere
        await engine.pause(run_id)
        with pytest.raises(ConflictError) as paused:
            await engine.submit(request.request_id, {"word": "soft"}, session="s1", epoch=pi.epoch)
        assert paused.value.code == "paused"
        await engine.resume(run_id)
        await engine.submit(request.request_id, {"word": "soft"})
        (row,) = (await engine.query("requests", where=["kind=agent"])).items
        assert (row["state"], row["source"], row["refused"]) == ("accepted", "person", 0)


async def test_progress_from_a_session(kind: str, tmp_path: Path) -> None:
    """Durable like a node's own, while its request is open."""
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine)
        speaks = {"session": "s1", "epoch": pi.epoch}
        await engine.update_request(request.request_id, completed=1, total=3, message="reading", **speaks)
        (update,) = await engine.events(run_id, types=["node.updated"])
        assert update.event.update.value == {"completed": 1, "total": 3, "message": "reading"}
        await engine.submit(request.request_id, {"word": "soft"}, session="s1", epoch=pi.epoch)
        with pytest.raises(ConflictError):
            await engine.update_request(request.request_id, message="late", **speaks)


async def test_progress_is_bounded(kind: str, tmp_path: Path) -> None:
    """As `ctx.update` is: a burst, then a rate, and so many names; over it, it is refused by name and not kept."""
    clock = TestClock()
    async with opened(kind, tmp_path / "state", clock=clock) as engine:
        pi, run_id, request = await begun(engine)
        told = partial(engine.update_request, request.request_id, session="s1", epoch=pi.epoch)
        for number in range(BURST):
            await told(completed=number)
        with pytest.raises(ConflictError, match="more often than 20 times a second") as refused:
            await told(completed=BURST)
        assert (refused.value.code, refused.value.evidence["limit"]) == ("protocol_rejected", A_SECOND)
        clock.advance(0.12)
        await told(completed=BURST)
        await told(completed=BURST + 1)
        with pytest.raises(ConflictError):
            await told(completed=BURST + 2)
        assert len(await engine.events(run_id, types=["node.updated"])) == BURST + 2


async def test_without_a_session_a_notification_is_progress(kind: str, tmp_path: Path) -> None:
    """Whoever watches the run sees it."""
    flow: Workflow[JsonObject] = Workflow("alone", input=JsonObject)
    flow.entry(flow.notify(kind="final", name="tell")(lambda ctx: "All done."))
    async with opened(kind, tmp_path / "state") as engine:
        outcome = await engine.run(flow, {})
        assert (outcome.status, outcome.output) == ("completed", None)
        (update,) = await engine.events(outcome.run_id, types=["node.updated"])
        assert (update.event.key, update.event.update.value) == (
            "notification",
            {"message": "All done.", "notice": "final"},
        )


async def test_what_a_node_cannot_say_fails_it(kind: str, tmp_path: Path) -> None:
    """Too long a notification, a question that is none, facts that JSON cannot carry."""
    said: dict[str, Any] = {"long": "x" * 70_000, "none": 7, "unfit": Question("?", facts={"a": float("nan")})}
    codes = {"long": "payload_too_large", "none": "node_failed", "unfit": "output_invalid"}
    async with opened(kind, tmp_path / "state") as engine:
        for name, value in said.items():
            flow: Workflow[JsonObject] = Workflow(name, input=JsonObject)
            node: Any = flow.notify(name="say") if name == "long" else flow.decision(choices=["yes"], name="say")
            flow.entry(node(partial(_said, value)))
            outcome = await engine.run(flow, {})
            assert (outcome.status, outcome.error.code) == ("failed", codes[name])


def _said(value: Any, ctx: Context[JsonObject]) -> Any:
    """What a node's function returns."""
    return value


async def test_a_decision_outlives_its_engine(kind: str, tmp_path: Path) -> None:
    """The next one has the same question; its time went on meanwhile, and the policy decides when it is over."""
    flow: Workflow[JsonObject] = Workflow("slow", input=JsonObject)
    decide = flow.decision(choices=["yes", "no"], deadline=timedelta(seconds=0.2), on_timeout="no", name="decide")
    flow.entry(decide(lambda ctx: "Well?"))
    async with opened(kind, tmp_path / "state") as engine:
        run_id = await engine.start(flow, {})
        await engine.wait(run_id, until="asked")
    async with opened(kind, tmp_path / "state", workflows=[flow]) as engine:
        output = (await engine.wait(run_id)).output
        assert (output["choice"], output["by"], output["timed_out"]) == ("no", "policy", True)


async def test_a_decision_takes_no_answer_of_another_form(kind: str, tmp_path: Path) -> None:
    """Not by `answer`, and not by `submit`: what is said is who decides, and how."""
    flow: Workflow[JsonObject] = Workflow("strict", input=JsonObject)
    flow.entry(flow.decision(choices=["yes"], name="ship")(lambda ctx: "Ship it?"))
    async with opened(kind, tmp_path / "state") as engine:
        run_id = (await engine.run(flow, {})).run_id
        (request,) = await engine.requests(run_id)
        with pytest.raises(ConflictError) as refused:
            await engine.answer(request.request_id, "yes")
        assert refused.value.code == "human_required"
        assert "`engine.decide`" in refused.value.hint
        with pytest.raises(ConflictError, match="which is made and not submitted"):
            await engine.submit(request.request_id, "yes")
        assert (await engine.decide(request.request_id, "yes", by="Ada")).run_id == run_id
        assert (await engine.wait(run_id)).status == "completed"


async def test_a_protected_checkpoint_in_a_session_is_a_persons(kind: str, tmp_path: Path) -> None:
    """The session is shown it, its model is refused, and the answer of a person carries on in a child run."""
    flow: Workflow[JsonObject] = Workflow("protected", input=JsonObject)
    flow.entry(flow.checkpoint(summary="May it go on?", protected=True, name="may")(lambda ctx: None))
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine, flow)
        assert (request.protected, request.session) == (True, "s1")
        await pi.settle()
        assert await pi.receive() == f"decision:{request.request_id}:1"
        with pytest.raises(ConflictError):
            await engine.submit(request.request_id, "yes", session="s1", epoch=pi.epoch)
        answered = await engine.answer(request.request_id, "yes")
        assert answered.run_id != run_id
        assert (await engine.wait(run_id)).output == "yes"


async def test_a_sessions_time_begins_when_it_is_asked(kind: str, tmp_path: Path) -> None:
    """Nothing runs while it passes; the node ends as timed out, and what comes later is told so."""
    flow: Workflow[JsonObject] = Workflow("hurried", input=JsonObject)
    flow.entry(flow.agent(returns=str, timeout=0.2, name="ask")(lambda ctx: "Quick?"))
    async with opened(kind, tmp_path / "state") as engine:
        pi, run_id, request = await begun(engine, flow)
        assert (await engine.query("timers")).items == []
        await next_step(pi)
        outcome = await engine.wait(run_id)
        assert (outcome.status, outcome.error.code) == ("timed_out", "node_timed_out")
        with pytest.raises(ConflictError):
            await engine.submit(request.request_id, "now", session="s1", epoch=pi.epoch)
        (started,) = await engine.events(run_id, types=["node.started"])
        assert started.event.deadline is None
