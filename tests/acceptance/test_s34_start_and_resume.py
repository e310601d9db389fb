"""S34: a start begins at the first node; a resume keeps the run and goes on behind what had finished."""

from runwright import Engine
from support.command_line import CommandLine
from support.killed import KILLED, drive, ledger
from support.sound import check_sound


def test_s34_a_run_killed_in_its_third_node_is_resumed_there(cli: CommandLine) -> None:
    """S34: the same ID, the saved outputs, no second execution of what had finished, and on at the third node."""
    assert drive(cli.home, cli.project, "world.py:four", {"die": ["third 1"]}) == KILLED
    run_id = cli.run_id()
    assert ledger(cli.project) == {"first 1": 1, "second 1": 1, "third 1": 1}
    standing = cli("status", run_id, "--json").document
    assert standing["node"] == "third"
    assert any("resume" in line for line in standing["next"])
    ended = cli("resume", run_id, "--json").document
    assert (ended["run_id"], ended["status"], ended["output"]) == (run_id, "completed", [1, 2, 3])
    assert ledger(cli.project) == {"first 1": 1, "second 1": 1, "third 1": 2, "fourth 1": 1}
    started = cli("events", run_id, "--type", "node.started", "--json").document["items"]
    assert [each["data"]["path"] for each in started] == ["first", "second", "third", "fourth"]
    assert [each["generation"] for each in started] == [1, 1, 1, 2]
    check_sound(cli.home)


def test_s34_a_queued_run_begins_at_its_first_node(cli: CommandLine) -> None:
    """S34: `start` runs nothing; what drives it begins at the first node."""
    run_id = cli.queue("world.py:four")
    assert ledger(cli.project) == {}
    assert cli("resume", run_id, "--json").document["run_id"] == run_id
    assert ledger(cli.project) == {"first 1": 1, "second 1": 1, "third 1": 1, "fourth 1": 1}


def test_s34_a_command_that_does_not_fit_the_state_changes_nothing(cli: CommandLine) -> None:
    """S34: resuming what has ended is refused with how it ended, before any workflow code is loaded."""
    cli("run", "--inline", "world.py:four")
    head = cli("log", "head").out
    (cli.project / "world.py").write_text("raise SystemExit('this must not be loaded')\n")
    failure = cli("resume", "@last", "--json", code=3).document["error"]
    assert failure["code"] == "already_terminal"
    with Engine.open(cli.home) as engine:
        facts = {each.type for each in engine.events(after=int(head.split(":")[0]))}
    assert facts == {"host.started"} or all(each.startswith("host.") for each in facts)
