"""`Client` and `AsyncClient` behave the same, and as the engine itself: each scenario is asked of both."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from runwright import (
    Adopted,
    Applied,
    ConflictError,
    Context,
    InputInvalid,
    NotFound,
    Workflow,
    WorkflowNotFound,
)
from runwright.engine.host.serving.fitting import size_of
from runwright.engine.protocol.fields import load
from runwright.engine.protocol.operations import OPERATIONS
from runwright.engine.reading.errors import OutputMissing
from support.clients import KINDS, connected, ended, taken
from support.serving import served

pytestmark = pytest.mark.parametrize("kind", KINDS)

FLOW = '''"""A workflow that a host can find."""

from attrs import frozen

from runwright import Context, Workflow


@frozen
class Job:
    """What to do."""

    number: int


workflow = Workflow("numbers", input=Job)


@workflow.compute
def double(ctx: Context[Job]) -> int:
    """Twice the number."""
    ctx.log.info("doubling")
    return ctx.input.number * 2


@workflow.compute
def text(ctx: Context[Job]) -> str:
    """As many letters."""
    return "x" * ctx.outputs["double"]


workflow.entry(double)
workflow.then(double, text)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a workflow."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "numbers.py").write_text(FLOW)
    return folder


async def test_a_run_from_start_to_output(kind: str, tmp_path: Path, project: Path) -> None:
    """A run is started, followed and read; what it answers is what the engine answers, and large values come whole."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        started = await client.run_start("numbers.py", {"number": 500_000}, cwd=project)
        assert isinstance(started, Applied)
        view = await ended(client, started.value)
        assert view["status"]["status"] == "completed"
        assert size_of(view) < 16 * 1024
        assert await client.run_output(started.value) == "x" * 1_000_000
        assert await client.run_output(started.value, "double") == 1_000_000
        assert await client.run_output(started.value, "double", 1) == 1_000_000
        own = (await host.engine.status(started.value)).document()
        assert await client.run_status(started.value) == own
        page = await client.run_list()
        assert page["items"] == [own]
        assert (await client.run_list(live=True))["items"] == []


async def test_the_same_key_adopts_the_same_run(kind: str, tmp_path: Path, project: Path) -> None:
    """A repeat under the same key answers the first run; with another payload it conflicts, by the same error."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        first = await client.run_start("numbers.py", {"number": 1}, cwd=project, key="k")
        again = await client.run_start("numbers.py", {"number": 1}, cwd=project, key="k")
        assert isinstance(again, Adopted)
        assert again.value == first.value
        with pytest.raises(ConflictError) as refused:
            await client.run_start("numbers.py", {"number": 2}, cwd=project, key="k")
        assert refused.value.code == "key_reused"
        assert refused.value.evidence["run"] == first.value
        assert len((await host.engine.query("runs")).items) == 1


async def test_errors_are_those_of_the_engine(kind: str, tmp_path: Path, project: Path) -> None:
    """Class, code, sentence and hint of a refusal are the same as in process."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        started = await client.run_start("numbers.py", {"number": 1}, cwd=project)
        await ended(client, started.value)
        pairs: list[tuple[Any, Any, type[Exception]]] = [
            (lambda: client.run_status("nope"), lambda: host.engine.status("nope"), NotFound),
            (lambda: client.run_cancel("nope"), lambda: host.engine.cancel("nope"), NotFound),
            (lambda: client.run_pause(started.value), lambda: host.engine.pause(started.value), ConflictError),
            (
                lambda: client.run_output(started.value, "never"),
                lambda: host.engine.output(started.value, "never"),
                OutputMissing,
            ),
            (
                lambda: client.run_start("none.py", {}, cwd=project),
                lambda: host.engine.start("none.py", {}),
                WorkflowNotFound,
            ),
        ]
        for through, direct, cls in pairs:
            with pytest.raises(cls) as far:
                await through()
            with pytest.raises(cls) as near:
                await direct()
            assert type(far.value) is type(near.value)
            for name in ("code", "message", "hint"):
                assert getattr(far.value, name) == getattr(near.value, name)
        with pytest.raises(InputInvalid) as unfit:
            await client.run_start("numbers.py", {"number": "x"}, cwd=project)
        assert unfit.value.path == "$.number"


async def test_steering(kind: str, tmp_path: Path) -> None:
    """Pause, resume, cancel and restart reach the run, and repeats adopt; a revision that has passed conflicts."""
    begun, go = threading.Event(), threading.Event()
    workflow: Workflow[Any] = Workflow("gated")

    def first(ctx: Context[Any]) -> int:
        """Wait."""
        begun.set()
        assert go.wait(30)
        return 1

    def second(ctx: Context[Any]) -> int:
        """Go on."""
        return 2

    workflow.entry(one := workflow.compute(first))
    workflow.then(one, workflow.compute(second))
    async with served(tmp_path / "home", [workflow]) as host, connected(kind, host.home) as client:
        run_id = await host.engine.start(workflow, {})
        assert await asyncio.to_thread(begun.wait, 30)
        revision = (await client.run_status(run_id))["revision"]
        with pytest.raises(ConflictError) as passed:
            await client.run_pause(run_id, expected=revision - 1)
        assert passed.value.code == "revision_changed"
        assert isinstance(await client.run_pause(run_id, expected=revision, key="p"), Applied)
        assert isinstance(await client.run_pause(run_id, expected=revision, key="p"), Adopted)
        go.set()
        async for view in client.view_subscribe(run_id):
            if view["status"]["status"] == "paused":
                break
        assert isinstance(await client.run_resume(run_id), Applied)
        last = [view["status"]["status"] async for view in client.view_subscribe(run_id)][-1]
        assert last == "completed"  # and nothing had to say that this was the last
        restarted = await client.run_restart(run_id)
        assert restarted.value != run_id
        await ended(client, restarted.value)
        assert await client.run_output(restarted.value) == 2
        begun.clear()
        go.clear()
        third = await host.engine.start(workflow, {})
        assert await asyncio.to_thread(begun.wait, 30)
        cancelled = await client.run_cancel(third, reason="no more")
        assert isinstance(cancelled, Applied)
        assert (await client.run_status(third))["status"] == "cancelled"
        go.set()


async def test_requests_are_answered(kind: str, tmp_path: Path) -> None:
    """A checkpoint's request is listed, read whole and answered, and the run behind it goes on."""
    workflow: Workflow[Any] = Workflow("asks")
    asked = workflow.checkpoint(summary="Go on? " * 5_000, name="ask")(lambda ctx: {"note": "n"})
    workflow.entry(asked)
    async with served(tmp_path / "home", [workflow]) as host, connected(kind, host.home) as client:
        run_id = await host.engine.start(workflow, {})
        async for view in client.view_subscribe(run_id):
            if view["status"]["requests"]:
                break
        (item,) = (await client.request_list(run_id))["items"]
        found = await client.request_get(item["request_id"][-6:])
        (own,) = await host.engine.requests(run_id)
        assert found["prompt"] == own.prompt
        assert not item["prompt"]["inline"]
        assert await client.content_read(item["prompt"]) == own.prompt
        answered = await client.request_answer(item["request_id"], "Continue", key="a")
        assert isinstance(answered, Applied)
        assert isinstance(await client.request_answer(item["request_id"], "Continue", key="a"), Adopted)
        assert answered.value != run_id
        await ended(client, answered.value)
        with pytest.raises(NotFound):
            await client.request_get(item["request_id"])


async def test_events_come_once_and_in_order(kind: str, tmp_path: Path, project: Path) -> None:
    """Pages and subscriptions bring each event once, in order, from any position on, with values where asked for."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        run_id = (await client.run_start("numbers.py", {"number": 3}, cwd=project)).value
        await ended(client, run_id)
        own = await host.engine.events(run_id)
        page = await client.events_read(run_id, values=True, limit=4)
        assert [each["position"] for each in page["items"]] == [each.position for each in own[:4]]
        assert page["more"]
        rest = await client.events_read(run_id, after=page["next"])
        assert [each["type"] for each in page["items"] + rest["items"]] == [each.type for each in own]
        values = {each["type"]: each["values"] for each in page["items"]}
        assert values["run.input"]["input"]["value"] == {"number": 3}
        assert all(not each["values"] for each in rest["items"])
        nodes = client.events_subscribe(run_id, types=["node.*"])
        assert [each["type"] for each in await taken(nodes, 4)] == ["node.started", "node.finished"] * 2
        after = nodes.position
        again = client.events_subscribe(after=after)
        second = (await client.run_start("numbers.py", {"number": 4}, cwd=project)).value
        assert (await taken(again, 1))[0]["stream"] != f"run/{run_id}"
        await ended(client, second)
        with pytest.raises(NotFound):
            await taken(client.events_subscribe("nope"), 1)


async def test_logs_follow_to_the_end(kind: str, tmp_path: Path, project: Path) -> None:
    """Lines of a run's output log come once each, by place in the file, and end with the run."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        run_id = (await client.run_start("numbers.py", {"number": 3}, cwd=project)).value
        lines = [each async for each in client.logs_subscribe(run_id)]
        assert len(lines) == 1
        assert lines[0].endswith("doubling")
        page = await client.run_logs(run_id)
        assert page["lines"] == lines
        assert (await client.run_logs(run_id, after=page["next"]))["lines"] == []
        assert (await client.run_logs(run_id, node="text"))["lines"] == []


async def test_every_answer_is_as_written_down(kind: str, tmp_path: Path, project: Path) -> None:
    """What a question answers is exactly of the class that the reference and the schema name."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        run_id = (await client.run_start("numbers.py", {"number": 3}, cwd=project)).value
        await ended(client, run_id)
        asked = {
            "workflow.list": client.workflow_list(project),
            "workflow.check": client.workflow_check("numbers.py", cwd=project, graph="mermaid", input_schema=True),
            "run.status": client.run_status(run_id),
            "run.list": client.run_list(statuses=["completed"], since="2020-01-01T00:00:00Z"),
            "run.logs": client.run_logs(run_id),
            "request.list": client.request_list(),
            "view.get": client.view_get(run_id),
            "view.page": client.view_page(run_id, "visits"),
            "events.read": client.events_read(values=True),
            "projection.list": client.projection_list(),
            "projection.query": client.projection_query("visits", where=[f"run_id={run_id}"], sort=["-visits"]),
            "projection.verify": client.projection_verify(["runs"]),
            "projection.rebuild": client.projection_rebuild(),
            "log.head": client.log_head(),
            "log.redact": client.log_redact(run_id, dry_run=True),
            "store.backup": client.store_backup(tmp_path / "copy.sqlite"),
            "host.status": client.host_status(),
            "host.stop": client.host_stop(),
        }
        head = host.holder.log.head()
        for name, answer in asked.items():
            load(OPERATIONS[name].answer, await answer)
        assert host.host.stopped.is_set()
        assert host.holder.log.head() == head, "a question leaves neither an event nor a receipt"


async def test_redaction_and_backup(kind: str, tmp_path: Path, project: Path) -> None:
    """Erasing and copying go through the host; a value that was erased is not to be had any more."""
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        run_id = (await client.run_start("numbers.py", {"number": 3}, cwd=project)).value
        await ended(client, run_id)
        planned = await client.log_redact(run_id, dry_run=True)
        done = await client.log_redact(run_id, reason="asked for")
        assert done["events"] == planned["events"] > 0
        with pytest.raises(NotFound, match="redacted"):
            await client.run_output(run_id)
        copied = await client.store_backup(tmp_path / "copy.sqlite")
        assert copied["events"] == (await client.log_head())["position"]
        assert (tmp_path / "copy.sqlite").is_file()
