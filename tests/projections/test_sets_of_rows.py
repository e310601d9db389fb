"""Are sets of rows the same wherever they are asked for: in memory, in tables, and by the writer?"""

from pathlib import Path
from typing import Any, cast

import pytest

from runwright.eventstore.events.event import Event
from runwright.eventstore.events.message import MessageCancelled, MessageQueued
from runwright.eventstore.transaction import Tx
from runwright.projections.control.messages import MESSAGES
from runwright.projections.replay import replay_log
from runwright.projections.rows import Rows
from runwright.projections.sql_rows import SqlRows
from runwright.projections.statements import statements_of
from support.projected import held, tell
from support.told import started

#: What is asked for; the last ones are what a partial index covers.
SETS: list[dict[str, Any]] = [
    {},
    {"session": "s1"},
    {"session": "s1", "state": "pending"},
    {"session": "s1", "state": "pending", "kind": "notification"},
    {"session": "s1", "state": "cancelled", "epoch": None},
    {"session": "s2", "state": "pending", "kind": "terminal"},
    {"state": "sent"},
]


def _message(number: int) -> Event:
    kind = ("notification", "terminal", "follow_up")[number % 3]
    return MessageQueued(
        message=f"{kind}:{(number * 7) % 40}",
        kind=kind,
        session="s1" if number % 4 else "s2",
        order=number,
        source="r1",
        starts_turn=False,
    )


@pytest.mark.parametrize("equals", SETS, ids=str)
def test_every_kind_of_rows_answers_the_same(tmp_path: Path, equals: dict[str, Any]) -> None:
    """The rows, the first of them by a column, and how many there are, up to a number."""
    with held(tmp_path / "home") as log:
        queued = [("run/r1", _message(number)) for number in range(40)]
        gone = [("run/r1", MessageCancelled(message=each.message, cause="test")) for _, each in queued[5::5]]  # type: ignore[attr-defined]
        tell(log, [*started("r1", session="s1"), *queued, *gone])

        def asked(rows: Rows) -> tuple[list[str], list[str]]:
            found, first = rows.find(MESSAGES, **equals), rows.first(MESSAGES, "order", 3, **equals)
            assert [each.order for each in first] == sorted(each.order for each in found)[:3]
            counts = [rows.count(MESSAGES, most, **equals) for most in (3, 100)]
            assert counts == [min(most, len(found)) for most in (3, 100)]
            return [each.message for each in found], [each.message for each in first]

        def unit(tx: Tx) -> tuple[list[str], list[str]]:
            return asked(cast(Rows, tx.control))

        replayed = asked(replay_log(log))
        assert log.transact(unit).result() == replayed
        with log.snapshot() as moment:
            assert asked(SqlRows(moment.connection)) == replayed


def test_a_condition_that_an_index_names_is_not_asked_twice() -> None:
    """Otherwise each row that the index finds would be looked up."""
    statement, values = statements_of(MESSAGES).first("order", 3, {"session": "s1", "state": "pending"})
    assert values == ("s1", 3, 0)
    assert "WHERE messages.session = ? AND messages.state = 'pending' ORDER" in " ".join(statement.text.split())
