"""Whatever is done to a store or an export: it is found, or it changed nothing that the log says."""

from pathlib import Path

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import StoreError
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify import verify_store
from runwright.eventstore.verify_export import verify_export
from support.audited import append, export, make_store, open_log, tamper
from support.chained import run_events


@frozen(kw_only=True)
class Original:
    """A store and its export as they were before anybody touched them."""

    home: Path
    store: bytes
    export: bytes
    head: Head


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    """A store with enough events for several pages, one of them over many."""
    home = tmp_path_factory.mktemp("original") / "home"
    make_store(home)
    with open_log(home) as log:
        append(log, run_events("long", "x" * 20_000))
        for number in range(20):
            append(log, run_events(f"run{number}"))
        head = log.head()
    source = export(home, home.parent / "a.jsonl", with_values=True)
    return Original(home=home, store=(home / "log.sqlite").read_bytes(), export=source.read_bytes(), head=head)


def copy_of(original: Original, folder: Path) -> Path:
    """A fresh copy of the store to be tampered with."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "log.sqlite").write_bytes(original.store)
    (home / "log.sqlite").chmod(0o600)
    return home


EDITABLE = {
    "stream": ("'run/x'", "stream || 'x'", "upper(stream)"),
    "version": ("version + 100", "0", "-version"),
    "type": ("'run.failed'", "''", "type || ' '"),
    "at": ("at - 1", "0", "-at"),
    "actor": ("'eve'", "actor || char(0)", "''"),
    "generation": ("1", "0", "99"),
    "command": ("'k'", "'null'", "''"),
    "data": ("data || ' '", "' ' || data", "'{}' || data", "CAST(x'ff00' AS TEXT)"),
    "digest": ("zeroblob(32)", "randomblob(32)", "x'00'"),
    "hash": ("zeroblob(32)", "randomblob(32)", "x''"),
    "salt": ("randomblob(16)", "x'00'"),
    "body": ("'{}'", "body || ' '", "CAST(x'ff' AS TEXT)"),
    "position": ("position + 5000", "-position"),
}


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_edit_of_any_column_is_found_at_its_event(
    original: Original, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """With a database shell and the triggers dropped: never whole, and no later event is named."""
    home = copy_of(original, tmp_path_factory.mktemp("edit"))
    column = data.draw(st.sampled_from(sorted(EDITABLE)))
    value = data.draw(st.sampled_from(EDITABLE[column]))
    position = data.draw(st.integers(1, original.head.position))
    tamper(home, f"UPDATE events SET {column} = {value} WHERE position = {position} AND {column} IS NOT ({value})")
    verdict = verify_store(home)
    if value.startswith(f"{column} || ") and column == "body" and verdict.ok:
        return  # this event has no body, and NULL with something behind it is NULL
    assert not verdict.ok
    assert verdict.position is not None
    assert verdict.position <= position


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_to_the_file_is_found_or_changes_no_event(
    original: Original, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Random bytes of the database file: a typed error, a fault, or a log that exports to the same bytes."""
    folder = tmp_path_factory.mktemp("bytes")
    home = copy_of(original, folder)
    damaged = bytearray(original.store)
    for _ in range(data.draw(st.integers(1, 4))):
        offset = data.draw(st.integers(0, len(damaged) - 1))
        length = data.draw(st.sampled_from([1, 1, 1, 8, 200]))
        damaged[offset : offset + length] = data.draw(st.binary(min_size=length, max_size=length))
    del damaged[len(original.store) :]
    (home / "log.sqlite").write_bytes(damaged)
    try:
        verdict = verify_store(home, head=original.head)
    except StoreError:
        return
    assert (home / "log.sqlite").read_bytes() == bytes(damaged)
    if verdict.ok:
        assert export(home, folder / "b.jsonl", with_values=True).read_bytes() == original.export


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_to_an_export_is_always_found(
    original: Original, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes overwritten, cut out or put in anywhere: the first bad position is that of the line, or the next."""
    folder = tmp_path_factory.mktemp("export")
    whole = original.export
    offset = data.draw(st.integers(0, len(whole) - 1))
    gone = data.draw(st.sampled_from([0, 1, 1, 2, 500]))
    fresh = data.draw(st.binary(max_size=3))
    spoilt = whole[:offset] + fresh + whole[offset + gone :]
    path = folder / "a.jsonl"
    path.write_bytes(spoilt)
    verdict: Verdict = verify_export(path)
    assert verdict.ok is (spoilt == whole)
    if not verdict.ok and whole[:offset].count(b"\n"):
        assert verdict.position is not None
        assert verdict.position >= whole[:offset].count(b"\n")
