"""Do cancel and status go on while long questions fill every thread?"""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Workflow
from runwright.engine.host.serving import questions
from runwright.engine.host.serving.bounds import LONG_THREADS, MOST_CALLS
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.protocol.operations import Lane
from support.command_processes import LIMIT
from support.raw_client import RawClient
from support.serving import served


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has each comparison of the tables wait until it is let on."""
    go, waiting = threading.Event(), threading.Semaphore(0)

    def verify(*_: Any) -> dict[str, Any]:
        waiting.release()
        assert go.wait(60)
        return {"ok": True, "position": 0, "rows": 0, "differences": [], "left_out": 0}

    monkeypatch.setitem(questions.QUESTIONS, "projection.verify", verify)
    yield go, waiting
    go.set()


async def test_long_questions_hold_up_no_command(tmp_path: Path, stuck: Any) -> None:
    """With every thread for long questions taken, and more waiting, status and cancel are answered."""
    go, waiting = stuck
    begun, release = threading.Event(), threading.Event()
    workflow: Workflow[Any] = Workflow("long")

    def work(ctx: Context[Any]) -> int:
        """Wait."""
        begun.set()
        assert release.wait(60)
        return 1

    workflow.entry(workflow.compute(work))
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        assert await asyncio.to_thread(begun.wait, 30)
        client = await RawClient.open(host.server.path)
        for number in range(MOST_CALLS):
            await client.call("projection.verify", f"long-{number}")
        for _ in range(LONG_THREADS):
            assert await asyncio.to_thread(waiting.acquire, True, 30)
        await client.call("run.status", "status", run_id=run_id)
        assert (await client.reply("status"))["answer"]["status"] == "running"
        await client.call("run.cancel", "cancel", run_id=run_id, key="c")
        assert (await client.reply("cancel"))["outcome"] == "accepted"
        await client.call("run.status", "after", run_id=run_id)
        assert (await client.reply("after"))["answer"]["status"] == "cancelled"
        release.set()
        go.set()
        await client.close()


async def test_too_many_long_questions_are_refused(tmp_path: Path, stuck: Any) -> None:
    """One connection cannot heap them up: the rest are told to wait, and the first ones are answered."""
    go, _ = stuck
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        for number in range(MOST_CALLS):
            await client.call("projection.verify", str(number))
        refused = [await client.read() for _ in range(MOST_CALLS // 2)]
        assert {each["error"]["code"] for each in refused} == {"host_busy"}
        go.set()
        answered = [await client.read() for _ in range(MOST_CALLS // 2)]
        assert {each["outcome"] for each in answered} == {"accepted"}
        await client.close()


async def test_a_fault_of_the_host_is_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug behind one operation is answered without its text, logged with its place, and nothing else ends."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("SECRET")

    monkeypatch.setitem(questions.QUESTIONS, "run.list", broken)
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        await client.call("run.list")
        reply = await client.reply()
        assert (reply["outcome"], reply["error"]["code"]) == ("unavailable", "host_failed")
        await client.call("log.head", "2")
        assert (await client.reply("2"))["outcome"] == "accepted"
        await client.close()
    assert "SECRET" not in str(reply) + caplog.text
    assert "run.list" in caplog.text
    assert "test_lanes.py" in caplog.text


async def test_a_chore_is_done_once_for_its_key(tmp_path: Path) -> None:
    """A repeat under the same key joins what is under way or was done; another payload conflicts; a refusal is none."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        target = {"file": str(tmp_path / "copy.sqlite")}
        for call_id in ("1", "2"):
            await client.call("store.backup", call_id, key="k", payload=target)
        replies = [await client.read() for _ in range(2)]
        assert [each["outcome"] for each in replies] == ["accepted", "accepted"]
        assert replies[0]["answer"] == replies[1]["answer"]
        await client.call("store.backup", "3", key="k", payload={"file": str(tmp_path / "other.sqlite")})
        assert (await client.reply("3"))["error"]["code"] == "key_reused"
        for call_id in ("4", "5"):
            await client.call("store.backup", call_id, key="n", payload=target)
            assert (await client.reply(call_id))["error"]["code"] == "target_exists"
        await client.close()


async def test_a_lane_answers_fails_and_closes() -> None:
    """What a question raises is told; what waits for a thread when the lane closes is cancelled; more is refused."""
    lanes, go = Lanes(), threading.Event()
    assert await lanes.run(Lane.LONG, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await lanes.run(Lane.LONG, divmod, 7, 0)
    asked = [asyncio.create_task(lanes.run(Lane.LONG, go.wait, LIMIT)) for _ in range(LONG_THREADS + 1)]
    await asyncio.sleep(0)  # each has asked now
    lanes.close()
    go.set()
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert all(each is True or isinstance(each, asyncio.CancelledError) for each in answers)
    assert isinstance(answers[-1], asyncio.CancelledError)
    with pytest.raises(RuntimeError):
        await lanes.run(Lane.LONG, divmod, 7, 2)


def test_a_question_that_never_ends_ends_with_the_process() -> None:
    """A host that has stopped is gone, whatever a program's own projection is still about."""
    lines = (
        "import asyncio, threading",
        "from runwright.engine.host.serving.lanes import Lane, Lanes",
        "async def main():",
        "    lanes, begun = Lanes(), threading.Event()",
        "    asked = asyncio.create_task(lanes.run(Lane.LONG, lambda: (begun.set(), threading.Event().wait())))",
        "    await asyncio.to_thread(begun.wait)",
        "    asked.cancel()",
        "    lanes.close()",
        "asyncio.run(main())",
        "print('ended')",
    )
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
