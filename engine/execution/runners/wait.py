"""The runner of wait nodes: a durable timer that needs no worker."""

from datetime import datetime, timedelta

from attrs import frozen

from runwright.engine.authoring.limits import LATEST_US
from runwright.engine.commands.worker import ParkRun, Timer
from runwright.engine.execution.contexts import as_us
from runwright.engine.execution.failures import NodeFailure
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk


@frozen
class _Due:
    us: int
    absolute: bool


async def run_wait(walk: Walk, visit: Visit) -> Ended | Parked:
    """Park until the time has come; what is due already passes at once."""
    started = walk.nodes[visit.path].started_at if visit.resumed else None
    try:
        due = await walk.aside(_due(walk, visit, walk.port.now() if started is None else started))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    if due.us <= walk.port.now():
        return Ended(outcome="completed")
    timer = Timer(kind="wait", due=due.us, absolute=due.absolute)
    return Parked(park=ParkRun(reason="waiting", timer=timer), before=visit.opening())


async def _due(walk: Walk, visit: Visit, start: int) -> _Due:
    if visit.spec.wait_us is not None:
        due = _Due(start + visit.spec.wait_us, False)
    else:
        function = visit.declaration.function
        assert function is not None
        value = await walk.call_within(visit, ASIDE_LIMIT, function, visit.context)
        try:
            due = _told(value, start)
        except Exception as error:  # noqa: BLE001 (a time zone runs its own code)
            raise walk.failed(visit, error) from None
    if due.us > LATEST_US:
        raise walk.failed(visit, ValueError("a wait ends before the year 10000"))
    return due


def _told(value: object, start: int) -> _Due:
    match value:
        case timedelta():
            return _Due(start + value // timedelta(microseconds=1), False)
        case datetime() if value.utcoffset() is not None:
            return _Due(as_us(value), True)
        case _:
            raise TypeError(f"a wait returns a timedelta or an aware datetime, not {_what(value)}")


def _what(value: object) -> str:
    return "a datetime without a time zone" if isinstance(value, datetime) else type(value).__name__
