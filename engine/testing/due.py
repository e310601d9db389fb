"""When the next timer of a run is due, for whoever lets the time pass until then."""

from datetime import datetime

from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.execution.contexts import as_us
from runwright.engine.testing.virtual_time import VirtualClock


async def next_due(engine: AsyncEngine, run_id: str, *, besides: str | None = None) -> datetime | None:
    """When the next of a run's timers is due; ``None`` where it has none.

    Args:
        engine: The engine.
        run_id: The run.
        besides: A kind of timers that do not count.
    """
    found = (await engine.query("timers", where=[f"run_id={run_id}"])).items
    due = [datetime.fromisoformat(str(each["due"])) for each in found if each["kind"] != besides]
    return min(due, default=None)


def seconds_until(due: datetime, clock: VirtualClock) -> float:
    """How long to wait for it: at least a moment, as a timer that is due may still be on its way."""
    return max((as_us(due) - clock.now()) / 1_000_000, 0.001)
