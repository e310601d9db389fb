"""What an engine does with runs whose graph another version recorded in a form of its own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from runwright import AsyncEngine, Context, JsonObject, Workflow
from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.embedded.presentation import Presenting, delay_after
from runwright.engine.errors import ConflictError
from runwright.engine.graph.definition import Definition
from runwright.eventstore.events.worker import PresentationFailed
from support.engine_session import attached
from support.engines import until


def slow(gate: asyncio.Event, begun: asyncio.Event, **more: Any) -> Workflow[JsonObject]:
    """A workflow of one node, which waits."""
    flow: Workflow[JsonObject] = Workflow("slow", **more)

    @flow.compute
    async def wait(ctx: Context[JsonObject]) -> int:
        begun.set()
        await gate.wait()
        return 1

    flow.entry(wait)
    return flow


@pytest.fixture
def older() -> Iterator[pytest.MonkeyPatch]:
    """What makes this version an older one, with `age`, until it is undone."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def age(older: pytest.MonkeyPatch) -> None:
    """From now on nothing that was recorded can be read."""

    def unknown(_: object) -> NoReturn:
        raise NotConvertible("has a field that is not known")

    older.setattr(Definition, "from_snapshot", unknown)


async def test_a_run_says_that_this_version_cannot_follow_it(tmp_path: Path, older: pytest.MonkeyPatch) -> None:
    """It parks by that name, is refused a resume by it, and goes on as it was where it can be read."""
    gate, begun = asyncio.Event(), asyncio.Event()
    flow = slow(gate, begun)
    async with AsyncEngine.open(tmp_path / "home") as engine:
        run_id = await engine.start(flow, {})
        await begun.wait()
        await engine.close(grace=0)
    age(older)
    async with AsyncEngine.open(tmp_path / "home", workflows=[flow]) as engine:

        async def parked() -> bool:
            reason = (await engine.status(run_id)).reason
            return reason is not None and reason.code == "unsupported"

        await until(parked)
        reason = (await engine.status(run_id)).reason
        assert reason is not None
        assert "Workflow slow was recorded by a version of runwright" in (reason.detail or "")
        with pytest.raises(ConflictError) as refused:
            await engine.resume(run_id)
        assert refused.value.code == "unsupported"
    older.undo()
    gate.set()
    async with AsyncEngine.open(tmp_path / "home", workflows=[flow]) as engine:
        await engine.resume(run_id)
        assert (await engine.wait(run_id)).output == 1


async def test_the_end_of_such_a_run_is_told_of_once_it_can_be_read(
    tmp_path: Path, older: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be told stands in the graph: until then nothing is invented, and the failure has a name."""

    async def never(self: Presenting, run_id: str) -> None:
        await asyncio.sleep(0)

    gate, begun = asyncio.Event(), asyncio.Event()
    gate.set()
    with monkeypatch.context() as patched:
        patched.setattr(Presenting, "_present", never)
        async with AsyncEngine.open(tmp_path / "home") as engine:
            pi = await attached(engine)
            run_id = await engine.start(slow(gate, begun, presentation="Say it."), {}, session="s1")
            await pi.settle()
            assert (await engine.wait(run_id)).status == "completed"
    age(older)
    async with AsyncEngine.open(tmp_path / "home") as engine:

        async def failed() -> bool:
            return (await engine.status(run_id)).presentation.state == "failed"

        await until(failed)
        assert (await engine.query("messages")).items == []
        failures = [each.event for each in await engine.events(run_id, types=["presentation.failed"])]
        assert {each.code for each in failures if isinstance(each, PresentationFailed)} == {"unsupported"}
    older.undo()
    async with AsyncEngine.open(tmp_path / "home") as engine:

        async def told() -> bool:
            return [row["starts_turn"] for row in (await engine.query("messages")).items] == [True]

        await until(told)


def test_each_failure_to_tell_waits_twice_as_long() -> None:
    """From a second to an hour."""
    assert [delay_after(failures) for failures in range(1, 5)] == [1, 2, 4, 8]
    assert [delay_after(failures) for failures in (12, 13, 14, 1_000)] == [2_048, 3_600, 3_600, 3_600]
