"""A worker process: verifies, loads, says ready, carries its run, and keeps what its code prints."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from runwright.engine.commands.worker import (
    CompleteRun,
    ExitWorker,
    FailRun,
    ParkRun,
    RegisterProcess,
    StartNode,
    SubmitCandidate,
    UnregisterProcess,
)
from runwright.engine.sources.identity import source_set
from runwright.engine.worker.messages import Ask, Command, Exiting, Renew, SayReady, Stop, Unresolved, WorkerMessage
from support.hosting import Hosted, carried, fork_servers

HEAD = """
import fcntl, os, subprocess, sys, termios, time
from runwright import Command, Context, JsonObject, Workflow
flow = Workflow("flow")
"""
TWO_STEPS = (
    HEAD
    + """
print("loading")

def heard(descriptor: int) -> None:
    # Stay at work until what was written is kept: a descriptor does not say who wrote, so whoever is at work has it.
    for more in (b"", b"more\\n"):
        os.write(descriptor, more)
        while any(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))):
            time.sleep(0.001)

@flow.compute
def first(ctx: Context[JsonObject]) -> int:
    print("said by first")
    os.write(1, b"written by first\\n")
    heard(1)
    ctx.log.info("logged by first")
    return 20

@flow.compute
def second(ctx: Context[JsonObject]) -> int:
    subprocess.run(["sh", "-c", "echo from a program >&2"], check=True)
    heard(2)
    return ctx.output(first) + 1

flow.entry(first)
flow.then(first, second)
"""
)
MOUNTING = """
from child import flow as inner, second
from runwright import Workflow

done = inner.exit("done", second)
flow = Workflow("outer")
mount = flow.include("mount", inner, input=lambda ctx: {})
flow.entry(mount)
"""
ASKING = (
    HEAD
    + """
@flow.agent(returns=int)
def ask(ctx: Context[JsonObject]) -> str:
    return "How many?"

flow.entry(ask)
"""
)
LOOKING = (
    HEAD
    + """
@flow.compute
def look(ctx: Context[JsonObject]) -> dict[str, object]:
    forked = os.fork()
    if forked == 0:
        time.sleep(600)
    seen = open(f"/proc/{forked}/environ", "rb").read() if sys.platform == "linux" else b"RUNWRIGHT_RUN_ID=run"
    os.kill(forked, 9)
    os.waitpid(forked, 0)
    return {
        "variable": os.environ["PASSED"],
        "cwd": os.getcwd(),
        "leads": os.getsid(0) == os.getpid(),
        "run": os.environ["RUNWRIGHT_RUN_ID"],
        "marked": b"RUNWRIGHT_RUN_ID=run" in seen.split(b"\\0"),
        "descriptors": sorted(int(name) for name in os.listdir("/dev/fd")),
        "store": "sqlalchemy" in sys.modules,
    }

flow.entry(look)
"""
)


@pytest.mark.parametrize("afresh", [False, True], ids=["forked", "afresh"])
async def test_a_run_is_carried(tmp_path: Path, afresh: bool) -> None:
    """Ready, the nodes in order, the end; then the process is gone."""
    hosted = Hosted(tmp_path, TWO_STEPS)
    async with fork_servers(afresh=afresh) as servers:
        child = await carried(servers, hosted)
    assert isinstance(hosted.messages[0], SayReady)
    assert hosted.port.output("second") == 21
    assert hosted.transitions[-2:] == [CompleteRun(), ExitWorker(outcome="finished", phase=None)]
    assert (hosted.exiting and hosted.exiting.outcome, child.status) == ("finished", 0)
    said = [each for each in hosted.messages if isinstance(each, WorkerMessage)]
    assert {(each.run_id, each.generation, each.worker) for each in said} == {("run", 1, "worker")}
    assert [each.id for each in said] == list(range(1, len(said) + 1))


async def test_what_it_prints_is_kept_under_its_node(tmp_path: Path) -> None:
    """Python's own streams, the descriptor, programs, and what is said while loading."""
    hosted = Hosted(tmp_path, TWO_STEPS)
    async with fork_servers() as servers:
        await carried(servers, hosted)
    lines = [line.partition(" ")[2] for line in hosted.printed.splitlines()]
    assert {"worker: loading", "first: said by first", "first INFO: logged by first"} <= set(lines)
    assert {"first: written by first", "second: from a program"} <= set(lines)


async def test_it_sees_its_own_world_and_no_other(tmp_path: Path) -> None:
    """Its folder, its variables, its own session, its mark also in what it forks, and none of its host's files."""
    (tmp_path / "else").mkdir()
    hosted = Hosted(tmp_path, LOOKING, environment={"PASSED": "on"}, cwd=tmp_path / "else")
    async with fork_servers() as servers:
        await carried(servers, hosted)
    seen: Any = hosted.port.output("look")
    assert seen.pop("descriptors")[-1] < 16
    assert seen == {
        "variable": "on",
        "cwd": str(tmp_path / "else"),
        "leads": True,
        "run": "run",
        "marked": True,
        "store": False,
    }


@pytest.mark.parametrize("began", [False, True])
async def test_changed_sources_are_not_loaded(tmp_path: Path, began: bool) -> None:
    """The launch fails, or the run that had begun parks; nothing of the file is run."""
    hosted = Hosted(tmp_path, TWO_STEPS, began=began)
    (tmp_path / "flow.py").write_text("raise SystemExit")
    async with fork_servers() as servers:
        await carried(servers, hosted)
    end, exit = hosted.transitions
    assert exit == ExitWorker(outcome="failed", phase="load", code="source_changed")
    if began:
        assert isinstance(end, ParkRun)
        assert (end.reason, end.code) == ("source_changed", "source_changed")
        assert "flow.py" in (end.detail or "")
    else:
        assert isinstance(end, FailRun)
        assert (end.code, end.phase) == ("source_changed", "load")
    assert hosted.printed == ""


@pytest.mark.parametrize(("gone", "code"), [(False, "source_changed"), (True, "workflow_not_found")])
@pytest.mark.parametrize("began", [False, True])
async def test_a_mounted_childs_file_counts_like_the_roots(tmp_path: Path, began: bool, gone: bool, code: str) -> None:
    """A launch names what differs and what is gone apart; a run that had begun waits in both cases. No node runs."""
    (tmp_path / "child.py").write_text(TWO_STEPS)
    hosted = Hosted(tmp_path, MOUNTING, began=began)
    (tmp_path / "child.py").unlink() if gone else (tmp_path / "child.py").write_text(TWO_STEPS + "# more\n")
    async with fork_servers() as servers:
        await carried(servers, hosted)
    end, _ = hosted.transitions
    if began:
        assert isinstance(end, ParkRun)
        assert (end.reason, end.code) == ("source_changed", "source_changed")
        assert "child.py" in (end.detail or "")
    else:
        assert isinstance(end, FailRun)
        assert end.code == code
        assert "child.py" in end.message


async def test_sources_that_change_while_they_are_loaded_are_noticed(tmp_path: Path) -> None:
    """They are verified again after loading."""
    hosted = Hosted(tmp_path, TWO_STEPS)
    changing = (tmp_path / "flow.py").read_text() + "\nopen(__file__, 'a').write('# more')\n"
    (tmp_path / "flow.py").write_text(changing)
    hosted.launch = evolve(hosted.launch, sources=source_set(tmp_path, [tmp_path / "flow.py"]).files)
    async with fork_servers() as servers:
        await carried(servers, hosted)
    end, _ = hosted.transitions
    assert isinstance(end, FailRun)
    assert end.code == "source_changed"


async def test_what_cannot_be_loaded_though_nothing_changed(tmp_path: Path) -> None:
    """A run that had begun waits for its environment; a missing module is named."""
    hosted = Hosted(tmp_path, TWO_STEPS, began=True)
    (tmp_path / "flow.py").write_text("import missing_module_of_a_test\n" + TWO_STEPS)
    hosted.launch = evolve(hosted.launch, sources=source_set(tmp_path, [tmp_path / "flow.py"]).files)
    async with fork_servers() as servers:
        await carried(servers, hosted)
    end, _ = hosted.transitions
    assert isinstance(end, ParkRun)
    assert (end.reason, end.code) == ("environment_missing", "workflow_invalid")


async def test_another_definition_is_refused(tmp_path: Path) -> None:
    """Also where its files are the same."""
    hosted = Hosted(tmp_path, TWO_STEPS, definition="00" * 32)
    async with fork_servers() as servers:
        await carried(servers, hosted)
    assert isinstance(hosted.transitions[0], FailRun)


async def test_an_executor_is_registered_before_it_gets_its_prompt(tmp_path: Path) -> None:
    """By exact identity, and taken off when it is gone; nothing of the prompt is seen before."""
    script = tmp_path / "agent.py"
    script.write_text("import sys, os\nprompt = sys.stdin.read()\nprint(len(prompt) and 7)\n")
    hosted = Hosted(tmp_path, ASKING, agents={"default": f"cmd:python3 {script}"})
    async with fork_servers() as servers:
        await carried(servers, hosted)
    kinds = [type(each) for each in hosted.transitions]
    registered = [each.process for each in hosted.transitions if isinstance(each, RegisterProcess)]
    assert kinds.index(RegisterProcess) < kinds.index(UnregisterProcess) < kinds.index(SubmitCandidate)
    assert [each.process for each in hosted.transitions if isinstance(each, UnregisterProcess)] == registered
    assert hosted.port.output("ask") == 7


async def test_an_executor_of_another_kind_is_not_there(tmp_path: Path) -> None:
    """The run parks where it is asked; its specification is shown nowhere."""
    hosted = Hosted(tmp_path, ASKING, agents={"default": "hunter2"})
    async with fork_servers() as servers:
        await carried(servers, hosted)
    parked = hosted.port.parked
    assert parked
    assert (parked.reason, parked.code) == ("environment_missing", "agent_missing")
    assert "hunter2" not in hosted.printed


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are looked at there")
async def test_what_it_forks_does_not_hold_its_channel(tmp_path: Path) -> None:
    """Its host sees the end of the channel when the worker ends, whatever lives on."""
    hosted = Hosted(tmp_path, HEAD + FORKING)
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(hosted.launch)
        async with asyncio.timeout(60):
            while (message := await child.receive()) is not None:
                await hosted.answer(child, message)
        assert await child.end()
        assert child.status == 3


FORKING = """
@flow.compute
def fork(ctx: Context[JsonObject]) -> int:
    if os.fork() == 0:
        time.sleep(600)
    os._exit(3)

flow.entry(fork)
"""


async def test_it_renews_from_a_thread_of_its_own(tmp_path: Path) -> None:
    """Also while its code never lets go."""
    hosted = Hosted(tmp_path, HEAD + SPINNING, renewal=0.05)
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(hosted.launch)
        for _ in range(3):
            await hosted.until(child, Renew)
        assert await child.end(grace=0.1)


SPINNING = """
@flow.compute
def spin(ctx: Context[JsonObject]) -> int:
    while True:
        pass

flow.entry(spin)
"""


async def test_it_parks_at_the_next_boundary_when_it_is_told_to_stop(tmp_path: Path) -> None:
    """The node under way ends, the next one does not start."""
    hosted = Hosted(tmp_path, TWO_STEPS)
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(hosted.launch)
        ready = await hosted.until(child, SayReady)
        await child.send(Stop())
        await hosted.answer(child, ready)
        last = await hosted.until(child, Exiting)
        assert await child.end()
    assert isinstance(last, Exiting)
    assert last.outcome == "parked"
    assert hosted.transitions[-2:] == [ParkRun(reason="host_stopped"), ExitWorker(outcome="parked")]
    assert not any(isinstance(each, StartNode) for each in hosted.transitions)


async def test_a_lost_claim_ends_it(tmp_path: Path) -> None:
    """It writes nothing more and says why it leaves."""
    hosted = Hosted(tmp_path, TWO_STEPS)
    hosted.port.lost = True
    async with fork_servers() as servers:
        await carried(servers, hosted)
    assert hosted.exiting
    assert hosted.exiting.outcome == "claim_lost"
    assert len(hosted.port.lists) == 1


async def test_a_large_run_and_large_values_go_over_the_channel(tmp_path: Path) -> None:
    """In parts, both ways."""
    hosted = Hosted(tmp_path, HEAD + LARGE)
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(hosted.launch)
        await hosted.until(child, SayReady)
        await child.send(Command(state=evolve(hosted.state, input={"text": "x" * 3_000_000})))
        last = await hosted.until(child, Exiting)
        assert await child.end()
    assert isinstance(last, Exiting)
    assert last.outcome == "finished"
    assert hosted.port.output("copy") == "x" * 3_000_000


LARGE = """
@flow.compute
def copy(ctx: Context[JsonObject]) -> str:
    return ctx.input["text"]

flow.entry(copy)
"""


async def test_what_is_no_question_is_refused(tmp_path: Path) -> None:
    """A resolver says so, and ends."""
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(Ask(question={"hunt": 1}, cwd=tmp_path))
        assert isinstance(await child.receive(), Unresolved)
        assert await child.receive() is None
        assert await child.exited() == 0
        assert await child.end()


async def test_its_code_is_ended_by_sigterm_in_good_order(tmp_path: Path) -> None:
    """A coroutine of the user's hears of its cancellation."""
    hosted = Hosted(tmp_path, HEAD + WAITING)
    async with fork_servers() as servers:
        child = await servers.spawn()
        await child.send(hosted.launch)
        while not (tmp_path / "waits").exists():
            message = await child.receive()
            assert message is not None
            await hosted.answer(child, message)
            if any(isinstance(each, StartNode) for each in hosted.transitions):
                break
        await _appears(tmp_path / "waits")
        os.kill(child.identity.pid, signal.SIGTERM)
        last = await hosted.until(child, Exiting)
        assert await child.end()
    assert isinstance(last, Exiting)
    assert last.outcome == "crashed"
    assert (tmp_path / "cleaned").exists()


WAITING = """
import asyncio
from pathlib import Path

@flow.compute
async def wait(ctx: Context[JsonObject]) -> int:
    Path("waits").touch()
    try:
        await asyncio.sleep(600)
    finally:
        Path("cleaned").touch()
    return 1

flow.entry(wait)
"""


async def _appears(path: Path) -> None:
    async with asyncio.timeout(60):
        while not path.exists():
            await asyncio.sleep(0.01)
