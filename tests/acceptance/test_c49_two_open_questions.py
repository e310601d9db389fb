"""C49: two questions at once, each with an ID of its own; an answer lands on the one it names and on no other."""

from pathlib import Path

from runwright import Engine
from support.command_line import CommandLine
from support.killed import ledger
from support.sound import check_sound

YES, NO = '{"word": "yes"}', '{"word": "no"}'


def test_c49_answers_land_on_the_question_they_name(cli: CommandLine, home: Path) -> None:
    """In reverse order, by the ID; one that fits only the other question is refused with what is wanted."""
    cli("run", "--inline", "asking.py:asking", "--json", code=5)
    first = cli.run_id()
    cli("run", "--inline", "asking.py:ending", "--json", code=5)
    second = cli("requests", "--json").document["items"]
    by_run = {each["run_id"]: each["request_id"] for each in second}
    assert len(by_run) == len(set(by_run.values())) == 2
    ending = next(run_id for run_id in by_run if run_id != first)

    unfit = cli("answer", by_run[first], '{"word": "fail"}', "--json", code=2).document["error"]
    assert unfit["code"] == "input_invalid"
    assert "$.word" in unfit["message"]
    assert cli("requests", "--json").document["items"] == second

    last = cli("answer", by_run[ending], "fine", "--json").document["run_id"]
    assert cli("resume", last).out == "fine\n"
    (left,) = cli("requests", "--json").document["items"]
    assert left["request_id"] == by_run[first]
    assert cli("resume", cli("answer", by_run[first], YES, "--json").document["run_id"]).out == "11\n"
    assert ledger(cli.project) == {"draft": 1, "gated": 1}
    with Engine.open(home) as engine:
        requests = {row["request"]: row["state"] for row in engine.query("requests").items}
    assert requests == dict.fromkeys(by_run.values(), "accepted")
    check_sound(home)


def test_c49_a_run_names_its_own_question_only(cli: CommandLine) -> None:
    """Named by their runs, in reverse order; a name of neither is refused, and no question is touched."""
    for workflow in ("asking.py:asking", "asking.py:ending"):
        cli("run", "--inline", workflow, "--json", code=5)
    items = cli("requests", "--json").document["items"]
    refused = cli("answer", "nowhere", NO, "--json", code=2).document["error"]
    assert refused["code"] == "not_found"
    assert cli("requests", "--json").document["items"] == items
    for each in reversed(items):
        cli("answer", each["run_id"], YES if each["path"] == "approve" else "fine")
        assert each["request_id"] not in {left["request_id"] for left in cli("requests", "--json").document["items"]}
