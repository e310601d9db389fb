"""Waits and the delays before a retry: short ones are slept, long ones need no worker, and some no clock can hold."""

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, JsonObject, Retry, Workflow, days, hours, seconds
from runwright.engine.authoring.limits import LATEST_US
from runwright.engine.commands.worker import FailRun, ParkRun
from support.computing import computing
from support.running import port_for, run


def flaky(port_calls: list[int], fails: int, **retry: Any) -> Workflow[JsonObject]:
    """A compute node that fails so often, then succeeds."""

    def body(ctx: Context[JsonObject]) -> int:
        port_calls.append(ctx.attempt)
        if len(port_calls) <= fails:
            raise ValueError("not yet")
        return ctx.attempt

    return computing(body, retry=Retry(**retry))


def test_short_delays_are_slept(tmp_path: Path) -> None:
    """Each try is its own attempt of the same visit and the same step."""
    calls: list[int] = []
    port = port_for(flaky(calls, 2, attempts=3, first=seconds(0.02), factor=2), tmp_path)
    assert run(port) == "finished"
    assert (calls, port.output("work"), port.steps) == ([1, 2, 3], 3, 1)
    assert [each[3] for each in port.finished()] == ["failed", "failed", "completed"]


def test_tries_are_bounded(tmp_path: Path) -> None:
    """The last declared try ends the node."""
    calls: list[int] = []
    port = port_for(flaky(calls, 9, attempts=2, first=seconds(0)), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (calls, port.ended.code) == ([1, 2], "node_failed")


def test_a_long_delay_needs_no_worker(tmp_path: Path) -> None:
    """Over five seconds the run parks with a timer; a worker that comes too early parks it again."""
    calls: list[int] = []
    port = port_for(flaky(calls, 1, attempts=2, first=seconds(30)), tmp_path)
    assert run(port) == "parked"
    assert port.parked is not None
    assert port.parked.timer is not None
    due = port.parked.timer.due
    assert (port.parked.timer.kind, 29 < (due - port.now()) / 1e6 <= 30) == ("retry", True)
    assert run(port) == "parked"
    assert port.parked.timer is not None
    assert abs(port.parked.timer.due - due) < 1_000_000
    port.shift = 30_000_000
    assert run(port) == "finished"
    assert calls == [1, 2]


def waiting(value: Any) -> Workflow[JsonObject]:
    """A wait, and a node after it."""
    workflow = Workflow("waiting")

    @workflow.wait
    def pause(ctx: Context[JsonObject]) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> int:
        return 1

    workflow.entry(pause)
    workflow.then(pause, after)
    return workflow


def test_a_wait_parks_in_the_list_that_starts_it(tmp_path: Path) -> None:
    """One commit: started, parked with a timer, and the worker is gone."""
    port = port_for(waiting(hours(1)), tmp_path)
    assert run(port) == "parked"
    assert port.told() == ["|", "Ready", "StartNode", "ParkRun", "ExitWorker"]
    assert port.parked is not None
    assert port.parked.timer is not None
    assert (port.parked.reason, port.parked.timer.kind, port.parked.timer.absolute) == ("waiting", "wait", False)
    assert port.nodes["pause"].deadline is None


def test_a_wait_until_a_time_is_absolute(tmp_path: Path) -> None:
    """The wall clock decides about it."""
    until = datetime.now(UTC) + days(1)
    port = port_for(waiting(until), tmp_path)
    run(port)
    assert port.parked is not None
    assert port.parked.timer is not None
    assert port.parked.timer.absolute
    assert abs(port.parked.timer.due - until.timestamp() * 1e6) < 10


@pytest.mark.parametrize("value", [timedelta(), timedelta(seconds=-5), datetime(2020, 1, 1, tzinfo=UTC)], ids=str)
def test_a_wait_that_is_over_passes_at_once(tmp_path: Path, value: Any) -> None:
    """Nobody is parked for a time that has come."""
    port = port_for(waiting(value), tmp_path)
    assert run(port) == "finished"
    assert port.output("after") == 1


class Nowhere(tzinfo):
    """A time zone that tells nothing."""

    def utcoffset(self, when: datetime | None, /) -> timedelta:
        """Raise, as a broken one does."""
        raise RuntimeError("no offset")

    def dst(self, when: datetime | None, /) -> None:
        """Tell nothing."""

    def tzname(self, when: datetime | None, /) -> None:
        """Tell nothing."""


@pytest.mark.parametrize("value", [timedelta.max, datetime(2030, 1, 1, tzinfo=Nowhere())])
def test_a_wait_that_no_clock_can_hold_fails(tmp_path: Path, value: Any) -> None:
    """Past the last year that a time can name the node fails, and not the engine."""
    port = port_for(waiting(value), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert ("year 10000" if value is timedelta.max else "no offset") in str(port.ended.error)


def test_a_fixed_wait_that_no_clock_can_hold_fails(tmp_path: Path) -> None:
    """The same for one without a function."""
    workflow = Workflow("ages")
    workflow.entry(workflow.wait("ages", timedelta.max))
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)


def test_a_delay_that_no_clock_can_hold_is_the_longest(tmp_path: Path) -> None:
    """A retry's delay is cut at the last moment that a time can name."""
    retry = Retry(first=timedelta.max, maximum=timedelta.max)
    port = port_for(computing(lambda ctx: 1 // 0, retry=retry), tmp_path)
    assert run(port) == "parked"
    assert port.parked is not None
    assert port.parked.timer is not None
    assert port.parked.timer.due == LATEST_US


@pytest.mark.parametrize("value", [3, datetime(2020, 1, 1), ValueError("x")], ids=["number", "naive", "raises"])  # noqa: DTZ001 (what is refused)
def test_a_wait_for_no_time_fails(tmp_path: Path, value: Any) -> None:
    """A wait returns a timedelta or an aware datetime."""
    port = port_for(waiting(value), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)


def test_waiting_parks_say_nothing_else(tmp_path: Path) -> None:
    """A park for a timer carries no code and no detail."""
    port = port_for(waiting(hours(1)), tmp_path)
    run(port)
    assert isinstance(port.parked, ParkRun)
    assert (port.parked.code, port.parked.detail) == (None, None)
