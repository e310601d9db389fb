"""Sessions on the command line: start for one, ask about one."""

import pytest

from support.command_line import CommandLine


def test_what_waits_for_its_session_says_so_wherever_it_is_looked_at(cli: CommandLine) -> None:
    """In its status, after a resume that can do nothing for it, while somebody waits for it, and after a restart."""
    words = "begins when session pi-1 next comes to rest"
    run_id = cli.queue("sample", "t", session="pi-1")
    assert words in cli("status", run_id).out
    assert words in cli("status").out
    assert words in cli("resume", run_id, code=5).err
    waited = cli("wait", run_id, "--timeout", "0.1", code=5).err
    assert f"Nothing drives run {run_id} now: it {words}.\n" == waited


def test_what_waits_for_its_session_is_drawn(cli: CommandLine) -> None:
    """`show` has the run, for people and for programs: what its session tells stands in another stream than its own."""
    run_id = cli.queue("sample", "t", session="pi-1")
    assert "queued" in cli("show", run_id).out
    document = cli("show", run_id, "--json").document
    assert (document["status"]["status"], document["status"]["session"]) == ("queued", "pi-1")
    assert {each["state"] for each in document["nodes"]} == {"idle"}


@pytest.mark.parametrize("session", ["", "a b", "x" * 129])
def test_what_is_no_session_is_refused(cli: CommandLine, session: str) -> None:
    """Nothing is cut, nothing is written."""
    cli("start", "sample", "t", "--session", session, code=2)
    cli("status", "--session", "nobody", code=4)
    cli("status", "@last", "--session", "pi-1", code=2)
