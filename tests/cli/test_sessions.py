"""Sessions on the command line: start for one, ask about one."""

import pytest

from support.command_line import CommandLine


def test_a_start_for_a_session_waits_for_it(cli: CommandLine) -> None:
    """It is queued and names when it begins; a second one names who holds the session, since when."""
    first = cli("start", "sample", "t", "--session", "pi-1")
    run_id = first.out.strip()
    assert "begins when session pi-1 next comes to rest" in first.err
    busy = cli("start", "sample", "t", "--session", "pi-1", code=3)
    assert f"held by run {run_id} of workflow sample, queued 20" in busy.err
    cli("start", "sample", "t", "--session", "pi-2")
    document = cli("status", "--session", "pi-1", "--json").document
    assert (document["run_id"], document["status"], document["session"]) == (run_id, "queued", "pi-1")
    assert document["controls"] == ["cancel"]
    cli("cancel", run_id)
    assert cli("status", "--session", "pi-1", "--json").document["status"] == "cancelled"
    cli("start", "sample", "t", "--session", "pi-1")


def test_the_answer_of_a_start_says_queued_and_no_more(cli: CommandLine) -> None:
    """S01: action, workflow, run ID, queued."""
    document = cli("start", "sample", "t", "--session", "pi-1", "--json").document
    assert list(document) == ["action", "workflow", "run_id", "queued"]
    assert (document["action"], document["queued"]) == ("start", True)


def test_what_waits_for_its_session_says_so_wherever_it_is_looked_at(cli: CommandLine) -> None:
    """In its status, after a resume that can do nothing for it, while somebody waits for it, and after a restart."""
    words = "begins when session pi-1 next comes to rest"
    run_id = cli("start", "sample", "t", "--session", "pi-1").out.strip()
    assert words in cli("status", run_id).out
    assert words in cli("status").out
    assert words in cli("resume", run_id, code=5).err
    waited = cli("wait", run_id, "--timeout", "0.1", code=5).err
    assert f"Nothing drives run {run_id} now: it {words}.\n" == waited


@pytest.mark.parametrize("session", ["", "a b", "x" * 129])
def test_what_is_no_session_is_refused(cli: CommandLine, session: str) -> None:
    """Nothing is cut, nothing is written."""
    cli("start", "sample", "t", "--session", session, code=2)
    cli("status", "--session", "nobody", code=4)
    cli("status", "@last", "--session", "pi-1", code=2)
