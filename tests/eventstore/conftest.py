"""Fixtures of the event store's tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.eventstore.log import EventLog
from support.stores import appending, finished, opened
from support.troubled_writer import Driver


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A new store that counts its streams' events."""
    with opened(tmp_path / "home") as made:
        yield made


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The home of a store that was closed in good order: one file, no WAL."""
    with opened(tmp_path / "home") as log:
        for number in range(40):
            log.transact(appending(f"run/{number}", finished("x" * 1_000))).result()
    return tmp_path / "home"


@pytest.fixture
def killed(tmp_path: Path, stopped: Path) -> Path:
    """The home of a store whose holder was killed: its last events stand in the WAL only."""
    with opened(stopped) as log:
        log.transact(appending("run/last", finished("y" * 1_000))).result()
        shutil.copytree(stopped, tmp_path / "copy")
    shutil.rmtree(stopped)
    (tmp_path / "copy").rename(stopped)
    (stopped / "store.id").unlink()  # a copy is told from its store elsewhere
    return stopped


@pytest.fixture(params=["stopped", "killed"])
def home(request: pytest.FixtureRequest) -> Path:
    """A store in either state."""
    return Path(request.getfixturevalue(request.param))


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """The driver, counting commits."""
    return Driver(monkeypatch)
