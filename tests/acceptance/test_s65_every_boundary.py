"""S65: the full regression, with a crash before and after every commit; with `-s` it prints what came of each."""

import importlib
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwright import Workflow
from runwright.engine.testing.crashing import Boundary, Side
from runwright.engine.testing.virtual_time import VirtualClock
from support.full_regression import MANUAL, Story, most

EXAMPLES = Path(__file__).parents[2] / "examples"
DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))
#: Every how-many-th commit is crashed at; each of them at the full depth, which is that of CI.
STEP = max(1, round(1 / DEPTH))


@pytest.fixture
def implement(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workflow[Any]]:
    """The example, imported as a program imports its own; no later test meets its modules."""
    monkeypatch.syspath_prepend(EXAMPLES)
    before = set(sys.modules)
    yield importlib.import_module("implement").implement
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(EXAMPLES)):
            del sys.modules[name]


def test_s65_undisturbed(implement: Workflow[Any], tmp_path: Path) -> None:
    """Fails after a managed action, restarts clean, pauses in the child, is cancelled, goes through; no ID twice."""
    told = Story(implement, tmp_path, VirtualClock().now()).play()
    failed, cancelled, completed = told.runs
    assert (failed.outcome, failed.code, failed.path) == ("failed", "node_failed", ("prepare", "check"))
    assert (cancelled.outcome, cancelled.path[-2:]) == ("cancelled", ("docs/prepare", "docs/breathe"))
    assert (completed.outcome, completed.path[-1]) == ("completed", "finish")
    assert completed.output == {"workspace": "/copy", "change": "c2", "page": "docs/x.md", "commits": 2}
    assert failed.effects == (("prepare", "applied"),)
    assert all(each.readable for each in told.runs)
    assert told.identities[0] == told.identities[1] == 1 + 3 + 4
    assert told.launched_after == 0
    assert told.verified


@pytest.mark.timeout(600)
@pytest.mark.parametrize("side", ["before", "after"])
def test_s65_with_a_crash_at_every_commit(side: Side, implement: Workflow[Any], tmp_path: Path) -> None:
    """The same terminal facts wherever the process dies, and no effect twice, whether it is looked up or manual."""
    start = VirtualClock().now()
    expected = Story(implement, tmp_path, start).play()
    rows: list[tuple[int, int, int]] = []
    for number in itertools.count(1, STEP):
        story = Story(implement, tmp_path, start)
        told = story.play(Boundary(number, side))
        if not story.crashed:
            break
        assert told == expected, f"crashed {side} commit {number}"
        rows.append((number, most(story, MANUAL), most(story, ("prepare", "docs/write"))))
        assert max(rows[-1][1:]) <= 1, f"crashed {side} commit {number}: {story.world.happened}"
    assert len(rows) * STEP > 25
    print(f"\n{'crash':<18}{'terminal facts':<18}{'a manual effect':<18}an observed effect")
    for number, manual, looked_up in rows:
        print(
            f"{side + ' commit ' + str(number):<18}{'the same':<18}{'happened ' + str(manual):<18}happened {looked_up}"
        )
