"""The pytest plugin: an engine in a folder of the test's own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.embedded.engine import Engine

_MARK = "runwright(agents={}, workflows=[]): what the fixture `runwright_engine` is opened with."
_TAKES = frozenset({"agents", "workflows"})


def pytest_configure(config: pytest.Config) -> None:
    """Name the mark."""
    config.addinivalue_line("markers", _MARK)


@pytest.fixture
def runwright_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An open engine with a store of its own, on the machine's clock; closed after the test.

    ``@pytest.mark.runwright(agents={…}, workflows=[…])`` says what it is opened with.
    """
    given = opened_with(request.node.get_closest_marker("runwright"))
    with Engine.open(tmp_path / "runwright", **given) as engine:
        yield engine


def opened_with(mark: pytest.Mark | None) -> Mapping[str, Any]:
    """What the mark says that the engine is opened with.

    Raises:
        UsageError: It says something else, too.
    """
    if mark is None:
        return {}
    if mark.args or not mark.kwargs.keys() <= _TAKES:
        raise pytest.UsageError("The mark `runwright` takes agents= and workflows=, by name, and nothing else.")
    return mark.kwargs
