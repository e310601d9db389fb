"""The pytest plugin: an engine in a folder of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.engine.embedded.engine import Engine

_MARK = "runwright(agents={}, workflows=[]): what the fixture `runwright_engine` is opened with."


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark."""
    config.addinivalue_line("markers", _MARK)


@pytest.fixture
def runwright_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An open engine with a store of its own, on the machine's clock; closed after the test.

    ``@pytest.mark.runwright(agents={…}, workflows=[…])`` says what it is opened with.
    """
    mark = request.node.get_closest_marker("runwright")
    with Engine.open(tmp_path / "runwright", **({} if mark is None else mark.kwargs)) as engine:
        yield engine
