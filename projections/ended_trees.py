"""Run trees in which no run lives any more, and when the last of their runs ended."""

from functools import cache

import sqlalchemy
from attrs import frozen
from sqlalchemy import func

from runwright.eventstore.database import Statement, execute
from runwright.projections.control.runs import RUNS
from runwright.projections.statements import statements_of


@frozen
class EndedTree:
    """A root with all its continuations and restarts, each of them ended.

    Attributes:
        root: The root.
        project: The project's folder, if the runs have one.
        ended_at: When the last of them ended, UTC in microseconds.
    """

    root: str
    project: str | None
    ended_at: int


def ended_trees(connection: sqlalchemy.Connection) -> list[EndedTree]:
    """Answer every tree that has ended, the oldest end first."""
    return [EndedTree(*row) for row in execute(connection, _statement())]


@cache
def _statement() -> Statement:
    runs = statements_of(RUNS).table.c
    last = func.max(runs.finished_at)
    return Statement.of(
        sqlalchemy.select(runs.root, func.min(runs.project), last)
        .group_by(runs.root)
        .having(func.count(runs.finished_at) == func.count())
        .order_by(last, runs.root)
    )
