"""Launches in sessions whose executor the next engine was not handed: they fail, and the session hears it."""

from pathlib import Path

from runwright import AsyncEngine, CallableAgent, Context, JsonObject, Workflow
from support.engine_session import attached
from support.engines import until


def reviewing() -> Workflow[JsonObject]:
    """One node, which names its executor."""
    flow: Workflow[JsonObject] = Workflow("reviewing")

    @flow.agent(by="reviewer")
    def review(ctx: Context[JsonObject]) -> str:
        return "Look at it."

    flow.entry(review)
    return flow


async def test_a_launch_in_a_session_fails_and_frees_it(tmp_path: Path) -> None:
    """It was accepted with its executor; without it nobody would ever carry it on, and the session would be held."""
    agents = {"reviewer": CallableAgent(lambda request: "fine")}
    async with AsyncEngine.open(tmp_path / "home", agents=agents) as engine:
        await attached(engine)
        run_id = await engine.start(reviewing(), {}, session="s1")
    async with AsyncEngine.open(tmp_path / "home", workflows=[reviewing()]) as engine:
        pi = await attached(engine)
        await pi.settle()
        outcome = await engine.wait(run_id)
        assert outcome.status == "failed"
        status = await engine.status(run_id)
        assert status.error is not None
        assert status.error.code == "agent_missing"
        assert "reviewer" in status.error.message

        async def told() -> bool:
            return (await pi.view()).current is not None

        await until(told)
        assert await pi.receive() == f"launch_failure:{run_id}"


async def test_what_a_program_started_waits_for_its_executor(tmp_path: Path) -> None:
    """Without a session whoever started it hands the executor in again; it keeps its place, and its input."""
    agents = {"reviewer": CallableAgent(lambda request: "fine")}
    async with AsyncEngine.open(tmp_path / "home", agents=agents) as engine:
        run_id = await engine.start(reviewing(), {}, drive=False)
    async with AsyncEngine.open(tmp_path / "home", workflows=[reviewing()]) as engine:
        assert (await engine.wait(run_id, until="waiting")).status == "queued"
    async with AsyncEngine.open(tmp_path / "home", workflows=[reviewing()], agents=agents) as engine:
        assert (await engine.wait(run_id)).output == "fine"
