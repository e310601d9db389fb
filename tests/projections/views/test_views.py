"""Views follow the log in their own file, may be dropped at any moment, and do not hurt one another."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.run import RunQueued
from runwright.eventstore.log import EventLog
from runwright.eventstore.reader import LogReader
from runwright.projections.answer import answer
from runwright.projections.errors import ViewFailed
from runwright.projections.follower import Follower
from runwright.projections.projection import Projection, follows
from runwright.projections.query import plan
from runwright.projections.rows import MemoryRows
from runwright.projections.views.activity import ACTIVITY, HOUR
from runwright.projections.views.registry import VIEWS, users_views
from runwright.projections.views.run_list import RUN_LIST
from runwright.projections.views.store import Views
from support.projected import held, tell, view_rows
from support.told import START, completed, queued, started


@frozen(kw_only=True)
class CountRow:
    """How many runs a workflow had."""

    workflow: str
    runs: int


class Counting(Projection[CountRow]):
    """A program's own projection, one that fails at a workflow named ``bad``."""

    name = "counting"
    row = CountRow
    key_columns = ("workflow",)

    def key(self, recorded: RecordedEvent) -> tuple[str]:
        """Answer the workflow."""
        event = recorded.event
        assert isinstance(event, RunQueued)
        return (event.workflow,)

    @follows(RunQueued)
    def counted(self, row: CountRow | None, event: RunQueued, recorded: RecordedEvent) -> CountRow:
        """Count a run."""
        if event.workflow == "bad":
            raise ZeroDivisionError("private text")
        return CountRow(workflow=event.workflow, runs=(row.runs if row else 0) + 1)


COUNTING = Counting()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A store that is held."""
    with held(tmp_path / "home") as opened:
        yield opened


def file_rows(log: EventLog, table: str) -> int:
    """Count rows in the views' file."""
    with closing(sqlite3.connect(log.home.views)) as shell:
        (count,) = shell.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def test_views_follow_step_by_step(log: EventLog) -> None:
    """Each step goes on where the last one ended, and the rows equal a fold of the whole log."""
    views = Views(log.home, log, VIEWS)
    for run_id in ("r1", "r2", "r3"):
        tell(log, completed(run_id))
        assert views.catch_up() == log.head().position
    rows = MemoryRows(VIEWS)
    for recorded in log.read_all():
        rows.apply(recorded)
    for view in VIEWS:
        assert view_rows(log, view)[0] == rows.table(view)
    views.close()
    assert file_rows(log, "run_list") == 3


def test_a_reader_folds_what_the_file_lacks(log: EventLog) -> None:
    """Behind, missing or half made: a reader answers as of the end of the log and writes nothing."""
    tell(log, completed("r1"))
    with LogReader.open(log.home.path) as reader:
        assert [key for (key,) in view_rows(reader, RUN_LIST)[0]] == ["r1"]
        assert not log.home.views.exists()
        views = Views(log.home, log, VIEWS)
        views.catch_up()
        tell(log, started("r2"))
        found = answer(reader, plan(VIEWS, "run_list", sort=["-run_id"]))
        assert [(each["run_id"], each["status"]) for each in found.items] == [("r2", "running"), ("r1", "completed")]
        assert found.position == log.head().position
        assert file_rows(log, "run_list") == 1
        views.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"no database at all, but long enough to look like one" * 50),
        lambda path: path.unlink(),
        lambda path: _execute(path, "UPDATE cursors SET layout = 'another'"),
        lambda path: _execute(path, "UPDATE cursors SET position = 999999"),
        lambda path: _execute(path, "DROP TABLE cursors"),
    ],
)
def test_whatever_is_wrong_the_file_is_filled_again(log: EventLog, spoil: Callable[[Path], None]) -> None:
    """Damaged, dropped, of another layout or of another log: nothing is lost."""
    tell(log, completed("r1"))
    views = Views(log.home, log, VIEWS)
    views.catch_up()
    views.close()
    expected = view_rows(log, RUN_LIST)
    spoil(log.home.views)
    views = Views(log.home, log, VIEWS)
    views.catch_up()
    views.close()
    assert view_rows(log, RUN_LIST) == expected
    assert file_rows(log, "run_list") == 1
    assert log.home.views.stat().st_mode & 0o777 == 0o600


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as shell, shell:
        shell.execute(statement)


def test_a_changed_projection_is_filled_again(log: EventLog) -> None:
    """A raised version means other rows from the same events."""
    tell(log, completed("r1"))
    views = Views(log.home, log, [COUNTING])
    views.catch_up()
    views.close()

    class Twice(Counting):
        """The same, counting double."""

        version = 2

        @follows(RunQueued)
        def counted(self, row: CountRow | None, event: RunQueued, recorded: RecordedEvent) -> CountRow:
            """Count a run twice."""
            return CountRow(workflow=event.workflow, runs=(row.runs if row else 0) + 2)

    views = Views(log.home, log, [Twice()])
    views.catch_up()
    views.close()
    assert view_rows(log, Twice())[0] == {("report",): CountRow(workflow="report", runs=2)}


def test_a_failing_view_hurts_itself_only(log: EventLog) -> None:
    """It stands still before the event, says so without the exception's text, and the others go on."""
    tell(log, completed("r1"))
    tell(log, [queued("r2", workflow="bad")])
    tell(log, completed("r3"))
    views = Views(log.home, log, [*VIEWS, COUNTING])
    assert views.catch_up() == log.head().position
    (failure,) = views.failures
    assert (failure.projection, failure.event_type) == ("counting", "run.queued")
    assert "ZeroDivisionError" in failure.message
    assert "private" not in failure.message
    assert file_rows(log, "counting") == 1
    assert len(view_rows(log, RUN_LIST)[0]) == 3
    with pytest.raises(ViewFailed):
        view_rows(log, COUNTING)
    views.close()


def test_a_view_that_breaks_its_own_table_stops(log: EventLog) -> None:
    """Rows that are none (a text where a number belongs) stop that view and no other."""

    class Wrong(Counting):
        """One whose rows cannot be stored."""

        name = "wrong"

        @follows(RunQueued)
        def counted(self, row: CountRow | None, event: RunQueued, recorded: RecordedEvent) -> CountRow:
            """Make a row that is none."""
            many: Any = "many"
            return CountRow(workflow=event.workflow, runs=many)

    tell(log, completed("r1"))
    views = Views(log.home, log, [Wrong(), *VIEWS])
    assert views.catch_up() == log.head().position
    assert [each.projection for each in views.failures] == ["wrong"]
    assert file_rows(log, "run_list") == 1
    views.close()


def test_rebuilding_a_view_fills_it_anew(log: EventLog) -> None:
    """An edited row of a view goes with the old table."""
    tell(log, completed("r1"))
    views = Views(log.home, log, VIEWS)
    views.catch_up()
    _execute(log.home.views, "UPDATE run_list SET steps = 77")
    assert views.rebuild(["run_list"]) == log.head().position
    assert view_rows(log, RUN_LIST)[0]["r1",].steps == 3
    views.close()


def test_activity_counts_by_the_hour(log: EventLog) -> None:
    """Starts, ends, steps and failures stand in the hour of their event."""
    tell(log, completed("r1", steps=2))
    rows, _ = view_rows(log, ACTIVITY)
    row = rows[START - START % HOUR,]
    assert (row.queued, row.completed, row.steps, row.failures) == (1, 1, 2, 0)


def test_users_views_are_loaded_or_explained() -> None:
    """A usable one is taken; one that cannot be loaded, is none, or takes a name, is an error of its own."""
    here = __name__
    entries = [
        EntryPoint("good", f"{here}:COUNTING", "runwright.projections"),
        EntryPoint("missing", "no_such_module:X", "runwright.projections"),
        EntryPoint("none", f"{here}:START", "runwright.projections"),
        EntryPoint("taken", "runwright.projections.control.runs:RUNS", "runwright.projections"),
        EntryPoint("twice", f"{here}:Counting", "runwright.projections"),
    ]
    usable, errors = users_views(entries)
    assert [each.name for each in usable] == ["counting"]
    assert [each.code for each in errors] == ["projection_invalid"] * 4
    assert [each.message.split()[1] for each in errors] == ["missing", "none", "taken", "twice"]


def test_the_follower_keeps_up_without_being_asked(log: EventLog) -> None:
    """It hears of commits, gathers them, and ends when it is closed."""
    follower = Follower(log, pause=0.0)
    follower.start()
    tell(log, completed("r1"))
    with log.subscribe(0) as events:
        events.next(timeout=1)
    assert follower.catch_up() == log.head().position
    assert follower.rebuild("activity") == log.head().position
    assert follower.failures == ()
    assert follower.trouble is None
    follower.close()
    assert file_rows(log, "run_list") == 1
