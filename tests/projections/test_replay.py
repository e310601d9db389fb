"""Replay: exact rows as of any position, from a log or an export."""

from pathlib import Path
from typing import Any

import pytest

from runwright.eventstore.events.timer import TimerFired
from runwright.eventstore.reader import LogReader
from runwright.eventstore.transfer.errors import ExportDamaged, ExportUnreadable
from runwright.eventstore.transfer.native import export_native
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.runs import RUNS
from runwright.projections.errors import ImpossibleEvent, PositionUnknown, RunUnbegun, RunUnknown
from runwright.projections.replay import (
    OF_RUN,
    read_export,
    replay,
    replay_document,
    replay_log,
    replay_run,
    replay_run_of,
    rows_of_run,
)
from runwright.projections.sql_rows import SqlRows
from support.projected import held, tell
from support.told import completed, fold, queued


def test_every_position_is_the_state_after_that_commit(tmp_path: Path) -> None:
    """A follower's copies of the live rows equal the replays, for the whole log and for the run."""
    told = [*completed("r1", session="s"), *completed("r2")]
    with held(tmp_path / "home") as log:
        for each in told:
            tell(log, [each])
            with log.snapshot() as moment:
                live, at = SqlRows(moment.connection), moment.position()
                copied = {one.name: live.find(one) for one in CONTROL}
                of_run = rows_of_run(live, "r1")
            whole = replay_log(log, at)
            assert {one.name: whole.find(one) for one in CONTROL} == copied
            assert rows_of_run(whole, "r1") == of_run
            assert rows_of_run(replay_run(log, "r1", at), "r1") == of_run


def test_an_export_replays_like_the_log(tmp_path: Path) -> None:
    """Whole or in part, with private values or without them."""
    with held(tmp_path / "home") as log:
        tell(log, [*completed("r1"), *completed("r2")])
        last = log.head().position
        with LogReader.open(log.home.path) as reader:
            for with_values in (False, True):
                path = tmp_path / f"{with_values}.jsonl"
                path.write_bytes(b"".join(export_native(reader, with_values=with_values)))
                for at in (5, last):
                    rows = replay(read_export(path), at)
                    assert {one.name: rows.find(one) for one in CONTROL} == {
                        one.name: replay_log(log, at).find(one) for one in CONTROL
                    }
                assert rows_of_run(replay_run_of(read_export(path), "r2"), "r2") == rows_of_run(
                    replay_run(log, "r2"), "r2"
                )


def test_the_document_prints_rows_as_a_query_does(tmp_path: Path) -> None:
    """Times are readable, identities and token hashes are not shown."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        document = replay_document(replay_run(log, "r1"), "r1", 7)
    assert document["run_id"] == "r1"
    assert document["position"] == 7
    rows: Any = document["rows"]
    assert list(rows) == [each.name for each in OF_RUN]
    (run,), (worker,) = rows["runs"], rows["workers"]
    assert run["created_at"].startswith("20")
    assert not {"pid", "boot", "start", "namespace"} & set(worker)
    assert "secret" not in str(document)


def test_positions_and_runs_that_are_not_there(tmp_path: Path) -> None:
    """Both are typed errors that name what was asked for."""
    with held(tmp_path / "home") as log:
        tell(log, completed("r1"))
        last = log.head().position
        for at in (0, -1, last + 1):
            with pytest.raises(PositionUnknown, match=str(last)):
                replay_log(log, at)
        with pytest.raises(RunUnknown, match="r9"):
            replay_run(log, "r9")
        first = next(iter(log.read("run/r1"))).position
        assert first > 1
        early = f"at position {first - 1}: it was queued at {first}"
        with pytest.raises(RunUnbegun, match=early):
            replay_run(log, "r1", first - 1)
        with pytest.raises(RunUnbegun, match=early):
            replay_run_of(log.read_all(), "r1", first - 1)
        assert rows_of_run(replay_run(log, "r1", first), "r1")["runs"]
        with pytest.raises(RunUnknown, match="r9"):
            replay_run_of(log.read_all(), "r9", 1)


def test_a_log_that_cannot_have_happened_is_refused() -> None:
    """The first guard works in a replay, too."""
    with pytest.raises(ImpossibleEvent, match="already"):
        fold([queued(), queued()])
    with pytest.raises(ImpossibleEvent):
        fold([("run/r1", TimerFired(kind="wait"))])


def test_a_file_that_is_no_export_is_named(tmp_path: Path) -> None:
    """Missing, foreign and damaged files are told apart without a traceback."""
    with pytest.raises(ExportUnreadable):
        list(read_export(tmp_path / "missing.jsonl"))
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_bytes(b"{}\n")
    with pytest.raises(ExportDamaged):
        list(read_export(foreign))


def test_rows_of_a_run_are_its_own() -> None:
    """Another run's rows are not among them."""
    rows = fold([*completed("r1"), *completed("r2")])
    printed: Any = rows_of_run(rows, "r2")
    assert [row["run_id"] for row in printed["runs"]] == ["r2"]
    assert rows.get(RUNS, "r1") is not None
