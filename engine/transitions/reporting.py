"""How much progress was reported to each run's requests since this process holds the store."""

from collections.abc import Callable
from typing import Final

from runwright.engine.commands.client import UpdateRequest
from runwright.engine.progress import A_SECOND, MOST_NAMES, Allowance
from runwright.engine.results import Conflict
from runwright.projections.control.requests import RequestRow

#: Runs that are remembered; the one that was told of longest ago goes, and begins anew.
MOST_RUNS: Final = 256


class Reporting:
    """What each run may still be told, in the holder's memory and on the clock that never jumps.

    Args:
        monotonic: The clock.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._runs: dict[str, Allowance] = {}

    def take(self, request: RequestRow, command: UpdateRequest) -> Conflict | None:
        """Count progress that may be written otherwise, or refuse it; nothing waits here to be written later.

        A unit of work that is run again counts again: that errs on the strict side, and only in trouble.
        """
        allowance = self._of(request.run_id)
        evidence = {"request": request.request, "run": request.run_id, "kind": request.kind}
        if not allowance.admits(command.name):
            return Conflict("protocol_rejected", {**evidence, "rule": "too_many_names", "limit": MOST_NAMES})
        if not allowance.take():
            return Conflict("protocol_rejected", {**evidence, "rule": "too_many_updates", "limit": A_SECOND})
        allowance.remember(command.name)
        return None

    def _of(self, run_id: str) -> Allowance:
        allowance = self._runs.pop(run_id, None) or Allowance(self._monotonic)
        self._runs[run_id] = allowance
        if len(self._runs) > MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        return allowance
