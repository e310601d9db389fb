"""S64, S20, C01 over the socket: the founding story, with a host process, also killed at each of its steps."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from runwright.engine.client import AsyncClient
from support.hosts import Hosted, hosted
from support.socket_session import SocketSession
from support.sound import check_sound

T = TypeVar("T")

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))

FLOW = '''"""A workflow that leaves a mark."""

from pathlib import Path

from runwright import Context, JsonObject, Workflow

workflow = Workflow("story", input=JsonObject)


@workflow.compute
def mark(ctx: Context[JsonObject]) -> str:
    """Leave it."""
    with Path("marks.txt").open("a") as marks:
        marks.write("reached\\n")
    return str(ctx.input["text"])


workflow.entry(mark)
'''
SECRET = "s3cret-of-the-input"
TURN = "turn-of-the-failure"
STEPS = ("start", "remove", "settle", "fail", "hear", "begin", "correct", "end", "reach")


class Story:
    """The model, its session, and a host that dies where it is told to.

    Attributes:
        kill: The step that the host is killed at; empty for none.
        during: Whether while that step is under way, rather than before it.
    """

    def __init__(self, host: Hosted, client: AsyncClient, kill: str, *, during: bool) -> None:
        self.host = host
        self.pi = SocketSession(client)
        self.kill = kill
        self.during = during
        self.killed = 0

    async def step(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do the next thing; the host may die before it, or in the middle of it."""
        if name != self.kill:
            return await work()
        self.killed += 1
        if not self.during:
            await asyncio.to_thread(self.restarted)
            return await work()
        done, _ = await asyncio.gather(work(), asyncio.to_thread(self.restarted))
        return done

    def restarted(self) -> None:
        """Kill the host, and start another one."""
        self.host.kill()
        self.host.start_again()

    async def start(self, key: str) -> str:
        """The tool call of the model."""
        project = self.host.project
        queued = await self.pi.client.run_start(
            "story.py", {"text": SECRET}, cwd=project, project=project, session="s1", key=key
        )
        return queued.value

    async def until(self, run_id: str, **facts: Any) -> dict[str, Any]:
        """Wait until a run's status has these facts."""
        while True:
            found = await self.pi.client.run_status(run_id)
            if all(found[name] == value for name, value in facts.items()):
                return found
            await asyncio.sleep(0.02)


async def tell(story: Story) -> tuple[str, str]:
    """The story; the run that failed, and the one that did not."""
    pi, source = story.pi, story.host.project / "story.py"
    source.write_text(FLOW)
    await pi.attach()
    await pi.report(None, idle=False)  # a person's turn goes on, and in it the model calls the tool

    first = await story.step("start", lambda: story.start("call-1"))
    assert await story.start("call-1") == first
    assert (await pi.client.run_status(first))["queue_state"] == "queued"

    async def remove() -> None:
        source.unlink()

    await story.step("remove", remove)
    assert not (story.host.project / "marks.txt").exists()
    await story.step("settle", pi.settle)
    failed = await story.step("fail", lambda: story.until(first, status="failed"))
    assert failed["error"]["code"] == "workflow_not_found"

    message = await story.step("hear", pi.receive)
    assert message["message"] == f"launch_failure:{first}"
    text = await pi.client.content_read(message["text"])
    sentence = f"Workflow story failed to start (run {first}): {failed['error']['message']} "
    assert text == sentence + "Correct the cause, then call start again."

    began = await story.step("begin", lambda: pi.begin(message["message"], first, turn=TURN))
    assert (began["ownership"], began["turn"]["run_id"]) == ("active", None)
    source.write_text(FLOW + "# mended\n")
    second = await story.step("correct", lambda: story.start("call-2"))
    assert second != first
    assert not (story.host.project / "marks.txt").exists()

    async def end() -> None:
        assert (await pi.end(entry="entry-2", text="Started again."))["ownership"] == "settled"
        await pi.settle()

    await story.step("end", end)
    await story.step("reach", lambda: story.until(second, status="completed"))
    return first, second


async def look_back(story: Story, first: str, second: str) -> None:
    """What stands when it is told, however often the host died."""
    client, pi = story.pi.client, story.pi
    again = await client.run_status(first)
    assert (again["status"], again["session"], again["started_at"]) == ("failed", "s1", None)
    assert (story.host.project / "marks.txt").read_text() == "reached\n"
    assert await client.run_output(second) == SECRET
    rows: Any = (await client.projection_query("messages", where=["kind=launch_failure"]))["items"]
    assert [(row["message"], row["state"]) for row in rows] == [(f"launch_failure:{first}", "sent")]
    assert pi.branch.count(f"launch_failure:{first}") == 1
    turns: Any = (await client.projection_query("turns"))["items"]
    assert [(row["turn"], row["state"]) for row in turns] == [(TURN, "ended")]
    # What never started leaves no input behind; the one that ran keeps its own.
    events: Any = (await client.events_read(first, values=True))["items"]
    assert SECRET not in str(events)
    assert [each["type"] for each in events].count("run.failed") == 1


async def play(tmp_path: Path, kill: str, *, during: bool = False) -> None:
    """Tell the story with a host of its own."""
    with hosted(tmp_path) as host:
        async with await AsyncClient.connect(host.home, client="pi:s1") as client:
            story = Story(host, client, kill, during=during)
            first, second = await tell(story)
            await look_back(story, first, second)
            await story.pi.close()
            assert story.killed == (1 if kill else 0)
    check_sound(tmp_path / "home")


async def test_a_failed_launch_comes_back_and_is_corrected(tmp_path: Path) -> None:
    """S64: an ID first, the failure saved, one turn with a safe text, the corrected run; nothing is lost or doubled."""
    await play(tmp_path, "")


@pytest.mark.parametrize("step", STEPS)
async def test_the_same_with_the_host_killed_before(tmp_path: Path, step: str) -> None:
    """S20, C01: `kill -9` before any step changes nothing of how it ends."""
    await play(tmp_path, step)


@pytest.mark.parametrize("step", STEPS if DEPTH > 1 else ("start", "hear", "end"))
async def test_the_same_with_the_host_killed_during(tmp_path: Path, step: str) -> None:
    """N2, N3: nor does it in the middle of a step, where nobody knows what was done."""
    await play(tmp_path, step, during=True)
