"""Fixtures of the event store's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.eventstore.log import EventLog
from support.stores import opened


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A new store that counts its streams' events."""
    with opened(tmp_path / "home") as made:
        yield made
