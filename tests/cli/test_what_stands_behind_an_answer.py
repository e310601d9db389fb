"""Does `answer` wait until the run behind the answer goes on, or is found to lack something?"""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from runwright.cli.commands.answer import _facts_behind, _stands_still
from runwright.cli.naming_runs import Facts, Runs

#: Between an answer and its worker: it waits for a place, is taken, and begins, or lacks a variable.
QUEUED = {"status": "queued", "queue_state": "queued", "reason": None}
PARKED = {"status": "queued", "queue_state": "parked", "reason": {"code": "waiting"}}
TAKEN = {"status": "queued", "queue_state": "starting", "reason": None}
CLAIMED = {"status": "queued", "queue_state": "running", "reason": None}
LACKING = {"status": "queued", "queue_state": "parked", "reason": {"code": "environment_missing"}}
WORKING = {"status": "running", "queue_state": "running", "reason": None}


class Moments:
    """A run as it stands at one look after another."""

    def __init__(self, *moments: dict[str, Any]) -> None:
        self._moments: Iterator[dict[str, Any]] = iter(moments)

    def facts(self, run_id: str) -> Facts:
        """As `Runs.facts`."""
        return cast(Facts, next(self._moments))


@pytest.mark.parametrize(("end", "still"), [(LACKING, True), (WORKING, False)])
def test_it_looks_until_the_run_goes_on_or_stands_still(end: dict[str, Any], still: bool) -> None:
    """A run that was taken has not begun: what it lacks is found after that, and said by this very command."""
    found = _facts_behind(cast(Runs, Moments(PARKED, QUEUED, TAKEN, CLAIMED, end)), "r")
    assert found == end
    assert _stands_still(found) is still
