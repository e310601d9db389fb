"""The writer's rows: overlay, cache and table, and what a flush writes in which order."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from attrs import frozen

from runwright.eventstore import database
from runwright.eventstore.database import Row, Statement, execute
from runwright.eventstore.envelope import ANY, RecordedEvent
from runwright.eventstore.errors import WriteRefused
from runwright.eventstore.events.session import SessionAttached
from runwright.eventstore.events.timer import TimerSet
from runwright.eventstore.home import create_file
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from runwright.projections import inline
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.visits import VISITS
from runwright.projections.errors import AlreadyHeld, ImpossibleEvent
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.projection import Index, Key, Projection, follows
from runwright.projections.replace import replace
from runwright.projections.sql_rows import SqlRows
from runwright.projections.statements import statements_of
from runwright.projections.tables import ddl
from support.projected import held, tell
from support.told import Teller, completed, queued, random_units, started


@frozen(kw_only=True, weakref_slot=False)
class Seat:
    """A guest and the one seat it has."""

    guest: str
    seat: str | None


class Seats(Projection[Seat]):
    """Seats change hands: the epoch of an attach stands for the seat, ``-`` for none."""

    name = "seats"
    row = Seat
    key_columns = ("guest",)
    indexes = (Index(columns=("seat",), unique=True),)

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the guest."""
        return (recorded.stream.removeprefix("session/"),)

    @follows(SessionAttached)
    def seated(self, row: Seat | None, event: SessionAttached, recorded: RecordedEvent) -> Seat | None:
        """Take a seat, stand up, or leave."""
        if event.epoch == "gone":
            return None
        seat = None if event.epoch == "-" else event.epoch
        guest = recorded.stream.removeprefix("session/")
        return Seat(guest=guest, seat=seat) if row is None else replace(row, seat=seat)


SEATS = Seats()


class Room:
    """A table of seats and the rows of its writer."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self.connection = connection
        self.rows = ControlRows([SEATS], cached=2)
        self.rows.attach(connection)
        self.teller = Teller()

    def sit(self, guest: str, seat: str) -> None:
        """Give a guest a seat."""
        self.rows.apply(self.teller.tell(f"session/{guest}", SessionAttached(epoch=seat, agent="pi")))

    def commit(self) -> None:
        """Write and commit."""
        execute(self.connection, Statement("BEGIN"))
        self.rows.flush()
        execute(self.connection, Statement("COMMIT"))
        self.rows.committed()

    def stored(self) -> dict[str, str | None]:
        """Answer what the table holds."""
        return {each.guest: each.seat for each in SqlRows(self.connection).find(SEATS)}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """An empty room."""
    import os

    path = tmp_path / "room.sqlite"
    os.close(create_file(path))
    with closing(database.connect_writer(path, wal=False)) as connection:
        for text in ddl([statements_of(SEATS).table]):
            execute(connection, Statement(text))
        yield Room(connection)


def test_seats_can_be_swapped_in_one_batch(room: Room) -> None:
    """Rows that go on holding, but something else, are let go first: no order of writing trips the index."""
    room.sit("ada", "1")
    room.sit("bob", "2")
    room.commit()
    room.sit("ada", "-")
    room.sit("bob", "1")
    room.sit("ada", "2")
    room.commit()
    assert room.stored() == {"ada": "2", "bob": "1"}


def test_a_seat_is_handed_on_in_one_batch(room: Room) -> None:
    """A deletion, or a row that holds nothing any more, is written before who takes over."""
    room.sit("ada", "1")
    room.sit("bob", "2")
    room.commit()
    room.sit("bob", "gone")
    room.sit("cyd", "2")
    room.sit("ada", "-")
    room.sit("dee", "1")
    room.commit()
    assert room.stored() == {"ada": None, "cyd": "2", "dee": "1"}


def test_a_taken_seat_is_refused_at_once(room: Room) -> None:
    """Who takes what another holds hears so with the event, also when the holder stands in the table alone."""
    room.sit("ada", "1")
    room.commit()
    room.rows.discard()
    with pytest.raises(AlreadyHeld) as refused:
        room.sit("bob", "1")
    assert refused.value.holder == ("ada",)
    assert "ada holds the one place for seat" in refused.value.message


def test_a_seat_taken_and_given_back_in_one_batch_is_refused_too(room: Room) -> None:
    """What would have failed alone fails in a batch that ends as if nothing had been."""
    room.sit("ada", "1")
    room.commit()
    mark = room.rows.mark()
    with pytest.raises(AlreadyHeld):
        room.sit("bob", "1")
    room.rows.undo(mark)
    room.sit("ada", "-")
    room.sit("bob", "1")
    room.commit()
    assert room.stored() == {"ada": None, "bob": "1"}


def test_undo_goes_back_over_a_set_query(room: Room) -> None:
    """What a set query wrote for a unit that failed is taken back with it."""
    room.sit("ada", "1")
    room.commit()
    execute(room.connection, Statement("BEGIN"))
    mark = room.rows.mark()
    room.sit("ada", "gone")
    room.sit("bob", "1")
    assert [each.guest for each in room.rows.find(SEATS)] == ["bob"]
    room.rows.undo(mark)
    room.rows.flush()
    execute(room.connection, Statement("COMMIT"))
    room.rows.committed()
    assert room.stored() == {"ada": "1"}
    assert room.rows.get(SEATS, "bob") is None


def test_nothing_uncommitted_is_remembered(room: Room) -> None:
    """After an error rows are read from the table again."""
    room.sit("ada", "1")
    room.commit()
    room.sit("ada", "2")
    room.rows.discard()
    assert room.rows.get(SEATS, "ada") == Seat(guest="ada", seat="1")


def test_the_constraint_stands_behind_the_guard(room: Room) -> None:
    """A row that came into the table by hand makes the write fail in our words."""
    room.sit("ada", "1")
    execute(room.connection, Statement("INSERT INTO seats VALUES ('bob', '1')"))
    execute(room.connection, Statement("BEGIN"))
    with pytest.raises(WriteRefused) as refused:
        room.rows.flush()
    execute(room.connection, Statement("ROLLBACK"))
    assert "bob" not in str(refused.value)


def test_a_set_query_that_cannot_write_spoils_the_batch(room: Room) -> None:
    """Whatever the unit makes of the error, the transaction is not to be committed."""
    room.sit("ada", "1")
    execute(room.connection, Statement("INSERT INTO seats VALUES ('bob', '1')"))
    execute(room.connection, Statement("BEGIN"))
    for _ in range(2):
        with pytest.raises(WriteRefused):
            room.rows.find(SEATS)
    with pytest.raises(WriteRefused):
        room.rows.flush()
    execute(room.connection, Statement("ROLLBACK"))


def test_the_cache_is_bounded(room: Room) -> None:
    """However many rows pass, only so many are remembered."""
    for number in range(50):
        room.sit(f"guest{number}", str(number))
        room.commit()
    assert len(room.rows._tables["seats"]._cache) == 2
    assert len(room.stored()) == 50


def test_rows_commit_with_the_events(tmp_path: Path) -> None:
    """A unit sees its own rows before the commit, others see them after it."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1", session="s1"))

        def unit(tx: Tx) -> tuple[object, object]:
            tx.append("run/r2", ANY, [queued("r2", session="s1")[1]], actor="operator")
            rows = tx.control
            assert isinstance(rows, ControlRows)
            return rows.get(RUNS, "r2"), rows.find(RESERVATIONS, session="s1")

        row, reservations = log.transact(unit).result()
        assert row is not None
        assert len(reservations) == 1  # type: ignore[arg-type]
        with log.snapshot() as moment:
            assert SqlRows(moment.connection).get(RUNS, "r2") == row


def test_half_of_a_character_pair_is_no_row_s_value(tmp_path: Path) -> None:
    """A table cannot hold it, so that nothing is found under it, and asking is no fault."""
    with held(tmp_path / "home") as log:
        tell(log, started("r1", session="s1"))
        with log.snapshot() as moment:
            rows = SqlRows(moment.connection)
            assert rows.get(RUNS, "\udcff") is None
            assert rows.find(RESERVATIONS, session="\udcff") == []


def test_a_unit_that_fails_leaves_no_row(tmp_path: Path) -> None:
    """A refused event takes its whole unit back, and the next unit finds what was there before."""
    with held(tmp_path / "home") as log:
        tell(log, started("r1", session="s1"))
        with pytest.raises(ImpossibleEvent):
            tell(log, [("run/r1", TimerSet(kind="wait", due=1)), queued("r2", session="s1")], together=2)
        tell(log, [("run/r1", TimerSet(kind="run", due=2))])
        with log.snapshot() as moment:
            kinds = [each.kind for each in SqlRows(moment.connection).find(TIMERS)]
        assert kinds == ["run"]


def test_a_run_that_was_queued_here_is_known_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No table is asked for rows that such a run cannot have; once one of its rows was let go, tables are asked."""
    rows = ControlRows(cached=4)
    asked: list[str] = []

    def counted(connection: sqlalchemy.Connection, statement: Statement, row: Row | None = None) -> list[Row]:
        asked.append(statement.text)
        return execute(connection, statement, row)

    with closing(EventLog.open(tmp_path / "home", layout=LAYOUT, control=rows)) as log:
        tell(log, started("r1"))
        monkeypatch.setattr(inline, "execute", counted)
        assert log.transact(lambda _: rows.get(VISITS, "r1", "nowhere")).result() is None
        assert asked == []
        for number in range(6):
            tell(log, [("run/r1", TimerSet(kind=f"kind{number}", due=1))])
        found = log.transact(lambda _: [rows.get(TIMERS, "r1", f"kind{number}") for number in range(6)]).result()
        assert all(found)
        assert log.transact(lambda _: rows.get(VISITS, "r1", "nowhere")).result() is None
        assert any("visits" in text for text in asked)


def test_a_run_whose_queueing_was_undone_is_not_known(tmp_path: Path) -> None:
    """What a refused unit made known goes with it."""
    rows = ControlRows()
    with closing(EventLog.open(tmp_path / "home", layout=LAYOUT, control=rows)) as log:
        with pytest.raises(ImpossibleEvent):
            tell(log, [queued("r1"), queued("r1")], together=2)
        assert rows._whole == set()


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_a_run_follow_from_its_own_stream(seed: int) -> None:
    """Why a run whose stream begins can have no rows yet: no control row under its ID comes from anywhere else."""
    teller = Teller()
    for unit in random_units(seed, 40):
        for told in unit:
            recorded = teller.tell(*told)
            for projection in CONTROL:
                if recorded.type in projection.listens and projection.key_columns[0] == "run_id":
                    key = projection.key(recorded)
                    assert key is None or f"run/{key[0]}" == recorded.stream
