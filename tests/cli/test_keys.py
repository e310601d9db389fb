"""`start --key`: the same start under its key answers the first run, and anything else under it is refused."""

import pytest

from support.command_line import CommandLine


@pytest.fixture
def hosted(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line whose commands start a host, which is stopped at the end."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    return cli


def test_the_same_key_starts_once(hosted: CommandLine) -> None:
    """A repeated start with its key answers with the first run; another start under that key is a conflict."""
    first = hosted("start", "sample", "greet", "--key", "k1").out
    assert hosted("start", "sample", "greet", "--key", "k1").out == first
    hosted("start", "sample", "other", "--key", "k1", code=3)
    assert len(hosted("runs", "--json").document["items"]) == 1


def test_the_same_key_with_other_fields_starts_nothing_and_names_no_run(hosted: CommandLine) -> None:
    """Whether they can be read or not, and whether the workflow still can; the same fields, however typed, can be."""
    line = ("start", "sample", "greet", "--key", "k1")
    first = hosted(*line, "-s", "count=2").out
    hosted(*line, "-s", "count=3", code=3)
    for unfit in ("count=many", "cuont=2", "mode=nope"):
        assert first.strip() not in hosted(*line, "-s", unfit, code=2).err
    (hosted.project / ".runwright/workflows/sample.py").unlink()
    for same in (("-s", "count=2"), ("-s", "count:=2"), ("-i", '{"count": 2}')):
        assert hosted(*line, *same).out == first
    for other in (
        ("-s", "count=3"),
        ("-s", "count=2", "-s", "mode=fail"),
        ("-i", '{"count": 3}'),
        ("-s", "count=true"),
        (),
    ):
        hosted(*line, *other, code=2)
    hosted("start", "sample", "other", "--key", "k1", "-s", "count=2", code=2)
    assert len(hosted("runs", "--json").document["items"]) == 1
