"""Does the example of an adapter do what its guide says, also where the host dies under it?"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from support.hosts import Hosted, hosted

ROOT = Path(__file__).parents[2]
ADAPTER = ROOT / "examples" / "adapter.py"

FLOW = '''"""A workflow that asks its session twice."""

from runwright import Context, JsonObject, Workflow

workflow = Workflow("asks", input=JsonObject, presentation="Say how it went.")


def short(ctx: Context[JsonObject], answer: str) -> None:
    """Refuse what is long."""
    if len(answer) > 9:
        raise ValueError("write at most nine letters")


@workflow.agent(returns=str, validate=short)
def first(ctx: Context[JsonObject]) -> str:
    """Ask."""
    return "What is the first word?"


@workflow.agent(returns=str)
def second(ctx: Context[JsonObject]) -> str:
    """Ask on."""
    return f"What comes after {ctx.output(first)}?"


workflow.entry(first)
workflow.then(first, second)
'''


async def adapter(host: Hosted, *answers: str) -> Process:
    """Run the example."""
    (host.project / "asks.py").write_text(FLOW)
    return await asyncio.create_subprocess_exec(
        sys.executable, str(ADAPTER), str(host.home), "asks.py", *answers,
        cwd=host.project, stdout=PIPE, stderr=PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


async def said(process: Process) -> list[str]:
    """What it printed in the end; it has to have gone well."""
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode().splitlines()


async def test_it_plays_a_whole_session(tmp_path: Path) -> None:
    """Two steps, one of them refused at first and asked again, and the end is told."""
    with hosted(tmp_path) as host:
        lines = await said(await adapter(host, "far too long", "one", "two"))
        assert lines[0].startswith("step: What is the first word?")
        told = [line for line in lines if line.startswith(("step: ", "terminal: "))]
        assert [line.partition(":")[0] for line in told] == ["step", "step", "step", "terminal"]
        assert "at most nine letters" in "\n".join(lines)
        assert any(line.startswith("step: What comes after one?") for line in lines)
        (run,) = host.client.run_list()["items"]
        assert run["status"] == "completed"
        assert host.client.run_output(run["run_id"]) == "two"
        turns = host.client.projection_query("turns")["items"]
        assert [each["state"] for each in turns] == ["ended"] * 4


@pytest.mark.parametrize("after", ["step: What is the first", "step: What comes after"])
async def test_it_outlives_its_host(tmp_path: Path, after: str) -> None:
    """The host is killed while a turn goes on or ends; the adapter attaches anew, and nothing comes twice."""
    with hosted(tmp_path) as host:
        process = await adapter(host, "one", "two")
        assert process.stdout is not None
        while not (await process.stdout.readline()).decode().startswith(after):
            assert process.returncode is None
        await asyncio.to_thread(host.kill)
        await asyncio.to_thread(host.start_again)
        lines = await said(process)
        (run,) = host.client.run_list()["items"]
        assert run["status"] == "completed"
        shown = [line for line in lines if line.startswith("> ") and "?" in line]
        assert len(shown) == len(set(shown))
