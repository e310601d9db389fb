"""A store knows itself: whatever was copied, restored or imported is read-only until it is adopted."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from runwright.eventstore import adoption, identity
from runwright.eventstore import log as log_module
from runwright.eventstore.adoption import store_standing
from runwright.eventstore.backup import backup
from runwright.eventstore.envelope import ANY, Head
from runwright.eventstore.errors import StoreFull, StoreInUse, StoreMissing, StoreReadonly, UnsafeHome
from runwright.eventstore.events.log import LogImported
from runwright.eventstore.events.run import RunParked
from runwright.eventstore.home import Home
from runwright.eventstore.identity import Standing
from runwright.eventstore.log import LogReader
from runwright.eventstore.table import EVENTS_LAYOUT
from runwright.eventstore.transaction import Tx
from runwright.eventstore.verify import verify_store
from support.audited import RUN_A, NoRows, append, make_store, open_log
from support.chained import run_events


def store_id(home: Path) -> dict[str, Any]:
    """The content of ``store.id``."""
    content: dict[str, Any] = json.loads((home / "store.id").read_text())
    return content


def adopt(home: Path, **options: Any) -> Head | None:
    """Adopt a store of the events' layout."""
    return adoption.adopt(home, by="operator", actor="operator", layout=EVENTS_LAYOUT, control=NoRows(), **options)


def refused(home: Path, standing: Standing) -> None:
    """A store is refused for writing with its reason, reads, and does not change by that."""
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.name != "host.lock"}
    with pytest.raises(StoreReadonly) as error:
        open_log(home)
    assert error.value.reason == standing.value
    assert error.value.code == "store_readonly"
    assert "runwright store adopt" in error.value.hint
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.name != "host.lock"} == before
    assert store_standing(home) is standing
    with LogReader.open(home) as reader:
        assert reader.head().position >= 1


def test_a_store_knows_itself_across_openings(tmp_path: Path) -> None:
    """Opened, written and opened again; the head in ``store.id`` follows at open and at the end."""
    head = make_store(tmp_path)
    assert store_standing(tmp_path) is Standing.OWN
    content = store_id(tmp_path)
    assert (content["position"], content["hash"]) == (head.position, head.hash.hex())
    stat = (tmp_path / "log.sqlite").stat()
    assert (content["inode"], content["device"]) == (stat.st_ino, stat.st_dev)
    with open_log(tmp_path) as log:
        assert content["log_id"] == log.log_id
        append(log, run_events("more"))
        assert store_id(tmp_path)["position"] == head.position
        head = log.head()
    assert store_id(tmp_path)["position"] == head.position
    assert (tmp_path / "store.id").stat().st_mode & 0o777 == 0o600


def test_a_killed_holder_leaves_a_store_that_knows_itself(tmp_path: Path) -> None:
    """The head in ``store.id`` is older than the log then, and the log still holds it."""
    make_store(tmp_path)
    old = (tmp_path / "store.id").read_bytes()
    with open_log(tmp_path) as log:
        append(log, run_events("more"))
    (tmp_path / "store.id").write_bytes(old)
    open_log(tmp_path).close()


def test_a_crash_before_the_first_event_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``store.id`` is there before the first event, so a crash between or after them does no harm."""

    def crash(self: object, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log_module.EventLog, "transact", crash)
        with pytest.raises(KeyboardInterrupt):
            open_log(tmp_path)
    assert store_id(tmp_path)["position"] == 0
    with monkeypatch.context() as patch:
        patch.setattr(log_module.EventLog, "note_head", crash)
        with pytest.raises(KeyboardInterrupt):
            open_log(tmp_path)
    assert store_id(tmp_path)["position"] == 0
    with open_log(tmp_path) as log:
        assert log.head().position == 1


def test_the_head_is_noted_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While events are committed, and not with each of them; trouble in writing it stops nobody."""
    with open_log(tmp_path) as log:
        append(log, run_events("a"))
        assert store_id(tmp_path)["position"] == 1
        monkeypatch.setattr(log_module, "NOTE_EVERY", 0.0)
        append(log, run_events("b"))
        append(log, run_events("c"))
        assert store_id(tmp_path)["position"] >= 11

        def full(*_: object, **__: object) -> None:
            raise StoreFull(tmp_path)

        monkeypatch.setattr(identity, "write", full)
        append(log, run_events("d"))
        assert log.failed is None
    assert store_standing(tmp_path) is Standing.OWN


def test_a_copied_folder_is_read_only(tmp_path: Path) -> None:
    """Everything was copied, ``store.id`` too: the file is another one."""
    make_store(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    refused(tmp_path / "two", Standing.OTHER_FILE)
    open_log(tmp_path / "one").close()


def test_a_store_without_its_id_is_read_only(tmp_path: Path) -> None:
    """Only the log was copied."""
    make_store(tmp_path)
    (tmp_path / "store.id").unlink()
    refused(tmp_path, Standing.MISSING)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b"[" * 5000])
def test_an_unreadable_id_is_no_proof(tmp_path: Path, content: bytes) -> None:
    """Whatever stands there that is not an ID."""
    make_store(tmp_path)
    (tmp_path / "store.id").write_bytes(content)
    refused(tmp_path, Standing.UNREADABLE)


@pytest.mark.parametrize(
    ("name", "value", "standing"),
    [
        ("log_id", "0" * 32, Standing.OTHER_LOG),
        ("inode", 1, Standing.OTHER_FILE),
        ("position", 99, Standing.BEHIND),
        ("hash", "00" * 32, Standing.OTHER_HEAD),
        ("position", 0, Standing.OTHER_HEAD),
        ("hash", "zz", Standing.UNREADABLE),
        ("inode", "1", Standing.UNREADABLE),
        ("log_id", None, Standing.UNREADABLE),
    ],
)
def test_each_field_of_the_id_counts(tmp_path: Path, name: str, value: object, standing: Standing) -> None:
    """Another log, another file, a head that is ahead, another hash at its position."""
    make_store(tmp_path)
    (tmp_path / "store.id").write_text(json.dumps(store_id(tmp_path) | {name: value}))
    refused(tmp_path, standing)


def test_another_device_number_is_no_copy(tmp_path: Path) -> None:
    """Device numbers change with a reboot; the inode, the log and the head do not."""
    make_store(tmp_path)
    (tmp_path / "store.id").write_text(json.dumps(store_id(tmp_path) | {"device": 1}))
    open_log(tmp_path).close()


def test_a_linked_id_is_refused(tmp_path: Path) -> None:
    """A link could point anywhere."""
    make_store(tmp_path / "home")
    (tmp_path / "home" / "store.id").rename(tmp_path / "elsewhere")
    (tmp_path / "home" / "store.id").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeHome):
        open_log(tmp_path / "home")


def test_an_older_file_put_back_is_read_only(tmp_path: Path) -> None:
    """A restored backup is another file; the same file with older content is behind."""
    make_store(tmp_path / "home")
    backup(tmp_path / "home", tmp_path / "backup.sqlite")
    old = (tmp_path / "home" / "log.sqlite").read_bytes()
    with open_log(tmp_path / "home") as log:
        append(log, run_events("more"))
    (tmp_path / "home" / "log.sqlite").write_bytes(old)
    refused(tmp_path / "home", Standing.BEHIND)
    (tmp_path / "home" / "log.sqlite").unlink()
    shutil.copy(tmp_path / "backup.sqlite", tmp_path / "home" / "log.sqlite")
    with pytest.raises(StoreReadonly):
        open_log(tmp_path / "home")


def test_an_adopted_store_carries_on(tmp_path: Path) -> None:
    """``log.imported`` names the head it came with, what has to happen with it is in the same commit."""
    head = make_store(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")

    def park(tx: Tx) -> None:
        tx.append(f"run/{RUN_A}", ANY, [RunParked(reason="imported")], actor="operator")

    assert adopt(tmp_path / "two", extra_unit=park) == head
    assert store_standing(tmp_path / "two") is Standing.OWN
    with open_log(tmp_path / "two") as log:
        imported, parked = list(log.read_all(head.position))
        assert imported.event == LogImported(position=head.position, hash=head.hash.hex(), by="operator")
        assert parked.type == "run.parked"
        append(log, run_events("more"))
    assert verify_store(tmp_path / "two", head=head).ok
    open_log(tmp_path / "one").close()


def test_a_restored_backup_is_adopted(tmp_path: Path) -> None:
    """The backup's file in place of the log, without its ID."""
    head = make_store(tmp_path / "one")
    backup(tmp_path / "one", tmp_path / "backup.sqlite")
    (tmp_path / "two").mkdir(mode=0o700)
    (tmp_path / "backup.sqlite").rename(tmp_path / "two" / "log.sqlite")
    refused(tmp_path / "two", Standing.MISSING)
    assert adopt(tmp_path / "two") == head
    with open_log(tmp_path / "two") as log:
        assert log.head().position == head.position + 1


def test_adopting_its_own_store_does_nothing(tmp_path: Path) -> None:
    """No event, and nothing is parked."""
    head = make_store(tmp_path)

    def never(tx: Tx) -> None:
        raise AssertionError

    assert adopt(tmp_path, extra_unit=never) is None
    assert verify_store(tmp_path).head == head


def test_an_adoption_that_fails_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    """What happens with it raises: no event, still read-only."""
    head = make_store(tmp_path)
    (tmp_path / "store.id").unlink()

    def fail(tx: Tx) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        adopt(tmp_path, extra_unit=fail)
    assert store_standing(tmp_path) is Standing.MISSING
    assert verify_store(tmp_path).head == head


def test_adoption_needs_a_store_that_nobody_holds(tmp_path: Path) -> None:
    """No store is not made by adopting; a held one is left alone."""
    with pytest.raises(StoreMissing):
        adopt(tmp_path / "none")
    assert not (tmp_path / "none" / "log.sqlite").exists()
    make_store(tmp_path / "one")
    with open_log(tmp_path / "one"), pytest.raises(StoreInUse):
        adopt(tmp_path / "one")


def test_an_id_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trouble while it is written leaves the old one, no other file, and an error of ours."""
    head = make_store(tmp_path)
    before = (tmp_path / "store.id").read_bytes()
    names = {path.name for path in tmp_path.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull):
        identity.write(Home(tmp_path), "another", head)
    assert (tmp_path / "store.id").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_file_put_in_place_of_a_held_store_does_not_become_its_own(tmp_path: Path) -> None:
    """The holder ends and names its own file, not the one that stands there by then."""
    make_store(tmp_path / "home")
    backup(tmp_path / "home", tmp_path / "backup.sqlite")
    with open_log(tmp_path / "home"):
        before = store_id(tmp_path / "home")
        (tmp_path / "backup.sqlite").replace(tmp_path / "home" / "log.sqlite")
    assert store_id(tmp_path / "home") == before
    for suffix in ("-wal", "-shm"):
        (tmp_path / "home" / f"log.sqlite{suffix}").unlink(missing_ok=True)
    refused(tmp_path / "home", Standing.OTHER_FILE)
