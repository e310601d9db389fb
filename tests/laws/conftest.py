"""A stage over a new log for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.stage import Stage, stage


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Stage]:
    """A stage over a new log."""
    with stage(tmp_path / "home") as each:
        yield each
