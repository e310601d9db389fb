"""The small parts of a host: its log, its leaving, what it tells its starter, what it keeps in memory only."""

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from runwright.engine.commands.client import ResumeRun
from runwright.engine.commands.worker import ParkRun, StartNode
from runwright.engine.embedded.launcher import Provisions
from runwright.engine.host.errors import EnvironmentMissing
from runwright.engine.host.host_log import HostLog
from runwright.engine.host.idling import Idling
from runwright.engine.host.launching import Needs
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.host.readiness import VARIABLE, NotReady, Readiness, hear
from runwright.engine.host.troubles import MOST, Troubles
from runwright.eventstore.errors import UnsafeHome
from runwright.eventstore.events.run import AgentBinding
from support.graphs import graph, node
from support.scripted_workers import ScriptedChild, scene
from support.stage import queue_command

# --- the log ------------------------------------------------------------------------------------------------------


def record(message: str) -> logging.LogRecord:
    """Something to log."""
    return logging.LogRecord("runwright.host", logging.WARNING, "", 0, message, (), None)


def test_the_log_is_private_and_put_aside_once(tmp_path: Path) -> None:
    """0600 under any umask, bounded, with what was before in one file beside it."""
    path = tmp_path / "host.log"
    before = os.umask(0)
    try:
        log = HostLog(path, limit=200)
        for number in range(20):
            log.emit(record(f"line {number}"))
        log.close()
    finally:
        os.umask(before)
    aside = tmp_path / "host.log.1"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["host.log", "host.log.1"]
    for each in (path, aside):
        assert each.stat().st_mode & 0o777 == 0o600
        assert each.stat().st_size <= 200
    assert path.read_text().endswith("warning line 19\n")


def test_the_log_is_no_link(tmp_path: Path) -> None:
    """What somebody put there is not written."""
    (tmp_path / "host.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeHome):
        HostLog(tmp_path / "host.log")
    assert not (tmp_path / "elsewhere").exists()


# --- leaving ------------------------------------------------------------------------------------------------------


async def test_a_host_leaves_after_a_period_in_which_nothing_happened() -> None:
    """Each look that finds something new, or somebody there, begins another period."""
    left = asyncio.Event()
    looks: list[str] = []
    moved, busy = iter([1, 2, 2, 2]), iter([True, False])

    def is_busy() -> bool:
        looks.append("busy")
        return next(busy)

    Idling(0.01, gone=lambda: False, moved=lambda: next(moved), busy=is_busy, leave=left.set)
    await left.wait()
    assert looks == ["busy", "busy"]
    assert next(moved, None) is None


async def test_a_host_whose_store_is_gone_leaves_whatever_it_is_at() -> None:
    """At the next look."""
    left = asyncio.Event()
    gone = iter([False, True])
    news = iter(range(9))
    Idling(0.01, gone=lambda: next(gone), moved=lambda: next(news), busy=lambda: True, leave=left.set)
    await left.wait()
    assert next(gone, None) is None


async def test_a_host_that_stops_looks_no_more() -> None:
    """It leaves already."""
    left: list[int] = []
    idling = Idling(0.0, gone=lambda: False, moved=lambda: 1, busy=lambda: False, leave=lambda: left.append(1))
    idling.close()
    await asyncio.sleep(0.02)
    assert left == []


# --- readiness ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [None, NotReady("store_in_use", "Somebody has it.", "wait")])
def test_the_starter_hears_what_the_host_says(monkeypatch: pytest.MonkeyPatch, word: NotReady | None) -> None:
    """Once, and nothing that the host starts finds the way to say it again."""
    hearing, saying = os.pipe()
    monkeypatch.setenv(VARIABLE, str(saying))
    readiness = Readiness.taken()
    assert VARIABLE not in os.environ
    assert readiness.wanted
    readiness.say(word)
    assert hear(hearing) == word
    assert not readiness.wanted
    os.close(hearing)


@pytest.mark.parametrize("said", [b"", b"[1]\n", b"no json\n"])
def test_a_host_that_says_nothing_sensible_is_not_ready(said: bytes) -> None:
    """It ended, or was something else."""
    hearing, saying = os.pipe()
    os.write(saying, said)
    os.close(saying)
    told = hear(hearing)
    os.close(hearing)
    assert told is not None
    assert told.code == "host_unavailable"


def test_nobody_waits_for_a_host_in_the_foreground(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the variable names no descriptor of this process."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not Readiness.taken().wanted
    monkeypatch.setenv(VARIABLE, "999999")
    assert not Readiness.taken().wanted


# --- what is kept in memory ---------------------------------------------------------------------------------------

NEEDS = Needs(agents=("default", "reviewer"), variables=("TOKEN", "PLACE"))


def settled(project: Path | None) -> Mapping[str, str]:
    """The settings of a project name one executor."""
    assert project == Path("/project")
    return {"reviewer": "cmd:review", "other": "cmd:other"}


def test_what_was_handed_over_comes_first() -> None:
    """Then the settings, for executors, and the host's own environment, for variables."""
    provisioning = Provisioning(settled, {"TOKEN": "of the host", "PLACE": "here"})
    provisioning.keep("run", Provisions(agents={"default": "cmd:ask"}, env={"TOKEN": "secret"}))
    found = provisioning.of("run", NEEDS, Path("/project"))
    assert found.agents == {"default": "cmd:ask", "reviewer": "cmd:review"}
    assert found.env == {"TOKEN": "secret", "PLACE": "here"}
    assert "secret" not in repr(found)
    provisioning.forget("run")
    with pytest.raises(EnvironmentMissing) as missing:
        provisioning.of("run", NEEDS, Path("/project"))
    assert missing.value.agents == ("default",)


def test_a_person_at_a_terminal_is_handed_over_by_nobody() -> None:
    """Whoever it was answers the open request: no settings put a command in their place, what is handed over does."""
    needs = Needs(agents=("default", "reviewer"), variables=(), people=frozenset({"reviewer", "default"}))
    provisioning = Provisioning(settled, {})
    assert provisioning.of("run", needs, Path("/project")).agents == {"default": "console", "reviewer": "console"}
    assert provisioning.kinds("run", Path("/project"), needs.people)["reviewer"] == "ConsoleAgent"
    provisioning.keep("run", Provisions(agents={"reviewer": "cmd:review"}))
    assert provisioning.of("run", needs, Path("/project")).agents == {"default": "console", "reviewer": "cmd:review"}


def test_what_is_missing_is_named_without_values() -> None:
    """With the line that hands it over again."""
    provisioning = Provisioning(lambda _: {}, {})
    provisioning.keep("run", Provisions(env={"TOKEN": "secret"}))
    with pytest.raises(EnvironmentMissing) as missing:
        provisioning.of("run", NEEDS, Path("/project"))
    text = f"{missing.value.message} {missing.value.hint}"
    assert "secret" not in text
    for each in ("'default'", "'reviewer'", "PLACE", "runwright resume run --agent default=SPEC"):
        assert each in text


async def test_a_run_whose_environment_is_gone_waits_for_it(tmp_path: Path) -> None:
    """After a restart of the host: a started run parks by name, one that never started keeps its place."""
    flow = graph(node("one"))

    async def parks(child: ScriptedChild) -> None:
        await child.begin()
        assert child.launch is not None
        assert child.launch.agents == {"default": "cmd:ask"}
        assert child.launch.environment == {"TOKEN": "secret"}
        assert "secret" not in repr(child.launch)
        await child.applied(StartNode(path="one", visit=1, attempt=1))
        await child.leave(ParkRun(reason="host_stopped"), outcome="parked")

    async with scene(tmp_path) as at:
        bindings = (AgentBinding(name="default", kind="CommandAgent"),)
        at.ask(queue_command(flow, "run-1", reference="flow.py", agents=bindings, pass_env=("TOKEN",)))
        at.launcher.provide("run-1", Provisions(agents={"default": "cmd:ask"}, env={"TOKEN": "secret"}))
        assert at.launcher.takes(at.run())
        assert at.launcher.agents("run-1") == {"default": "CommandAgent"}
        await at.launch(parks)
        at.launcher.forget("run-1")  # as a restart does
        with pytest.raises(EnvironmentMissing):
            at.launcher.takes(at.run())
        assert await at.launcher.launch("run-1", None) is None
        assert at.stands() == ("parked", "environment_missing", False)
        assert "TOKEN" in (at.detail() or "")
        at.launcher.provide("run-1", Provisions(agents={"default": "cmd:ask"}, env={"TOKEN": "secret"}))
        at.ask(ResumeRun(run_id="run-1"))
        await at.launch(parks_again)


async def parks_again(child: ScriptedChild) -> None:
    """Go on, and stop at the next boundary."""
    await child.begin()
    await child.leave(ParkRun(reason="host_stopped"), outcome="parked")


# --- troubles -----------------------------------------------------------------------------------------------------


def test_the_last_troubles_are_told_first() -> None:
    """A bounded number of codes with their times."""
    times = iter(range(MOST + 5))
    troubles = Troubles(lambda: next(times))
    for number in range(MOST + 5):
        troubles.note(f"code_{number}")
    assert troubles.seen()[0] == (f"code_{MOST + 4}", MOST + 4)
    assert len(troubles.seen()) == MOST
