"""Any list of units, in any batches, leaves equal tables; and every way to the rows leads to the same rows."""

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from runwright.eventstore import database
from runwright.eventstore.database import Statement, execute
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.home import create_file
from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import ImpossibleEvent
from runwright.projections.inline import ControlRows
from runwright.projections.layout import CONTROL_LAYOUT
from runwright.projections.replay import replay
from runwright.projections.sql_rows import SqlRows
from support.told import Teller, Told, random_units

SEEDS = st.integers(min_value=0, max_value=2**32)


class Table:
    """A database of control tables, and a writer's loop over it."""

    def __init__(self, path: Path) -> None:
        import os

        os.close(create_file(path))
        self.connection = database.connect_writer(path, wal=False)
        execute(self.connection, Statement("PRAGMA synchronous=OFF"))
        for text in CONTROL_LAYOUT.statements:
            execute(self.connection, Statement(text))
        self.rows = ControlRows(cached=3)
        self.rows.attach(self.connection)
        self.teller = Teller()
        self.log: list[RecordedEvent] = []

    def commit(self, units: Sequence[list[Told]], chance: random.Random) -> list[bool]:
        """Run units in one transaction; answer which went through."""
        execute(self.connection, Statement("BEGIN"))
        went: list[bool] = []
        for unit in units:
            mark, told = self.rows.mark(), list[RecordedEvent]()
            try:
                for each in unit:
                    told.append(self.teller.tell(*each))
                    self.rows.apply(told[-1])
                    if chance.random() < 0.2:
                        self.rows.find(chance.choice(CONTROL))
            except ImpossibleEvent:
                self.rows.undo(mark)
                self.teller.untell(told)
                went.append(False)
            else:
                self.log.extend(told)
                went.append(True)
        self.rows.flush()
        execute(self.connection, Statement("COMMIT"))
        self.rows.committed()
        return went

    def dump(self) -> dict[str, list[Any]]:
        """Answer every row of every table."""
        rows = SqlRows(self.connection)
        return {each.name: rows.find(each) for each in CONTROL}


@given(seed=SEEDS, size=st.integers(min_value=2, max_value=9))
@example(seed=6450369, size=5)  # a timer of a run that is queued only later
@settings(max_examples=40, deadline=None)
def test_batching_changes_nothing(seed: int, size: int) -> None:
    """Units one after another and units that share commits succeed alike and leave equal tables."""
    units = random_units(seed, 40)
    chance = random.Random(seed)
    with TemporaryDirectory() as folder:
        alone, together = Table(Path(folder) / "alone"), Table(Path(folder) / "together")
        with closing(alone.connection), closing(together.connection):
            singly = [alone.commit([unit], chance)[0] for unit in units]
            batched: list[bool] = []
            while len(batched) < len(units):
                batched += together.commit(units[len(batched) : len(batched) + chance.randint(1, size)], chance)
            assert batched == singly
            assert together.dump() == alone.dump()
            assert any(singly)


@given(seed=SEEDS)
@settings(max_examples=25, deadline=None)
def test_replay_of_a_prefix_is_the_state_at_that_position(seed: int) -> None:
    """After every commit the live tables equal a replay of the events up to there."""
    chance = random.Random(seed)
    with TemporaryDirectory() as folder:
        live = Table(Path(folder) / "live")
        with closing(live.connection):
            for unit in random_units(seed, 25):
                live.commit([unit], chance)
                rows = replay(live.log, live.teller.position)
                assert live.dump() == {each.name: rows.find(each) for each in CONTROL}


def test_chance_reaches_every_projection() -> None:
    """What chance makes up fills every control table but those of mounts at one time or another."""
    filled: set[str] = set()
    for seed in range(60):
        with TemporaryDirectory() as folder:
            table = Table(Path(folder) / "t")
            with closing(table.connection):
                for unit in random_units(seed, 40):
                    table.commit([unit], random.Random(seed))
                filled |= {name for name, rows in table.dump().items() if rows}
        if len(filled) >= len(CONTROL) - 1:
            break
    assert filled >= {each.name for each in CONTROL} - {"mounts"}
