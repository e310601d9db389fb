"""S40, C24: an effect that asks for something else under the same identity is a conflict, and nothing is called."""

from support.command_line import CommandLine
from support.killed import KILLED, drive, ledger
from support.sound import check_sound

CHANGING = "world.py:changing"


def test_s40_c24_a_changed_request_after_a_crash_is_refused(cli: CommandLine) -> None:
    """C24: the variable of the command has another value after the crash: the node fails, and nothing is sent."""
    (cli.project / "token").write_text("one-secret")
    assert drive(cli.home, cli.project, CHANGING, {}) == KILLED
    (cli.project / "token").write_text("another-secret")
    status = cli("resume", "@last", "--json", code=1).document
    assert (status["status"], status["error"]["code"]) == ("failed", "effect_request_changed")
    assert ledger(cli.project) == {"send 1": 1}
    for said in (cli("show", "@last", "send", "--values").out, cli("events", "--values", "--jsonl").out):
        assert "one-secret" not in said
        assert "another-secret" not in said
    check_sound(cli.home)


def test_s40_an_equal_request_after_a_crash_is_the_same_effect(cli: CommandLine) -> None:
    """S40: with the same value it is the same effect, applied once more as its contract allows."""
    (cli.project / "token").write_text("one-secret")
    assert drive(cli.home, cli.project, CHANGING, {}) == KILLED
    (before,) = cli("effects", "--json").document["items"]
    assert cli("resume", "@last", "--json").document["status"] == "completed"
    (after,) = cli("effects", "--json").document["items"]
    assert (after["effect"], after["state"], after["applications"]) == (before["effect"], "applied", 2)
    check_sound(cli.home)
