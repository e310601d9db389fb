"""What is erased goes from every file of a store that is still held: page 02, "Erasing private values"."""

import subprocess
from pathlib import Path

import pytest

from runwright import AsyncEngine, Context, JsonObject, Surroundings, Workflow
from runwright.engine.embedded import housekeeping
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.redacting import redact_tree
from runwright.engine.reading.reader import Reader
from runwright.eventstore.events.log import LogRedacted, LogScrubbed
from support.engine_session import attached
from support.engines import until
from support.sound import check_sound

CANARY = "c4n4ry-of-an-input"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at once, and again after a moment."""
    for name in ("DELAY", "SOON", "AGAIN", "FIRST"):
        monkeypatch.setattr(housekeeping, name, 0.05)


def echo() -> Workflow[JsonObject]:
    """A workflow that gives its input back."""
    workflow: Workflow[JsonObject] = Workflow("echo")

    @workflow.compute
    def give(ctx: Context[JsonObject]) -> JsonObject:
        return ctx.input

    workflow.entry(give)
    return workflow


def holding(home: Path) -> list[str]:
    """The files that hold the canary; another process looks, for closing one of them here would end SQLite's locks."""
    found = subprocess.run(["grep", "-rlaF", CANARY, home], capture_output=True, text=True, check=False)
    return found.stdout.split()


async def scrubbed(engine: AsyncEngine, times: int) -> None:
    """Wait until so many erasures are closed, and nothing is left to do."""

    async def closed() -> bool:
        return len(await engine.events(types=[LogScrubbed.type])) == times and engine._holder.settled

    await until(closed)


async def test_the_input_of_a_failed_launch_goes_while_the_store_is_held(tmp_path: Path) -> None:
    """S10: not only from the log, and without a restart: its bytes stood in the file beside it until then."""
    home = tmp_path / "home"
    async with AsyncEngine.open(home) as engine:
        await attached(engine)
        for times in (1, 2):
            run_id = await engine.start(echo(), {"text": CANARY}, session="s1", drive=False)
            assert holding(home)
            await engine.cancel(run_id)
            await scrubbed(engine, times)
            assert holding(home) == []
    check_sound(home)


async def test_a_reader_in_the_way_is_waited_for(tmp_path: Path) -> None:
    """The bytes go a moment after it has gone, and until then something is left to do."""
    home = tmp_path / "home"
    async with AsyncEngine.open(home) as engine:
        run_id = await engine.start(echo(), {"text": CANARY})
        await engine.wait(run_id)
        with Reader.open(home) as reader, reader.log.snapshot() as snapshot:
            assert snapshot.position()
            log = engine._holder.log
            done = redact_tree(log, run_id, reason="asked", by="tests", actor="tests")
            assert done.pending
            assert not engine._holder.settled
        await scrubbed(engine, 1)
        assert holding(home) == []
    check_sound(home)


async def test_what_has_grown_old_loses_its_values_by_itself(tmp_path: Path) -> None:
    """`redact_after`: each project's own age decides, and what is younger, or of no project with one, stays."""
    home, old, young, silent = (tmp_path / name for name in ("home", "old", "young", "silent"))
    async with AsyncEngine.open(home) as engine:
        runs = {}
        for project in (old, young, silent):
            (project / ".runwright").mkdir(parents=True)
            run_id = await engine.start(
                echo(), {"text": CANARY}, surroundings=Surroundings(cwd=project, project=project)
            )
            await engine.wait(run_id)
            runs[project] = run_id
        assert [(await engine.query("runs", where=[f"run_id={runs[old]}"])).items[0]["project"]] == [str(old)]
    holder = Holder.open(home, redact_after={old: 0.0, young: 3600.0, silent: None, None: None}.get)
    try:
        redacted: list[str] = []
        news = holder.log.subscribe(holder.log.head().position)
        while (recorded := news.next(timeout=60)) is not None and recorded.type != LogScrubbed.type:
            if isinstance(recorded.event, LogRedacted):
                redacted.append(recorded.event.run)
        assert redacted == [runs[old]]
    finally:
        holder.close()
    with Reader.open(home) as reader:
        assert [reader.output(runs[each]) for each in (young, silent)] == [{"text": CANARY}] * 2
    check_sound(home)
