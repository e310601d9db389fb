"""Commands that find the store with somebody who is about to leave it, or to come: none is lost by that moment."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright.cli import hosting
from runwright.engine.client.client import Client
from runwright.engine.client.connect import find_host
from runwright.eventstore import lock
from runwright.eventstore.home import Home
from runwright.eventstore.lock import StoreLock, holder
from support.command_line import CommandLine
from support.command_processes import LIMIT, until

FLOW = '''
"""A step that waits for a sign."""
import time
from runwright import Context, JsonObject, Workflow

flow = Workflow("flow")

@flow.compute
def first(ctx: Context[JsonObject]) -> int:
    (ctx.cwd / "there").touch()
    while not (ctx.cwd / "go").exists():
        time.sleep(0.01)
    return 1

@flow.checkpoint(summary="on?", returns=str)
def ask(ctx: Context[JsonObject]) -> None:
    return None

flow.entry(first)
flow.then(first, ask)
'''


@pytest.mark.parametrize("line", [["pause"], ["cancel"], ["resume", "--timeout", "0.01"], ["answer", "yes"]])
def test_a_command_waits_for_one_that_has_the_store(
    line: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two commands without a host in one moment are carried out one after the other."""
    run_id = waiting(cli)
    if "resume" in line:
        cli("pause", run_id)
    held, waits = StoreLock.take(Home(cli.home)), lock.given_back

    def given_back(home: Home, pid: int | None, *, wait: float) -> bool:
        held.release()
        return waits(home, pid, wait=wait)

    monkeypatch.setattr(lock, "given_back", given_back)
    action, *rest = line
    answer = cli.ask(action, run_id, *rest)
    assert answer.code == (5 if action == "resume" else 0), answer.err
    assert cli("log", "verify").code == 0


def test_whoever_keeps_the_store_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not give it back in time is no command of a moment."""
    run_id = waiting(cli)
    monkeypatch.setattr(hosting, "_TURN", 0.0)
    held = StoreLock.take(Home(cli.home))
    try:
        failure = cli("cancel", run_id, "--json", code=4).document["error"]
    finally:
        held.release()
    assert failure["code"] == "store_in_use"
    assert "drives its runs itself" in failure["hint"]


@pytest.mark.parametrize("line", [["pause"], ["cancel"], ["answer", "yes"]])
def test_a_host_that_comes_after_the_look_does_it(
    line: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that found none would take the store itself; who has it by then carries the command out."""
    run_id = waiting(cli)
    cli("host", "start")

    @contextmanager
    def none(*_: Any, **__: Any) -> Iterator[None]:
        yield None

    for module in ("changing", "naming_runs", "commands.answer"):
        monkeypatch.setattr(f"runwright.cli.{module}.host_if_any", none)
    action, *rest = line
    cli(action, run_id, *rest)
    assert find_host(cli.home) is not None


@pytest.fixture
def stopping(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A host that was told to stop and whose step goes on until somebody waits for its end; the run."""
    cli.project.joinpath("flow.py").write_text(FLOW)
    run_id = cli("start", "flow.py").out.strip()
    until(cli.project.joinpath("there").exists)
    waits, main = Client.gone, threading.current_thread()

    def gone(client: Client, timeout: float | None = None) -> bool:
        if threading.current_thread() is main:
            cli.project.joinpath("go").touch()
        return waits(client, timeout)

    monkeypatch.setattr(Client, "gone", gone)
    with Client.connect(cli.home) as client:
        client.host_stop(grace=LIMIT)
        assert client.host_status()["state"] == "draining"
        yield run_id
    cli.project.joinpath("go").touch()


def test_a_resume_goes_on_where_a_stopping_host_left(stopping: str, cli: CommandLine) -> None:
    """It takes nothing in any more that would go on there: its end is waited for, and the run is driven here."""
    answer = cli("resume", stopping, code=5)
    assert "waits for an answer at ask" in answer.err
    assert find_host(cli.home) is None


def test_a_start_of_a_host_is_one_that_stays(stopping: str, cli: CommandLine) -> None:
    """One that is about to leave does not serve already."""
    assert cli("host", "start", "--json").document["started"] is True
    until(lambda: cli("status", stopping, "--json").document["status"] == "waiting")


def test_a_stop_of_a_host_that_has_just_left_is_done(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else was quicker, before this one could tell it or before it was reached at all."""
    cli("host", "start")
    tell = Client.host_stop

    def overtaken(client: Client, *, grace: float | None = None) -> dict[str, Any]:
        leave(cli.home)
        return tell.__get__(client, Client)(grace=grace)

    monkeypatch.setattr(Client, "host_stop", overtaken)
    assert cli("host", "stop", "--json").document["stopped"] is True


def test_a_host_that_leaves_before_it_is_reached_is_none(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command goes the way that it goes without one."""
    run_id = waiting(cli)
    cli("host", "start")
    connect = Client.connect

    def overtaken(*args: Any, **options: Any) -> Client:
        leave(cli.home)
        return connect(*args, **options)

    monkeypatch.setattr(Client, "connect", overtaken)
    cli("cancel", run_id)


def leave(home: Path) -> None:
    """Have the host of a home end, and see that it does; nothing where there is none."""
    pid = holder(Home(home))
    if pid is None or find_host(home) is None:
        return
    os.kill(pid, signal.SIGTERM)
    assert lock.given_back(Home(home), pid, wait=LIMIT)


def waiting(cli: CommandLine) -> str:
    """A run at its checkpoint that nobody drives."""
    cli.project.joinpath("flow.py").write_text(FLOW)
    cli.project.joinpath("go").touch()
    return str(cli("run", "flow.py", "--inline", "--json", code=5).document["run_id"])
