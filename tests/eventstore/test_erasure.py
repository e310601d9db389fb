"""Erased values are gone: from readers with the commit, from every file of the store with the scrub."""

from pathlib import Path

import pytest

from runwright.eventstore import erasure
from runwright.eventstore.envelope import ANY
from runwright.eventstore.erasure import OpenScrub, open_scrubs, try_scrub
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.log import LogRedacted, LogScrubbed
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.run import RunInputErased
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.transaction import Tx
from runwright.eventstore.verify import verify_store
from runwright.eventstore.verify_export import verify_export
from support.audited import RUN_A, RUN_B, append, export, files_with, make_store, open_log
from support.chained import run_events

CANARY = "canary"


def redact(log: EventLog, *runs: str) -> int:
    """Redact a tree whose root is the first run."""
    planned = erasure.plan(log, runs)

    def unit(tx: Tx) -> int:
        return erasure.redact(
            tx, planned, root=runs[0], by="operator", reason="asked to", actor="operator", command="c/k"
        )

    return log.transact(unit).result()


def erase_input(log: EventLog, run: str) -> int:
    """Erase a run's input the way its engine does."""
    planned = erasure.plan(log, [run])

    def unit(tx: Tx) -> int:
        count = erasure.erase(tx, planned)
        tx.append(f"run/{run}", ANY, [RunInputErased()], actor="operator")
        return count

    return log.transact(unit).result()


def scrub(log: EventLog) -> tuple[OpenScrub, ...]:
    """Try to scrub."""
    return try_scrub(log, by="operator", actor="operator")


def test_a_redaction_erases_the_tree_and_nothing_else(tmp_path: Path) -> None:
    """Its bodies are gone with the commit, the control facts and the other runs stay, the chain holds."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        before = [event.data for event in log.read_all()]
        assert redact(log, RUN_A) == 2
        events = list(log.read_all())
        assert [event.data for event in events[:11]] == before
        assert {event.stream for event in events if event.erased} == {f"run/{RUN_A}"}
        assert [event.position for event in events if event.body] == [5, 9, 12]
        assert events[11].event == LogRedacted(run=RUN_A, events=2, by="operator", reason=Content.text("asked to"))
        assert events[11].command == "c/k"
    verdict = verify_store(tmp_path, deep=True)
    assert verdict.ok, verdict


def test_a_tree_of_several_runs_is_erased_at_once(tmp_path: Path) -> None:
    """A root and its continuation, by one commit and one event."""
    with open_log(tmp_path) as log:
        append(log, run_events("root") + run_events("child", root="root") + run_events("other"))
        assert redact(log, "root", "child") == 4
        assert [s.run for s in open_scrubs(log)] == ["root"]
    assert verify_store(tmp_path).ok


def test_values_that_came_after_the_plan_are_erased_too(tmp_path: Path) -> None:
    """Between plan and transaction the run got another body; other runs' are left alone."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        planned = erasure.plan(log, [RUN_A])
        late = NodeFinished(path="a", visit=2, attempt=1, outcome="completed", output=Content.text(CANARY))
        append(log, [(f"run/{RUN_A}", late), (f"run/{RUN_B}", late)])

        def unit(tx: Tx) -> int:
            return erasure.redact(tx, planned, root=RUN_A, by="o", reason="r", actor="o", command=None)

        assert log.transact(unit).result() == 3
        assert [event.erased for event in log.read_all(11, limit=2)] == [True, False]


def test_a_redaction_that_fails_erases_nothing(tmp_path: Path) -> None:
    """The NULL commits with the decision or not at all."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        planned = erasure.plan(log, [RUN_A])

        def unit(tx: Tx) -> None:
            erasure.redact(tx, planned, root=RUN_A, by="o", reason="r", actor="o", command=None)
            raise LookupError

        with pytest.raises(LookupError):
            log.transact(unit).result()
        assert not any(event.erased for event in log.read_all())
        assert open_scrubs(log) == ()


def test_a_scrub_removes_the_bytes_from_every_file(tmp_path: Path) -> None:
    """A marker in many runs' values: in the files before, in none after, and the log still verifies."""
    with open_log(tmp_path) as log:
        for number in range(60):
            append(log, run_events(f"run{number}", CANARY * (1 + number * number)))
            append(log, run_events(f"kept{number}", "finch"))
        log.checkpoint(truncate=True)
        assert files_with(tmp_path, CANARY) == ["log.sqlite"]
        redact(log, "run0", *(f"run{number}" for number in range(1, 30)))
        for number in range(30, 60):
            erase_input(log, f"run{number}")
        assert files_with(tmp_path, CANARY)
        assert len(open_scrubs(log)) == 31
        assert scrub(log) == ()
        assert files_with(tmp_path, CANARY) == []
        assert files_with(tmp_path, "finch") == ["log.sqlite"]
        assert open_scrubs(log) == ()
    assert files_with(tmp_path, CANARY) == []
    # The tree's other runs do not name it as their root here, so only their own record would explain them.
    assert verify_store(tmp_path).problem == "body_missing"


def test_a_scrubbed_log_verifies_and_exports(tmp_path: Path) -> None:
    """In the store and in an export with values; the marker is in neither."""
    make_store(tmp_path / "home")
    with open_log(tmp_path / "home") as log:
        redact(log, RUN_A)
        erase_input(log, RUN_B)
        assert scrub(log) == ()
        scrubbed = [event.event for event in log.read_all(types=["log.scrubbed"])]
        assert scrubbed == [
            LogScrubbed(run=RUN_A, events=2, by="operator"),
            LogScrubbed(run=RUN_B, events=2, by="operator"),
        ]
    assert verify_store(tmp_path / "home", deep=True).ok
    path = export(tmp_path / "home", tmp_path / "a.jsonl", with_values=True)
    assert verify_export(path).ok
    assert CANARY.encode() not in path.read_bytes()


def test_an_open_reader_keeps_a_scrub_pending(tmp_path: Path) -> None:
    """The checkpoint cannot truncate behind a read transaction; the next try closes it."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        with LogReader.open(tmp_path) as reader, reader.snapshot() as moment:
            assert moment.position() == 11
            redact(log, RUN_A)
            pending = scrub(log)
            assert pending == (OpenScrub(run=RUN_A, position=12, events=2),)
            assert open_scrubs(log) == pending
        assert scrub(log) == ()
        assert scrub(log) == ()
        assert [event.type for event in log.read_all(11)] == ["log.redacted", "log.scrubbed"]


def test_a_scrub_left_open_by_a_crash_is_found_at_start(tmp_path: Path) -> None:
    """Closing without a scrub leaves it open; the next holder sees it and closes it."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        redact(log, RUN_A)
    with open_log(tmp_path) as log:
        assert [each.run for each in open_scrubs(log)] == [RUN_A]
        assert scrub(log) == ()
    assert files_with(tmp_path, CANARY) == []


def test_what_stands_beside_the_store_goes_before_a_scrub_is_closed(tmp_path: Path) -> None:
    """The caller's part is done for each open scrub, again after a failure, and never for a closed one."""
    make_store(tmp_path)
    seen: list[str] = []
    with open_log(tmp_path) as log:
        redact(log, RUN_A)

        def fail(each: OpenScrub) -> None:
            raise OSError

        with pytest.raises(OSError):
            try_scrub(log, by="o", actor="o", before=fail)
        assert open_scrubs(log)
        for _ in range(2):
            try_scrub(log, by="o", actor="o", before=lambda each: seen.append(each.run))
        assert seen == [RUN_A]


def test_an_erasure_after_a_scrub_opens_a_new_one(tmp_path: Path) -> None:
    """A scrub closes what came before it and no more."""
    make_store(tmp_path)
    with open_log(tmp_path) as log:
        redact(log, RUN_A)
        assert scrub(log) == ()
        redact(log, RUN_A)
        assert [each.run for each in open_scrubs(log)] == [RUN_A]


def test_finding_open_scrubs_reads_no_log(tmp_path: Path) -> None:
    """The statement goes by the index of erasures."""
    make_store(tmp_path)
    with LogReader.open(tmp_path) as reader, reader.snapshot() as moment:
        driver = moment.connection.connection.driver_connection
        assert driver is not None
        plan = driver.execute(
            "EXPLAIN QUERY PLAN SELECT position, stream, type, data FROM events"
            " WHERE type IN ('log.redacted', 'log.scrubbed', 'run.input_erased') ORDER BY events.position"
        ).fetchall()
        assert "events_erasures" in plan[0][3]
        assert open_scrubs(reader) == ()
