"""S13, S35, C37, C53, C54: what waits for a person moves by that person's word alone, and carries its state on."""

import json
import os
import signal

import pytest

from runwright import Engine
from support.command_line import CommandLine
from support.killed import KILLED, begin, ledger
from support.sound import check_sound

YES, NO = '{"word": "yes"}', '{"word": "no"}'


def ask(cli: CommandLine, workflow: str = "asking.py:asking") -> tuple[str, str]:
    """Run up to the checkpoint; the run and its request."""
    assert cli("run", "--inline", workflow, "--json", code=5).document["status"] == "waiting"
    run_id = cli.run_id()
    (request,) = cli("requests", run_id, "--json").document["items"]
    return run_id, request["request_id"]


def claims(cli: CommandLine, run_id: str) -> int:
    """How often a run was claimed."""
    return len(cli("events", run_id, "--type", "run.claimed", "--json").document["items"])


def test_s13_parked_work_moves_only_by_an_explicit_act(cli: CommandLine) -> None:
    """S13: openings and waiting claim nothing; each then takes a higher generation and starts once."""
    asked, request = ask(cli)
    before = claims(cli, asked)
    for _ in range(3):
        with Engine.open(cli.home) as engine:
            assert engine.wait(asked, until="waiting", timeout=0.2).status == "waiting"
    assert claims(cli, asked) == before == 1
    child = cli("answer", request, YES, "--json").document["run_id"]
    assert cli("status", asked, "--json").document["run_status"] == "continued"
    cli("resume", child)
    started = cli("events", child, "--type", "run.started", "--json").document["items"]
    assert [each["generation"] for each in started] == [1]
    assert claims(cli, asked) == 1
    check_sound(cli.home)


def test_s35_the_child_holds_what_was_approved(cli: CommandLine) -> None:
    """S35: a new ID that names the parent, the approved output, the steps; a second continue is adopted or refused."""
    asked, request = ask(cli)
    child = cli("answer", request, YES, "--json").document["run_id"]
    status = cli("status", child, "--json").document
    assert (status["parent_run_id"], status["root_run_id"], status["steps"]["used"]) == (asked, asked, 2)
    assert cli("output", child, "approve").out == '{"word": "yes"}\n'
    assert cli("answer", request, YES, "--json").document["result"] == "adopted"
    head = cli("log", "head").out
    cli("answer", request, NO, code=3)
    cli("answer", asked, YES, code=3)
    assert int(cli("log", "head").out.split(":")[0]) - int(head.split(":")[0]) <= 4  # the holder's own words
    assert cli("resume", child).out == "11\n"
    assert ledger(cli.project) == {"draft": 1, "gated": 1}
    check_sound(cli.home)


@pytest.mark.parametrize("end", ["running", "failed", "completed", "cancelled"])
def test_s35_no_other_parent_can_be_continued(cli: CommandLine, end: str) -> None:
    """S35: an ended run takes no answer, and no workflow code is loaded to say so."""
    asked, request = ask(cli, "asking.py:ending")
    if end == "cancelled":
        cli("cancel", asked)
    else:
        child = cli("answer", request, "fail" if end == "failed" else "fine", "--json").document["run_id"]
        if end != "running":
            cli("resume", child, code=1 if end == "failed" else 0)
    (cli.project / "asking.py").write_text("raise SystemExit('this must not be loaded')\n")
    refused = cli("answer", request, "other", "--json", code=3).document["error"]
    assert refused["code"] == "already_terminal"


def test_c37_a_question_outlives_its_holder(cli: CommandLine) -> None:
    """C37: after a kill the same request is listed, and an answer from another process applies."""
    process = begin(cli.home, cli.project, "asking.py:asking", {})
    while process.is_alive() and not (cli.home / "log.sqlite").exists():
        process.join(0.01)
    while process.is_alive() and not cli("requests", "--json").document["items"]:
        process.join(0.05)
    if process.is_alive() and process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode in (KILLED, 0)
    (request,) = cli("requests", "--json").document["items"]
    with Engine.open(cli.home) as engine:
        child = engine.answer(request["request_id"], {"word": "yes"}, drive=False).run_id
        assert [each.request_id for each in engine.requests()] == []
    assert cli("resume", child).out == "11\n"
    check_sound(cli.home)


def test_c53_an_approval_is_for_one_draft_and_one_use(cli: CommandLine) -> None:
    """C53: the next draft asks anew; the old request's ID is refused for it; what it gates happens once."""
    _, first = ask(cli)
    child = cli("answer", first, NO, "--json").document["run_id"]
    cli("resume", child, code=5)
    (second,) = cli("requests", "--json").document["items"]
    assert (second["request_id"] != first, second["presentation"]) == (True, 12)
    cli("answer", first, YES, code=3)
    assert ledger(cli.project) == {"draft": 2}
    last = cli("answer", second["request_id"], YES, "--json").document["run_id"]
    assert cli("resume", last).out == "12\n"
    assert ledger(cli.project) == {"draft": 2, "gated": 1}


def test_c54_a_question_inside_a_mounted_child(cli: CommandLine) -> None:
    """C54: the run waits with the full path of the question; the answer moves it, and the child's output arrives."""
    asked, request = ask(cli, "asking.py:nested")
    status = cli("status", asked, "--json").document
    assert (status["status"], status["node"], status["requests"][0]["node"]) == (
        "waiting",
        "child/approve",
        "child/approve",
    )
    child = cli("answer", request, NO, "--json").document["run_id"]
    cli("resume", child, code=5)
    last = cli("answer", child, YES, "--json").document["run_id"]
    assert json.loads(cli("resume", last).out) == [12, 1]
    assert json.loads(cli("output", asked).out) == [12, 1]
    assert cli("restart", last, "--at", "child/gated", "-v", code=3).err.startswith(
        "error: A run cannot be restarted inside"
    )
    again = cli("restart", last, "--at", "report").out.strip()
    assert json.loads(cli("resume", again).out) == [12, 1]
    check_sound(cli.home)
