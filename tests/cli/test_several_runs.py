"""Does a command for several runs carry on those that can, and answer for each?"""

import shutil
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.command_processes import until

GATE = Path(__file__).parent / "flows" / "gate.py"


@pytest.mark.parametrize("hosted", [False, True])
@pytest.mark.parametrize("ended_first", [True, False])
def test_a_refused_run_holds_no_other_up(cli: CommandLine, hosted: bool, ended_first: bool) -> None:
    """`resume` of one that has ended and of one that is paused: the one is told, the other goes through."""
    shutil.copy(GATE, cli.project / "gate.py")
    gone = [cli.queue("gate.py") for _ in range(2)]
    cli("cancel", *gone)
    pairs = []
    for ended in gone:
        paused = cli("start", "gate.py").out.strip()
        until(lambda run=paused: cli("status", run, "--json").document["status"] == "running")  # type: ignore[misc]
        cli("pause", paused)
        pairs.append([ended, paused] if ended_first else [paused, ended])
    (cli.project / "go").touch()
    for each in pairs:
        run_id = each[ended_first]
        until(lambda run=run_id: cli("status", run, "--json").document["status"] == "paused")  # type: ignore[misc]
    if not hosted:
        cli.stop_host()
    said = cli("resume", *pairs[0], code=3)
    assert "has ended already (cancelled)" in said.err
    assert f"Carrying on {pairs[0][ended_first]}" in said.err
    answered = cli("resume", *pairs[1], "--json", code=3).document["items"]
    assert answered[ended_first]["status"] == "completed", "in the order in which they were named"
    assert answered[not ended_first]["error"]["code"] == "already_terminal"
    assert {cli("status", each[ended_first], "--json").document["status"] for each in pairs} == {"completed"}


def test_runs_that_are_all_refused_are_each_told(cli: CommandLine) -> None:
    """And none is shown."""
    runs = [cli.queue("sample", each) for each in ("a", "b")]
    for each in runs:
        cli("cancel", each)
    said = cli("resume", *runs, code=3)
    assert all(each in said.err for each in runs)
    document = cli("resume", *runs, "--json", code=3).document
    assert [each["error"]["code"] for each in document["items"]] == ["already_terminal"] * 2
