"""Tests of the execution read the lists that were told, which must not depend on how busy the machine is."""

import pytest

from runwright.engine.execution import walk


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is settled waits for the next request long enough to share its list."""
    monkeypatch.setattr(walk, "PATIENCE", 10.0)
