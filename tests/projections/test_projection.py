"""What a projection is, and what its parent checks for it."""

import pytest
from attrs import frozen

from runwright.eventstore.events.registry import REGISTRY
from runwright.eventstore.events.timer import TimerCleared, TimerSet
from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import ImpossibleEvent, ProjectionInvalid
from runwright.projections.projection import Index, Projection, begins, changes
from runwright.projections.rows import MemoryRows
from runwright.projections.statements import statements_of
from support.told import Teller


@frozen(kw_only=True)
class Row:
    """A row."""

    run_id: str


class Small(Projection[Row]):
    """A small projection."""

    name = "small"
    row = Row
    key_columns = ("run_id",)

    @begins(TimerSet)
    def begun(self, event: object, recorded: object) -> Row:
        """Begin."""
        return Row(run_id="r1")

    @changes(TimerCleared)
    def gone(self, row: Row, event: object, recorded: object) -> None:
        """End."""
        return


def test_rows_begin_once_and_change_only_where_they_are() -> None:
    """The parent refuses a second beginning and a change of nothing."""
    rows, teller = MemoryRows([Small()]), Teller()
    set_, cleared = TimerSet(kind="wait", due=1), TimerCleared(kind="wait")
    with pytest.raises(ImpossibleEvent, match="no such row"):
        rows.apply(teller.tell("run/r1", cleared))
    rows.apply(teller.tell("run/r1", set_))
    with pytest.raises(ImpossibleEvent, match="such a row already") as refused:
        rows.apply(teller.tell("run/r1", set_))
    assert (refused.value.projection, refused.value.event_type, refused.value.position) == ("small", "timer.set", 3)
    rows.apply(teller.tell("run/r1", cleared))
    assert rows.get(Small(), "r1") is None


def test_every_control_projection_listens_to_known_events() -> None:
    """No handler waits for an event that nobody can write."""
    for projection in CONTROL:
        assert projection.listens <= REGISTRY.keys()
        assert projection.listens, projection.name


def test_only_guarded_rows_hold() -> None:
    """A projection without guards holds nothing."""
    assert not Small().holds(Row(run_id="r1"))


def test_a_wrong_declaration_is_named() -> None:
    """An index that names no field is refused when its table is laid out."""

    class Wrong(Small):
        """A projection with a misspelt index."""

        indexes = (Index(columns=("rnu_id",)),)

    with pytest.raises(ProjectionInvalid, match="rnu_id"):
        statements_of(Wrong()).table  # noqa: B018 - it is made when it is asked for


def test_apply_is_all_or_nothing() -> None:
    """Rows in memory take an event in every projection or in none."""

    class Picky(Small):
        """One that refuses every event."""

        name = "picky"

        @begins(TimerSet)
        def begun(self, event: object, recorded: object) -> Row:
            """Refuse."""
            raise ValueError

    small, picky = Small(), Picky()
    rows, teller = MemoryRows([small, picky]), Teller()
    with pytest.raises(ValueError):
        rows.apply(teller.tell("run/r1", TimerSet(kind="wait", due=1)))
    assert not rows.find(small)
    assert rows.position == 0
