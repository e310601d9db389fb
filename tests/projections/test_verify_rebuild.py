"""Verify names every difference and repairs nothing; rebuild mends them, in one transaction or not at all."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from runwright.eventstore.backup import backup
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.log import EventLog
from runwright.eventstore.reader import LogReader
from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.eventstore.verify import verify_store
from runwright.projections import rebuild as rebuilding
from runwright.projections.errors import UnknownProjection
from runwright.projections.inline import ControlRows
from runwright.projections.rebuild import rebuild
from runwright.projections.verify import ControlTables, Verification, verify
from support.projected import held, tell
from support.told import completed, started

FALSE_TIMER = "INSERT INTO timers VALUES ('r1', 'wait', 5, 0, 6)"


def edit(log: EventLog | LogReader, *statements: str) -> None:
    """Change rows as the sqlite3 shell does."""
    with closing(sqlite3.connect(log.home.log)) as shell, shell:
        for statement in statements:
            shell.execute(statement)


def test_a_store_agrees_with_its_log(tmp_path: Path) -> None:
    """Nothing differs after ordinary work, and every row was compared."""
    with held(tmp_path / "home") as log:
        tell(log, [*completed("r1"), *started("r2", session="s")], together=4)
        found = verify(log)
    assert found.ok
    assert found == Verification(position=found.position, rows=found.rows, differences=())
    assert found.rows == 10


def test_an_edited_row_is_named_with_both_values(tmp_path: Path) -> None:
    """Projection, key, field, both values and the last event that touched the row."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1", steps=2))
        edit(log, "UPDATE runs SET steps = 7, status = 'failed'", "UPDATE queue SET token_hash = 'x'")
        found = verify(log)
        assert verify(log) == found
    steps = next(each for each in found.differences if each.field == "steps")
    assert (steps.projection, steps.key, steps.live, steps.replayed) == ("runs", {"run_id": "r1"}, 7, 2)
    assert steps.event_type == "run.completed"
    status = next(each for each in found.differences if each.field == "status")
    assert (status.live, status.replayed) == ("failed", "completed")
    hidden = next(each for each in found.differences if each.field == "token_hash")
    assert hidden.live == hidden.replayed == "(not shown)"
    assert len(found.differences) == 3


def test_missing_and_false_rows_are_named(tmp_path: Path) -> None:
    """A row that was deleted, and one that no event made."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        edit(log, "DELETE FROM visits", FALSE_TIMER)
        found = verify(log, ["visits", "timers"])
    missing, false = found.differences
    assert (missing.projection, missing.field, missing.live) == ("visits", None, None)
    assert (missing.event_type, missing.key) == ("node.finished", {"run_id": "r1", "path": "a"})
    assert (false.projection, false.replayed, false.position) == ("timers", None, None)


def test_a_rebuild_mends_and_leaves_the_log_alone(tmp_path: Path) -> None:
    """Edited, deleted and false rows are right again; the log's head is the same; work goes on."""
    with held(tmp_path / "home") as log:
        tell(log, [*completed("r1"), *started("r2", session="s")])
        edit(
            log, "UPDATE runs SET steps = 7", "DELETE FROM visits", "INSERT INTO timers VALUES ('r1', 'wait', 5, 0, 6)"
        )
        head = log.head()
        seen: list[tuple[int, int]] = []
        done = rebuild(log, progress=lambda at, last: seen.append((at, last)))
        assert log.head() == head
        assert done.position == head.position
        assert done.rows["runs"] == 2
        assert seen[-1] == (head.position, head.position)
        assert verify(log).ok
        tell(log, completed("r3"))
        assert verify(log).ok
        assert not list(log.home.path.glob("rebuild*"))


def test_a_rebuild_of_one_projection_leaves_the_others(tmp_path: Path) -> None:
    """Only what was named is made anew."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        edit(log, "UPDATE runs SET steps = 7", "DELETE FROM visits")
        rebuild(log, ["visits"])
        assert {each.projection for each in verify(log).differences} == {"runs"}
        for doing in (verify, rebuild):
            with pytest.raises(UnknownProjection, match="runs"):
                doing(log, ["rnus"])


def test_what_comes_meanwhile_is_folded_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that commit while the rows are built stand in the rebuilt tables."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        edit(log, "DELETE FROM runs")
        built = rebuilding._build

        def and_meanwhile(*arguments: object) -> int:
            position = built(*arguments)  # type: ignore[arg-type]
            tell(log, completed("r2"))
            return position

        monkeypatch.setattr(rebuilding, "_build", and_meanwhile)
        done = rebuild(log)
        assert done.position == log.head().position
        assert verify(log).ok


def test_a_rebuild_that_fails_leaves_the_old_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the exchange takes all of it back, and the store goes on."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        edit(log, "UPDATE runs SET steps = 7")
        before = verify(log)

        def fail(*arguments: object) -> int:
            raise RuntimeError("the power went")

        monkeypatch.setattr(rebuilding, "_count", fail)
        with pytest.raises(RuntimeError):
            rebuild(log)
        assert verify(log) == before
        tell(log, completed("r2"))


CHILD = """
import os, signal, sys
from pathlib import Path
from runwright.projections import rebuild as rebuilding
from support.projected import held
with held(Path(sys.argv[1])) as log:
    rebuilding._count = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
    rebuilding.rebuild(log)
"""


def test_a_kill_in_the_middle_leaves_the_old_rows(tmp_path: Path) -> None:
    """After kill -9 inside the exchange the old rows stand, and a second rebuild mends them."""
    home = tmp_path / "home"
    with held(home) as log:
        tell(log, completed("r1"))
        edit(log, "UPDATE runs SET steps = 7")
        before = verify(log)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    child = subprocess.run([sys.executable, "-c", CHILD, str(home)], env=environment, check=False)
    assert child.returncode == -signal.SIGKILL
    with held(home) as log:
        assert verify(log).differences == before.differences
        rebuild(log)
        assert verify(log).ok
        assert not list(log.home.path.glob("rebuild*"))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE runs SET steps = 77 WHERE run_id = 'r1'", "The field steps of runs"),
        ("DELETE FROM visits", "A row of visits"),
        (FALSE_TIMER, "A row of timers"),
    ],
)
def test_a_deep_verification_compares_the_control_rows(tmp_path: Path, statement: str, words: str) -> None:
    """Beside a holder, at rest and in a backup; one that is not deep leaves them alone."""
    home = tmp_path / "home"
    with held(home) as log:
        tell(log, completed("r1"))
        assert verify_store(home, deep=True, tables=ControlTables).ok
        edit(log, statement)
        first, *_ = verify(log).differences
        beside = verify_store(home, deep=True, tables=ControlTables)
    backup(home, tmp_path / "b.sqlite")
    for verdict in (
        beside,
        verify_store(home, deep=True, tables=ControlTables),
        verify_store(tmp_path / "b.sqlite", deep=True, tables=ControlTables),
    ):
        assert (verdict.problem, verdict.position) == ("row_differs", first.position)
        assert words in verdict.detail
        assert verdict.head is not None
    assert verify_store(home, deep=True).ok


def test_a_deep_verification_tells_another_layout_from_a_changed_one(tmp_path: Path) -> None:
    """The tables of another version are its own affair; those that the log says are this version's are not."""
    with EventLog.open(tmp_path / "other", layout=EVENTS_LAYOUT, control=ControlRows()) as other:
        assert other.head().position == 1
    assert verify_store(tmp_path / "other", deep=True, tables=ControlTables).ok
    with held(tmp_path / "home") as log:
        edit(log, "DROP TRIGGER events_keep")
    verdict = verify_store(tmp_path / "home", deep=True, tables=ControlTables)
    assert (verdict.problem, verdict.position) == ("row_differs", None)
    assert "layout was changed" in verdict.detail


def test_rows_are_compared_as_of_the_end_that_is_walked_to(tmp_path: Path) -> None:
    """Whatever commits while the events are read."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))

        class Late(ControlTables):
            """One during whose walk another run is told of."""

            def saw(self, event: RecordedEvent) -> None:
                """Commit at the first event."""
                if event.position == 1:
                    tell(log, completed("r2"))
                super().saw(event)

        assert verify_store(tmp_path / "home", deep=True, tables=Late).ok
        assert verify_store(tmp_path / "home", deep=True, tables=ControlTables).ok
