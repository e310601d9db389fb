"""C83: the tables are what the log says: dumped, rebuilt, compared, damaged, found and mended."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runwright import Engine, Surroundings
from runwright.engine.reading.moment import moment_of
from runwright.engine.reading.reader import Reader
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RUNS
from runwright.projections.inline import ControlRows
from runwright.projections.replay import OF_RUN, rows_of_run
from support.command_line import CommandLine
from support.killed import KILLED, drive
from support.sound import check_sound


def mixed_runs(cli: CommandLine) -> None:
    """Leave runs in many states behind, some of them by a kill."""
    for mode, code in (("repeatable", 0), ("failing", 1), ("doubtful", 5), ("doubtful", 5)):
        cli("run", "--inline", "world.py:contracts", "-s", f"mode={mode}", code=code)
    cli("cancel", "@last")
    for number, death in enumerate(("notify 2", "poll 3")):
        assert drive(cli.home, cli.project, "world.py:rounds", {"die": [death]}, f"k{number}") == KILLED
    cli("resume", "@last")
    cli("run", "--inline", "world.py:odd", "-s", "mode=nan", code=1)
    cli.queue("world.py:four")
    cli.queue("world.py:four")
    cli("cancel", "@last")


def dump(home: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of every projection; the holders' own are left out, since each command adds one."""
    with Reader.open(home) as reader:
        names = [each.name for each in OF_RUN if each.name != "hosts"] + ["receipts", "definitions"]
        return {name: [dict(row) for row in reader.query(name, limit=1000).items] for name in names}


def test_c83_rebuilt_tables_equal_the_live_ones(cli: CommandLine) -> None:
    """C83: dumped, emptied and rebuilt twice: all equal, and the runs' events are what they were."""
    mixed_runs(cli)
    live = dump(cli.home)
    assert {row["status"] for row in live["runs"]} >= {"completed", "failed", "cancelled", "queued", "running"}
    cli("log", "export", "-o", "before.jsonl")
    before = Path("before.jsonl").read_bytes().splitlines()[1:]
    for _ in range(2):
        with closing(sqlite3.connect(cli.home / "log.sqlite", isolation_level=None)) as shell:
            for name in live:
                shell.execute(f"DELETE FROM {name}")
        # Nothing but the tables is missing, and opening the store may not need them.
        cli("projections", "verify", code=1)
        cli("projections", "rebuild")
        cli("projections", "verify")
        assert dump(cli.home) == live
    cli("log", "export", "-o", "after.jsonl")
    after = Path("after.jsonl").read_bytes().splitlines()[1:]
    assert after[: len(before)] == before
    assert all(b'"stream":"host"' in line for line in after[len(before) :])
    check_sound(cli.home)


def test_c83_an_edited_a_deleted_and_a_false_row_are_found_and_mended(cli: CommandLine) -> None:
    """C83: verify exits 1 and names row, field and both values; rebuild mends it."""
    cli("run", "--inline", "world.py:four")
    run_id = cli.run_id()
    with closing(sqlite3.connect(cli.home / "log.sqlite", isolation_level=None)) as shell:
        shell.execute("UPDATE runs SET steps = 7")
        shell.execute("DELETE FROM visits WHERE path = 'second'")
        shell.execute("INSERT INTO timers VALUES (?, 'wait', 5, 0, 6)", (run_id,))
    found = cli("projections", "verify", "--json", code=1).document["differences"]
    by_projection = {each["projection"]: each for each in found}
    assert set(by_projection) == {"runs", "visits", "timers"}
    edited = by_projection["runs"]
    assert (edited["key"], edited["field"], edited["live"], edited["replayed"]) == ({"run_id": run_id}, "steps", 7, 4)
    words = cli("projections", "verify", code=1).out
    assert all(word in words for word in ("runs", "steps", "7", "4", "second"))
    cli("projections", "rebuild")
    cli("projections", "verify")
    assert cli("status", run_id, "--json").document["steps"]["used"] == 4
    check_sound(cli.home)


def test_c83_a_replay_equals_the_rows_after_every_commit(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C83: for every commit, the rows that were copied right after it are those of a replay up to there."""
    copies: dict[int, dict[str, dict[str, Json]]] = {}
    readers: list[Reader] = []
    committed = ControlRows.committed

    def copied(self: ControlRows) -> None:
        committed(self)
        if not readers:
            return
        with moment_of(readers[0].log) as moment:
            ids = [row.run_id for row in moment.rows.find(RUNS)]
            copies[moment.position] = {run_id: rows_of_run(moment.rows, run_id) for run_id in ids}

    monkeypatch.setattr(ControlRows, "committed", copied)
    here = Surroundings(cwd=project)
    with Engine.open(home) as engine:
        with Reader.open(home) as reader:
            readers.append(reader)
            first = engine.run("world.py:rounds", {}, surroundings=here)
            second = engine.run("world.py:contracts", {"mode": "doubtful"}, surroundings=here)
            engine.pause(second.run_id)
            (effect,) = engine.effects(second.run_id)
            engine.resolve(effect.effect, "done", result="it was there", reason="looked")
            engine.resume(second.run_id)
            assert engine.wait(second.run_id).status == "completed"
            third = engine.start("world.py:four", {}, surroundings=here, drive=False)
            engine.cancel(third)
            readers.clear()
        compared = 0
        for position, rows in copies.items():
            for run_id, expected in rows.items():
                assert engine.replay(run_id, at=position)["rows"] == expected, (position, run_id)
                compared += 1
        assert {first.run_id, second.run_id, third} <= set(copies[max(copies)])
        assert compared > 25
