"""Do both examples of an adapter do what their guide says, also where their host dies and replies are lost?"""

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from runwright.engine.client import AsyncClient
from support.conversing import check_once
from support.hosts import hosted
from support.relays import relayed
from support.serving import served

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")
ADAPTERS = {
    "python": (sys.executable, str(ROOT / "examples" / "adapter.py")),
    "node": (str(NODE), str(ROOT / "examples" / "adapter.mjs")),
}
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node: one of the examples is a Node program")

pytestmark = pytest.mark.parametrize("language", ["python", pytest.param("node", marks=needs_node)])

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

JUDGES = '''"""A workflow that takes an object for an answer."""

from attrs import frozen

from runwright import Context, JsonObject, Workflow


@frozen
class Verdict:
    """What the model says."""

    clean: bool
    notes: tuple[str, ...] = ()


workflow = Workflow("judges", input=JsonObject)


@workflow.agent(returns=Verdict)
def judge(ctx: Context[JsonObject]) -> str:
    """Ask."""
    return "Is it clean?"


workflow.entry(judge)
'''


WAITS = '''"""A workflow that waits for a person."""

from runwright import Choice, Context, JsonObject, Workflow

workflow = Workflow("waits", input=JsonObject)


@workflow.decision(choices=[Choice("yes"), Choice("no")])
def ask(ctx: Context[JsonObject]) -> str:
    """Ask."""
    return "Go on?"


workflow.entry(ask)
'''


async def adapter(language: str, home: Path, project: Path, *answers: str, flow: str = FLOW) -> Process:
    """Run an example."""
    (project / "flow.py").write_text(flow)
    return await asyncio.create_subprocess_exec(
        *ADAPTERS[language], str(home), "flow.py", *answers,
        cwd=project, stdout=PIPE, stderr=PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


async def said(process: Process, *, code: int = 0) -> list[str]:
    """What it printed in the end; it has to have gone as it should, and without complaint."""
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (code, "")
    return out.decode().splitlines()


async def heard(process: Process, beginning: str) -> None:
    """Wait for a line that it prints."""
    assert process.stdout is not None
    while line := (await process.stdout.readline()).decode():
        if line.startswith(beginning):
            return
    raise AssertionError((await process.communicate())[1].decode())


def closed(line: str) -> str:
    """A line without the spaces that one language writes into JSON."""
    return line.replace('": "', '":"')


def kinds(lines: list[str]) -> list[str]:
    """What started turns, in order."""
    return [line.partition(":")[0] for line in lines if line.startswith(("step: ", "terminal: "))]


async def test_it_plays_a_whole_session(tmp_path: Path, language: str) -> None:
    """Two steps, one of them refused at first and asked again, and the end is told."""
    with hosted(tmp_path) as host:
        lines = await said(await adapter(language, host.home, host.project, "far too long", "one", "two"))
        assert lines[0].startswith("step: What is the first word?")
        assert kinds(lines) == ["step", "step", "step", "terminal"]
        assert "at most nine letters" in "\n".join(lines)
        assert any(line.startswith("step: What comes after one?") for line in lines)
        (asked, _) = host.client.projection_query("requests")["items"]
        assert f"Call the tool `submit` with the request ID {asked['request']} and your answer as the value." in lines
        assert 'The value has to meet this JSON Schema: {"type":"string"}' in map(closed, lines)
        (run,) = host.client.run_list()["items"]
        assert run["status"] == "completed"
        assert host.client.run_output(run["run_id"]) == "two"
        turns = host.client.projection_query("turns")["items"]
        assert [each["state"] for each in turns] == ["ended"] * 4


async def test_an_answer_may_be_an_object(tmp_path: Path, language: str) -> None:
    """What reads as JSON is handed in as such; what does not fit is refused with the path, and corrected."""
    answers = ('{"clean": "yes"}', '{"clean": true, "notes": ["well done"]}')
    with hosted(tmp_path) as host:
        lines = await said(await adapter(language, host.home, host.project, *answers, flow=JUDGES))
        assert "$.clean" in "\n".join(lines)
        assert any(line.startswith("The value has to meet this JSON Schema: ") and '"clean"' in line for line in lines)
        (run,) = host.client.run_list()["items"]
        assert host.client.run_output(run["run_id"]) == {"clean": True, "notes": ["well done"]}


async def test_a_model_without_an_answer_ends_well(tmp_path: Path, language: str) -> None:
    """It says so in its turn, is reminded twice, and hears how the run ended."""
    with hosted(tmp_path) as host:
        lines = await said(await adapter(language, host.home, host.project, "one"), code=1)
        assert kinds(lines) == ["step"] * 4
        # Two reminders, each as it was shown and as it stands on the branch.
        assert lines.count("Your last turn ended without an answer to this.") == 4
        assert lines.count("> I have no answer.") == 3
        assert any(line.startswith("> Workflow asks failed") for line in lines)
        (run,) = host.client.run_list()["items"]
        assert host.client.run_status(run["run_id"])["error"]["code"] == "missing_submission"


#: A program that coordinates a session of an agent at rest, in which it starts nothing itself.
RESTS = {
    "python": """
import asyncio, runpy, sys
from pathlib import Path
from runwright.engine.client import AsyncClient
names = runpy.run_path(sys.argv[1])
async def model(message, text):
    print(message["kind"], flush=True)
    return "Noted."
async def main():
    agent = names["Agent"](model)
    async with await AsyncClient.connect(Path(sys.argv[2]), client=f"example:{agent.session}") as client:
        print(agent.session, flush=True)
        await names["Adapter"](client, agent).run()
asyncio.run(main())
""",
    "node": """
const [example, home] = process.argv.slice(-2);
const { Agent, Adapter } = await import(example);
const { Client } = await import(new URL("client.mjs", `file://${example}`));
const agent = new Agent(async (message) => (console.log(message.kind), "Noted."));
const client = new Client(home, `example:${agent.session}`);
const adapter = new Adapter(client, agent);
await adapter.attach();
console.log(agent.session);
await adapter.run();
client.close();
""",
}


async def test_a_run_that_is_started_from_outside_begins(tmp_path: Path, language: str) -> None:
    """The agent rests and hears of nothing but the view that names the run; the adapter says that it rests."""
    program, example = ADAPTERS[language]
    rests = tmp_path / {"python": "rests.py", "node": "rests.mjs"}[language]
    rests.write_text(RESTS[language])
    with hosted(tmp_path) as host:
        (host.project / "flow.py").write_text(FLOW)
        command = [program, str(rests), example, str(host.home)]
        process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
        assert process.stdout is not None
        session = (await process.stdout.readline()).decode().strip()
        async with await AsyncClient.connect(host.home, client="tests") as client:
            while not (await client.session_view(session))["epoch"]:
                await asyncio.sleep(0.02)
            await client.run_start("flow.py", {}, cwd=host.project, session=session)
        assert await said(process) == ["step", "step", "step"]


@pytest.mark.parametrize("after", ["step: What is the first", "step: What comes after"])
async def test_it_outlives_its_host(tmp_path: Path, language: str, after: str) -> None:
    """The host is killed while a turn goes on or ends; the adapter attaches anew, and nothing comes twice."""
    with hosted(tmp_path) as host:
        process = await adapter(language, host.home, host.project, "one", "two")
        await heard(process, after)
        await asyncio.to_thread(host.kill)
        await asyncio.to_thread(host.start_again)
        lines = await said(process)
        (run,) = host.client.run_list()["items"]
        assert run["status"] == "completed"
        shown = [line for line in lines if line.startswith("> ") and "?" in line]
        assert len(shown) == len(set(shown))


async def test_lost_replies_double_nothing(tmp_path: Path, language: str) -> None:
    """Whatever it says again when a reply was lost was said once, and nothing stands on the branch twice."""
    async with served(tmp_path / "home") as host, relayed(host, tmp_path / "front") as relay:
        relay.lose, relay.keep = 8, 2
        lines = await said(await adapter(language, relay.path.parent, tmp_path, "one", "two"))
        assert relay.lost == 8
        assert kinds(lines) == ["step", "step", "terminal"]
        runs = (await host.engine.query("runs")).items
        assert [row["status"] for row in runs] == ["completed"]
        await check_once(host)


async def test_it_leaves_the_session_to_whoever_attaches(tmp_path: Path, language: str) -> None:
    """The one before ends with the reason; the session is the other's."""
    with hosted(tmp_path) as host:
        process = await adapter(language, host.home, host.project, "one", flow=WAITS)
        while not (runs := host.client.run_list(live=True)["items"]) or runs[0]["status"] != "waiting":
            await asyncio.sleep(0.02)
        session = host.client.run_status(runs[0]["run_id"])["session"]
        async with await AsyncClient.connect(host.home, client="tests") as other:
            await other.session_attach(session, agent="tests")
        _, err = await process.communicate()
        assert process.returncode == {"python": 1, "node": 2}[language]
        assert f"attached to session {session} last" in err.decode()
        assert "Traceback" not in err.decode()
