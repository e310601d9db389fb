"""Can a client that was written from the protocol's reference alone, in another language, start, follow and cancel?"""

import asyncio
import json
import shutil
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Workflow
from support.hosts import hosted
from support.relays import Relay
from support.serving import served

NODE = shutil.which("node")
CLIENT = Path(__file__).parents[2] / "examples" / "client.mjs"

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node: the example client is a Node program")

FLOW = '''"""A workflow that a host can find."""

from runwright import Context, JsonObject, Workflow

workflow = Workflow("repeats", input=JsonObject)


@workflow.compute
def repeat(ctx: Context[JsonObject]) -> str:
    """The word so many times."""
    return str(ctx.input["word"]) * int(str(ctx.input["times"]))


workflow.entry(repeat)
'''


WAITS = '''"""A workflow that waits for a file."""

import time
from pathlib import Path

from runwright import Context, JsonObject, Workflow

workflow = Workflow("waits", input=JsonObject)


@workflow.compute
def wait(ctx: Context[JsonObject]) -> str:
    """Wait until it is there."""
    while not Path(str(ctx.input["gate"])).exists():
        time.sleep(0.01)
    return "through"


workflow.entry(wait)
'''


async def node(home: Path, *arguments: str, cwd: Path) -> tuple[int, list[str], str]:
    """Run the client; its exit code, the lines it printed, and what it said."""
    assert NODE is not None
    process = await asyncio.create_subprocess_exec(
        NODE, str(CLIENT), str(home), *arguments, stdout=PIPE, stderr=PIPE, cwd=cwd
    )
    out, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode().splitlines(), said.decode()


async def test_it_starts_and_follows(tmp_path: Path) -> None:
    """It queues a run, follows it to its end and prints its output, also one that comes in parts."""
    (tmp_path / "repeats.py").write_text(FLOW)
    async with served(tmp_path / "home") as host:
        code, lines, said = await node(
            host.home, "start", "repeats.py", '{"word": "é", "times": 900000}', "key-1", cwd=tmp_path
        )
        assert code == 0, said
        run_id, output = lines
        assert json.loads(output) == "é" * 900_000
        assert "completed" in said
        assert (await host.engine.status(run_id)).status == "completed"
        again, lines, _ = await node(
            host.home, "start", "repeats.py", '{"word": "é", "times": 900000}', "key-1", cwd=tmp_path
        )
        assert (again, lines[0]) == (0, run_id)
        assert (await node(host.home, "follow", run_id, cwd=tmp_path))[0] == 0


async def test_it_sends_large_inputs(tmp_path: Path) -> None:
    """An input that does not fit into a frame goes out in parts."""
    (tmp_path / "repeats.py").write_text(FLOW)
    word = "é" * 524_270
    (tmp_path / "input.json").write_text(json.dumps({"word": word, "times": 1}))
    async with served(tmp_path / "home") as host:
        code, lines, said = await node(host.home, "start", "repeats.py", "@input.json", cwd=tmp_path)
        assert code == 0, said
        assert json.loads(lines[1]) == word


async def test_it_cancels(tmp_path: Path) -> None:
    """One client follows a run that works; another one ends it, and both hear how it ended."""
    workflow: Workflow[Any] = Workflow("works")
    begun = asyncio.Event()

    async def work(ctx: Context[Any]) -> int:
        """Work until it is ended."""
        begun.set()
        await asyncio.Event().wait()
        return 1

    workflow.entry(workflow.compute(work))
    async with served(tmp_path / "home", [workflow]) as host:
        run_id = await host.engine.start(workflow, {})
        await begun.wait()
        following = asyncio.create_task(node(host.home, "follow", run_id, cwd=tmp_path))
        code, _, said = await node(host.home, "cancel", run_id, "no more", cwd=tmp_path)
        assert code == 0, said
        code, lines, said = await following
        assert (code, lines) == (1, [])
        assert "cancelled" in said
        code, _, said = await node(host.home, "cancel", "nope", cwd=tmp_path)
        assert (code, said.partition(":")[0]) == (2, "not_found")


async def test_it_gets_through_lost_replies(tmp_path: Path) -> None:
    """Replies that get lost are asked for again under the same key, and the run is started once."""
    (tmp_path / "repeats.py").write_text(FLOW)
    async with served(tmp_path / "home") as host:
        (tmp_path / "front").mkdir()
        relay = Relay(path=tmp_path / "front" / "host.sock", host=host.server.path, lose=3)
        await relay.open()
        code, lines, said = await node(
            relay.path.parent, "start", "repeats.py", '{"word": "a", "times": 3}', cwd=tmp_path
        )
        assert code == 0, said
        assert lines[1] == '"aaa"'
        assert relay.lost == 3
        assert len((await host.engine.query("runs")).items) == 1
        await relay.close()


async def test_it_outlives_the_host(tmp_path: Path) -> None:
    """A host in a process of its own is killed under it, and it follows the run to its end all the same."""
    with hosted(tmp_path) as host:
        (host.project / "waits.py").write_text(WAITS)
        gate = tmp_path / "gate"
        starting = asyncio.create_task(
            node(host.home, "start", "waits.py", json.dumps({"gate": str(gate)}), cwd=host.project)
        )
        while not (runs := host.client.run_list(live=True)["items"]):
            await asyncio.sleep(0.01)
        (run_id,) = [each["run_id"] for each in runs]
        await asyncio.to_thread(host.running, run_id, "wait")
        await asyncio.to_thread(host.kill)
        await asyncio.to_thread(host.start_again)
        gate.touch()
        code, lines, said = await starting
        assert (code, lines) == (0, [run_id, '"through"']), said
        again = asyncio.create_task(
            node(host.home, "start", "waits.py", json.dumps({"gate": str(tmp_path / "none")}), cwd=host.project)
        )
        while not (runs := host.client.run_list(live=True)["items"]):
            await asyncio.sleep(0.01)
        assert (await node(host.home, "cancel", runs[0]["run_id"], cwd=host.project))[0] == 0
        code, lines, said = await again
        assert (code, lines) == (1, [runs[0]["run_id"]])
        assert "cancelled" in said
