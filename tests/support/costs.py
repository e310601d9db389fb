"""What work costs the store: what SQLite was asked, and how much it did for it. Neither depends on the machine."""

import sqlite3
from collections.abc import Callable

import pytest
from attrs import define

from runwright.eventstore import database


@define
class Cost:
    """What all connections did: statements, and steps of SQLite's machine in hundreds, which follow the rows read."""

    statements: int = 0
    steps: int = 0

    def statement(self, text: str) -> None:
        """Count a statement."""
        self.statements += 1

    def step(self) -> int:
        """Count a hundred steps; SQLite goes on."""
        self.steps += 1
        return 0

    def of(self, work: Callable[[], object]) -> tuple[int, int]:
        """What some work costs."""
        before = (self.statements, self.steps)
        work()
        return self.statements - before[0], self.steps - before[1]


def counting(monkeypatch: pytest.MonkeyPatch) -> Cost:
    """Count what every connection does that is opened from now on."""
    counted = Cost()
    settle = database._settle

    def watched(made: sqlite3.Connection, settings: list[tuple[str, object, object]]) -> None:
        settle(made, settings)
        made.set_trace_callback(counted.statement)
        made.set_progress_handler(counted.step, 100)

    monkeypatch.setattr(database, "_settle", watched)
    return counted
