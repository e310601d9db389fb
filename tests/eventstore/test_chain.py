"""The chain: its bytes are pinned, and every bit of an event counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from runwright.eventstore import chain
from runwright.eventstore.envelope import RecordedEvent

GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("golden_hashes.json").read_text("utf-8"))


def recorded(entry: dict[str, Any]) -> RecordedEvent:
    """Make the event of a golden entry."""
    digest = bytes.fromhex(entry["digest"]) if "digest" in entry else None
    salt = bytes.fromhex(entry["salt"]) if "salt" in entry else None
    row = (*entry["header"], entry["data"], digest, bytes.fromhex(entry["hash"]), salt, entry.get("body"))
    return RecordedEvent(*row)


def test_the_golden_vectors_hold() -> None:
    """Hashes that were worked out apart from the code come out again, byte for byte."""
    previous = chain.genesis(GOLDEN["log_id"])
    assert previous.hex() == GOLDEN["genesis"]
    for entry in GOLDEN["events"]:
        event = recorded(entry)
        assert event.generation in (None, 7)
        if event.body is not None and event.salt is not None:
            assert chain.body_digest(event.salt, event.body) == event.digest
        assert chain.hash_after(previous, event) == event.hash
        previous = event.hash


@pytest.mark.parametrize(
    "change",
    [
        {"position": 4},
        {"stream": "run/other"},
        {"version": 3},
        {"type": "node.finished"},
        {"at": 1},
        {"actor": "client:cli"},
        {"generation": None},
        {"command": "key"},
        {"data": "{}"},
        {"digest": bytes(32)},
    ],
)
def test_every_column_goes_into_the_hash(change: dict[str, Any]) -> None:
    """Whatever is changed, the hash is another one."""
    event = recorded(GOLDEN["events"][2])
    previous = bytes.fromhex(GOLDEN["events"][1]["hash"])
    for name, value in change.items():
        setattr(event, name, value)
    assert chain.hash_after(previous, event) != event.hash


def test_the_hash_before_goes_into_the_hash() -> None:
    """An event verifies in its own place only."""
    event = recorded(GOLDEN["events"][2])
    assert chain.hash_after(bytes(32), event) != event.hash


def test_salt_and_body_go_into_the_digest() -> None:
    """Without the salt nobody can try values against a digest."""
    assert chain.body_digest(bytes(16), "{}") != chain.body_digest(b"\1" + bytes(15), "{}")
    assert chain.body_digest(bytes(16), "{}") != chain.body_digest(bytes(16), "{ }")
