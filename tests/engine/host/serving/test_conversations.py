"""Page 07 from end to end over the socket: steps reach their session, and its words reach the run."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from runwright import Choice, ConflictError, Context, Workflow
from runwright.engine.client import AsyncClient
from runwright.engine.commands.host import FireTimer
from runwright.engine.errors import AnswerRejected
from runwright.engine.reading.times import microseconds
from support.conversing import asking, asks, rows, submit, talking
from support.serving import Served, served
from support.socket_session import SocketSession, speaking


async def test_steps_are_asked_answered_and_followed(tmp_path: Path) -> None:
    """Each step is a turn that the run owns; a refused answer says why; the next step comes when it was accepted."""
    async with talking(tmp_path, asks("first", "second")) as (host, pi, run_id):
        message = await pi.receive()
        content: Any = message["content"]["value"]
        assert (content["node"], content["runId"], message["kind"]) == ("first", run_id, "step")
        assert message["text"]["value"].startswith("Do it.")
        receipt = await pi.begin(message["message"], run_id)
        assert (receipt["ownership"], receipt["turn"]["run_id"]) == ("active", run_id)
        await pi.client.request_update(
            content["requestId"], completed=1, total=2, message="half", session="s1", epoch=pi.epoch
        )
        with pytest.raises(AnswerRejected) as refused:
            await submit(pi, message, "far too long an answer", key="first-try")
        assert "at most nine letters" in refused.value.message
        with pytest.raises(AnswerRejected):
            await submit(pi, message, "far too long an answer", key="first-try")
        found = await pi.client.request_get(content["requestId"])
        assert (found["refused"], found["session"], found["state"]) == (1, "s1", "open")
        assert "nine letters" in found["reason"]
        accepted = await submit(pi, message, "fine", key="second-try")
        assert accepted.value == run_id
        assert (await submit(pi, message, "fine", key="second-try")).value == run_id
        await pi.end(text="I said fine.")
        await pi.settle()
        second = await pi.receive()
        assert second["content"]["value"]["node"] == "second"
        assert (await pi.begin(second["message"], run_id))["ownership"] == "active"
        await submit(pi, second, "good")
        await pi.end()
        await host.engine.wait(run_id)
        assert await pi.client.run_output(run_id) == "good"
        assert (await pi.view())["wake_ups"] == 0


async def test_who_has_no_word_changes_nothing(tmp_path: Path) -> None:
    """Another session, an older epoch, a model outside of any: refused by name, and nothing is written."""
    async with talking(tmp_path, asks("first")) as (host, pi, _):
        message = await pi.receive()
        request = message["content"]["value"]["requestId"]
        old = pi.epoch
        await pi.attach()
        before = host.holder.reader.head()
        with pytest.raises(ConflictError) as fenced:
            await pi.client.request_submit(request, "x", session="s1", epoch=old)
        assert fenced.value.code == "claim_lost"
        async with await AsyncClient.connect(host.home, client="mcp:s2") as other:
            epoch = (await other.session_attach("s2", agent="tests"))["epoch"]
            before = host.holder.reader.head()
            for session, code in (("s2", "protocol_rejected"), (None, "human_required")):
                with pytest.raises(ConflictError) as refused:
                    await other.request_submit(request, "x", session=session, epoch=epoch)
                assert refused.value.code == code
        assert host.holder.reader.head() == before
        async with await AsyncClient.connect(host.home, client="cli") as person:
            await person.request_submit(request, "by hand")
        (row,) = await rows(pi, "requests")
        assert (row["state"], row["source"]) == ("accepted", "person")


async def test_three_turns_without_an_answer_end_the_attempt(tmp_path: Path) -> None:
    """Two reminders, then `missing_submission`; turns that only stall count as well, a busy report never does."""
    async with talking(tmp_path, asks("first")) as (_, pi, run_id):
        reasons = []
        for number in range(3):
            message = await pi.receive()
            reasons.append(message["content"]["value"]["reason"])
            assert (await pi.begin(message["message"], run_id))["ownership"] == "active"
            await pi.report(message["message"], idle=False)
            if number == 1:
                # Nobody was told how it ended: the agent rests, its message shown.
                pi.busy = False
                await pi.report(message["message"])
            else:
                await pi.end()
        assert reasons == ["initial", "reminder", "reminder"]
        assert [row["state"] for row in await rows(pi, "turns")] == ["ended", "lost", "ended"]
        await _until(pi, run_id, "failed")
        assert (await pi.client.run_status(run_id))["error"]["code"] in ("missing_submission", "node_failed")
        (row,) = await rows(pi, "requests")
        assert (row["state"], row["cause"]) == ("closed", "failed")


async def test_a_stalled_turn_ends_at_rest_alone(tmp_path: Path) -> None:
    """S57: a host that starts and a busy report leave it open; rest ends it as lost, its entry present or not."""
    workflow = asks("first")
    branch: list[str] = []
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home, branch=branch) as pi:
        run_id = await host.engine.start(workflow, {}, session="s1")
        await pi.settle()
        message = await pi.receive()
        assert (await pi.begin(message["message"], run_id))["ownership"] == "active"
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home, branch=branch) as pi:
        assert (await pi.view())["turn"]["state"] == "open"
        await pi.report(message["message"], idle=False)
        assert (await pi.view())["turn"]["state"] == "open"
        branch.clear()
        await pi.report(message["message"])
        assert (await pi.view())["turn"] is None
        assert [row["state"] for row in await rows(pi, "turns")] == ["lost"]
        # What the person types next is nobody's turn but theirs.
        assert (await pi.begin(message["message"], run_id))["ownership"] == "absent"
        again = await pi.receive()
        assert again["content"]["value"]["reason"] == "resumed"
        assert (await pi.begin(again["message"], run_id))["ownership"] == "active"


async def test_an_aborted_turn_pauses_and_a_resumed_step_arrives(tmp_path: Path) -> None:
    """C30: a report about another message cancels nothing; the resumed step arrives, and the one after it, too."""
    async with talking(tmp_path, asks("first", "second")) as (host, pi, run_id):
        message = await pi.receive()
        await pi.begin(message["message"], run_id)
        await pi.end("aborted")
        assert (await pi.client.run_status(run_id))["status"] == "paused"
        with pytest.raises(ConflictError) as paused:
            await submit(pi, message, "late")
        assert paused.value.code == "paused"
        await pi.client.run_resume(run_id)
        # The adapter still looks at the old one, and the branch shows the new one late.
        await pi.report("step:nobody:1")
        await pi.report(message["message"])
        fresh = await pi.handed()
        assert fresh["message"] != message["message"]
        for _ in range(3):
            await pi.report(message["message"])
            await pi.report(fresh["message"], idle=False)
        assert [row["state"] for row in await rows(pi, "messages", message=fresh["message"])] == ["pending"]
        pi.branch.append(fresh["message"])
        await pi.report(fresh["message"], idle=False)
        await pi.begin(fresh["message"], run_id)
        await submit(pi, fresh, "done")
        await pi.end()
        await pi.settle()
        second = await pi.work()
        assert second["content"]["value"]["node"] == "second"
        delivered = [json.loads(each.data)["message"] for each in await host.engine.events(types=["message.delivered"])]
        assert delivered == [message["message"], fresh["message"], second["message"]]


async def test_a_failing_provider_is_left_alone(tmp_path: Path) -> None:
    """Five seconds, then thirty, then the run pauses; the person's next turn belongs to nobody."""
    async with talking(tmp_path, asks("first")) as (host, pi, run_id):
        for delay in (5, 30, None):
            message = await pi.receive()
            assert (await pi.begin(message["message"], run_id))["ownership"] == "active"
            await pi.end("error")
            timers = await rows(pi, "timers", run_id=run_id, kind="delivery")
            assert len(timers) == (delay is not None)
            if delay is not None:
                # It waits, and nobody is asked about it; then its time has come.
                await pi.settle()
                assert (await pi.view())["current"] is None
                ended = (await host.engine.events(types=["turn.ended"]))[-1]
                assert microseconds(timers[0]["due"]) == ended.at + delay * 1_000_000
                await _fired(host, run_id)
        status = await pi.client.run_status(run_id)
        assert (status["status"], status["reason"]["code"]) == ("paused", "provider_error")
        assert (await pi.begin(message["message"], run_id))["ownership"] == "absent"


async def test_a_person_decides_and_a_model_does_not(tmp_path: Path) -> None:
    """The model's choice is refused and recorded; the person's wins; a late one is told so."""
    workflow: Workflow[Any] = Workflow("decides")
    release = asking("release", "Release it?")
    workflow.entry(workflow.decision(choices=[Choice("yes"), Choice("no")])(release))
    async with talking(tmp_path, workflow) as (host, pi, run_id):
        message = await pi.receive()
        assert (message["kind"], message["starts_turn"]) == ("decision", False)
        ((request,),) = [(await pi.client.request_list())["items"]]
        with pytest.raises(ConflictError) as human:
            await pi.client.request_decide(request["request_id"], "yes", by="the model")
        assert human.value.code == "human_required"
        assert len(await host.engine.events(types=["request.refused"])) == 1
        async with await AsyncClient.connect(host.home, client="cli") as person:
            with pytest.raises(ConflictError):
                await person.request_decide(request["request_id"], "yes", by="Ada", digest="of-something-else")
            decided = await person.request_decide(request["request_id"], "no", by="Ada", digest=request["digest"])
            assert decided.value == run_id
            with pytest.raises(ConflictError):
                await person.request_decide(request["request_id"], "yes", by="Eve")
        await host.engine.wait(run_id)
        output: Any = await pi.client.run_output(run_id)
        assert output["choice"] == "no"


async def test_wake_ups_of_a_step_are_bounded(tmp_path: Path) -> None:
    """Five deliveries start a turn, however often adapter and message are lost; then a person has to speak."""
    workflow = asks("first")
    woken = []
    async with served(tmp_path / "home", [workflow]) as host:
        async with speaking(host.home) as pi:
            await host.engine.start(workflow, {}, session="s1")
            await pi.settle()
            woken.append((await pi.handed())["starts_turn"])
        for _ in range(6):
            async with speaking(host.home) as pi:
                woken.append((await pi.handed())["starts_turn"])
    assert woken == [True] * 5 + [False] * 2


async def test_a_follow_up_comes_when_its_run_has_completed(tmp_path: Path) -> None:
    """The model leaves a text for later; it starts a turn of its own, after the end, and in no other session."""
    async with talking(tmp_path, asks("first")) as (host, pi, run_id):
        message = await pi.receive()
        await pi.begin(message["message"], run_id)
        await pi.client.run_follow_up(run_id, "And then the next one.", session="s1", epoch=pi.epoch, key="later")
        await submit(pi, message, "done")
        await pi.end()
        await host.engine.wait(run_id)
        await pi.settle()
        heard = [await pi.receive() for _ in range(2)]
        follow_up = next(each for each in heard if each["kind"] == "follow_up")
        assert (follow_up["starts_turn"], follow_up["text"]["value"]) == (True, "And then the next one.")
        receipt = await pi.begin(follow_up["message"], run_id)
        assert (receipt["ownership"], receipt["turn"]["run_id"]) == ("active", None)
        with pytest.raises(ConflictError) as ended:
            await pi.client.run_follow_up(run_id, "Too late.", session="s1", epoch=pi.epoch)
        assert ended.value.code == "already_terminal"


async def test_an_end_that_is_being_told_goes_before_a_new_start(tmp_path: Path) -> None:
    """`presentation_pending` while the end's own message is out or its turn is open; before and after it, no longer."""
    workflow: Workflow[Any] = Workflow("tells", presentation="Say it.")

    def one(ctx: Context[Any]) -> int:
        """A number."""
        return 1

    workflow.entry(workflow.compute(one))
    async with talking(tmp_path, workflow) as (host, pi, run_id):
        await host.engine.wait(run_id)
        message = await pi.handed()
        await refused(host, workflow)
        pi.branch.append(message["message"])
        await pi.report(message["message"], idle=False)
        await pi.begin(message["message"], run_id)
        await refused(host, workflow)
        await pi.end()
        second = await host.engine.start(workflow, {}, session="s1")
        assert (await pi.view())["run_id"] == second


async def refused(host: Served, workflow: Workflow[Any]) -> None:
    """A start has to wait for what the session is being told."""
    with pytest.raises(ConflictError) as pending:
        await host.engine.start(workflow, {}, session="s1")
    assert pending.value.code == "presentation_pending"


async def _until(pi: SocketSession, run_id: str, status: str) -> None:
    while (await pi.client.run_status(run_id))["status"] != status:
        await asyncio.sleep(0.01)


async def _fired(host: Served, run_id: str) -> None:
    """The time of a delivery has come."""
    await asyncio.wrap_future(host.holder.transitions.host(FireTimer(run_id=run_id, kind="delivery")))
