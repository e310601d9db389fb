"""Exports: native, CloudEvents and CSV; streamed, the same every time, and private only when asked."""

import csv
import io
import json
import types
from pathlib import Path

import pytest

from runwright.eventstore.log import LogReader
from runwright.eventstore.table import events
from runwright.eventstore.transfer.cloudevents import export_cloudevents
from runwright.eventstore.transfer.csv import export_csv
from runwright.eventstore.transfer.errors import NothingToExport
from runwright.eventstore.transfer.native import export_native
from runwright.eventstore.transfer.selection import Selection
from runwright.eventstore.transfer.stamp import rfc3339
from runwright.eventstore.verify_export import read_export, verify_export
from support.audited import RUN_A, RUN_B, append, export, make_store, open_log
from support.chained import run_events
from support.standalone import first_bad_position

COLUMNS = [column.name for column in events.c]
EXPORTERS = (export_native, export_cloudevents, export_csv)


@pytest.mark.parametrize("with_values", [True, False])
def test_a_whole_export_verifies_and_names_the_head(tmp_path: Path, with_values: bool) -> None:
    """By our verifier and by an independent one."""
    head = make_store(tmp_path / "home")
    path = export(tmp_path / "home", tmp_path / "a.jsonl", with_values=with_values)
    verdict = verify_export(path, head=head)
    assert verdict.ok, verdict
    assert (verdict.head, verdict.values, verdict.complete) == (head, with_values, True)
    assert first_bad_position(path) is None
    assert (b"canary" in path.read_bytes()) is with_values


def test_the_native_lines_have_the_documented_shape(tmp_path: Path) -> None:
    """The head line's keys, the columns, hex and null."""
    make_store(tmp_path / "home")
    lines = export(tmp_path / "home", tmp_path / "a.jsonl").read_bytes().splitlines()
    head = json.loads(lines[0])
    assert list(head) == ["first", "format", "last", "log_id", "previous"]
    assert (head["first"], head["format"], head["last"]) == (1, "runwright.log.v1", 11)
    event = json.loads(lines[4])
    assert list(event) == sorted(COLUMNS)
    assert (event["salt"], event["body"], event["generation"]) == (None, None, None)
    assert bytes.fromhex(event["digest"])
    assert event["data"] == {}


def test_an_export_is_read_back_as_the_log_has_it(tmp_path: Path) -> None:
    """Every column of every event, the stored texts included."""
    make_store(tmp_path / "home")
    path = export(tmp_path / "home", tmp_path / "a.jsonl", with_values=True)
    with LogReader.open(tmp_path / "home") as reader:
        for stored, read in zip(reader.read_all(), read_export(path), strict=True):
            for name in COLUMNS:
                assert getattr(stored, name) == getattr(read, name)
            assert stored.event == read.event


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("with_values", [True, False])
def test_exports_are_deterministic_and_streamed(
    tmp_path: Path, exporter: types.FunctionType, with_values: bool
) -> None:
    """The same bytes twice, one line at a time, and values only when asked."""
    make_store(tmp_path)
    with LogReader.open(tmp_path) as reader:
        first = list(exporter(reader, with_values=with_values))
        second = exporter(reader, with_values=with_values)
        assert isinstance(second, types.GeneratorType)
        assert list(second) == first
    assert (b"canary" in b"".join(first)) is with_values
    assert all(line.endswith(b"\n") for line in first)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_progress_is_told(tmp_path: Path, exporter: types.FunctionType) -> None:
    """The last call names the end."""
    make_store(tmp_path)
    calls: list[tuple[int, int]] = []
    with LogReader.open(tmp_path) as reader:
        list(exporter(reader, progress=lambda at, last: calls.append((at, last))))
    assert calls[-1] == (11, 11)


def test_an_export_ends_at_the_head_it_began_with(tmp_path: Path) -> None:
    """What commits while it runs is not in it, and it verifies."""
    make_store(tmp_path / "home")
    with open_log(tmp_path / "home") as log:
        kept = log.head()
        lines = export_native(log)
        first = next(lines)
        append(log, run_events("later"))
        (tmp_path / "a.jsonl").write_bytes(first + b"".join(lines))
    verdict = verify_export(tmp_path / "a.jsonl", head=kept)
    assert verdict.ok
    assert verdict.head == kept


PARTS = [
    Selection(streams=frozenset({f"run/{RUN_A}"})),
    Selection(streams=frozenset({f"run/{RUN_A}", f"run/{RUN_B}"})),
    Selection(first=3, last=7),
    Selection(first=5),
    Selection(last=4),
]


@pytest.mark.parametrize("selection", PARTS)
def test_a_part_says_so_and_verifies(tmp_path: Path, selection: Selection) -> None:
    """Each event brings the hash before it, and the part needs nothing else of the log."""
    make_store(tmp_path / "home")
    path = export(tmp_path / "home", tmp_path / "part.jsonl", selection=selection, with_values=True)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["complete"] is False
    assert all(len(line["previous"]) == 64 for line in lines)
    assert (lines[0]["first"], lines[0]["last"]) == (lines[1]["position"], lines[-1]["position"])
    verdict = verify_export(path)
    assert verdict.ok, verdict
    assert not verdict.complete
    if selection.streams is not None:
        assert {line["stream"] for line in lines[1:]} == selection.streams


def test_a_long_run_is_exported_across_lookups(tmp_path: Path) -> None:
    """More events than one lookup of neighbours holds, with gaps everywhere."""
    with open_log(tmp_path / "home") as log:
        for number in range(130):
            append(log, [(f"run/{RUN_A}", e) for _, e in run_events(RUN_A)])
            append(log, [(f"run/other{number}", e) for _, e in run_events("o")])
    path = export(tmp_path / "home", tmp_path / "part.jsonl", selection=PARTS[0])
    verdict = verify_export(path)
    assert verdict.ok, verdict
    assert verdict.events == 650


def test_the_whole_range_is_the_whole_log(tmp_path: Path) -> None:
    """A range from the first event to the last is a whole export, byte for byte."""
    make_store(tmp_path / "home")
    whole = export(tmp_path / "home", tmp_path / "a.jsonl").read_bytes()
    assert export(tmp_path / "home", tmp_path / "b.jsonl", selection=Selection(first=1, last=11)).read_bytes() == whole


@pytest.mark.parametrize(
    "selection", [Selection(streams=frozenset({"run/none"})), Selection(first=12), Selection(first=5, last=4)]
)
@pytest.mark.parametrize("exporter", EXPORTERS)
def test_nothing_to_export_is_an_error(tmp_path: Path, selection: Selection, exporter: types.FunctionType) -> None:
    """An unknown stream and an empty range."""
    make_store(tmp_path)
    with LogReader.open(tmp_path) as reader, pytest.raises(NothingToExport):
        list(exporter(reader, selection=selection))


def test_cloudevents_have_the_required_attributes(tmp_path: Path) -> None:
    """CloudEvents 1.0: required attributes, lower-case names, no nulls, an ID that is unique in its source."""
    make_store(tmp_path)
    with LogReader.open(tmp_path) as reader:
        found = [json.loads(line) for line in export_cloudevents(reader, with_values=True)]
        log_id = reader.log_id
    assert len(found) == 11
    assert len({(each["source"], each["id"]) for each in found}) == 11
    for each in found:
        assert each["specversion"] == "1.0"
        assert each["source"] == f"urn:runwright:log:{log_id}"
        assert each["type"].startswith("runwright.")
        assert all(name.isalnum() and name == name.lower() and len(name) <= 20 for name in each)
        assert all(value is not None for name, value in each.items() if name != "data")
        assert each["time"].endswith("Z")
    assert sorted(found, key=lambda each: str(each["sequence"])) == found
    assert found[3]["data"]["body"]["input"]["value"]["task"] == "canary"
    assert found[0]["data"] == {"body": None, "data": found[0]["data"]["data"]}


def test_csv_is_read_back_by_the_standard_library(tmp_path: Path) -> None:
    """One record for each event; JSON columns hold the stored text."""
    make_store(tmp_path)
    with LogReader.open(tmp_path) as reader:
        text = b"".join(export_csv(reader, with_values=True)).decode()
        stored = list(reader.read_all())
    records = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(records) == 11
    for record, event in zip(records, stored, strict=True):
        assert record["position"] == str(event.position)
        assert record["data"] == event.data
        assert record["body"] == (event.body or "")
        assert record["hash"] == event.hash.hex()
        assert record["at"] == rfc3339(event.at)


def test_no_cell_of_a_csv_runs_as_a_formula(tmp_path: Path) -> None:
    """A client chooses its command's key; a spreadsheet must not run it."""
    with open_log(tmp_path) as log:
        stream, event = run_events(RUN_A)[0]
        log.transact(lambda tx: tx.append(stream, 0, [event], actor="@eve", command="=1+1")).result()
        records = list(csv.reader(b"".join(export_csv(log)).decode().splitlines()))
    assert records[2][5] == "'@eve"
    assert records[2][7] == "'=1+1"


def test_a_stamp_keeps_its_microseconds() -> None:
    """RFC 3339 in UTC, six digits always, also before 1970 and far ahead."""
    assert rfc3339(0) == "1970-01-01T00:00:00.000000Z"
    assert rfc3339(1_800_000_000_000_001) == "2027-01-15T08:00:00.000001Z"
    assert rfc3339(-1) == "1969-12-31T23:59:59.999999Z"
