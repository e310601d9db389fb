"""A state directory that is none: said by every command, and never taken for one without runs."""

import pytest

from runwright.cli.failures import UNAVAILABLE
from support.command_line import CommandLine


@pytest.mark.parametrize(
    "arguments", [["status"], ["runs"], ["requests"], ["run", "sample", "-s", "task=x"]], ids=" ".join
)
@pytest.mark.parametrize("below", [False, True], ids=["file", "below-a-file"])
def test_a_file_is_no_home_without_runs(cli: CommandLine, arguments: list[str], below: bool) -> None:
    """What lists runs lists none only where there could be some."""
    cli.home.touch()
    home = cli.home / "below" if below else cli.home
    answer = cli("--home", str(home), *arguments, code=UNAVAILABLE)
    assert "no directory" in answer.err
    assert "ever started" not in answer.out


def test_a_path_that_is_too_long_is_said_so(cli: CommandLine) -> None:
    """It is not the store that is unavailable, and a repeat would change nothing."""
    home = cli.home
    while len(str(home)) < 500:
        home = home / ("x" * 100)
    answer = cli("--home", str(home), "run", "sample", "-s", "task=x", code=UNAVAILABLE)
    assert "SQLite can take" in answer.err
    assert "same key" not in answer.err
