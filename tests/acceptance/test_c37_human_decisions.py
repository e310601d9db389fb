"""C37, C49, C51, C53, C54: a decision is a person's word on exactly what was shown, or says that it is none."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from runwright import ConflictError, Engine, Request
from runwright.eventstore.events.request import RequestRefused
from support.command_line import CommandLine
from support.killed import KILLED, begin, ledger
from support.sound import check_sound


def ask(engine: Engine, workflow: str) -> tuple[str, Request]:
    """Run up to the question."""
    outcome = engine.run(workflow, {})
    assert outcome.status == "waiting"
    (request,) = engine.requests(outcome.run_id)
    return outcome.run_id, request


def test_c37_a_question_outlives_its_holder(cli: CommandLine) -> None:
    """C37: killed while it waits; the same question is there, the answer of another process applies, and it runs on."""
    process = begin(cli.home, cli.project, "deciding.py:deciding", {})
    while process.is_alive() and not (cli.home / "log.sqlite").exists():
        process.join(0.01)
    while process.is_alive() and not cli("requests", "--json").document["items"]:
        process.join(0.05)
    if process.is_alive() and process.pid is not None:
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode in (KILLED, 0)
    (listed,) = cli("requests", "--json").document["items"]
    run_id = listed["run_id"]
    with Engine.open(cli.home) as engine:
        (request,) = engine.requests()
        assert request.request_id == listed["request_id"]
        engine.decide(request.request_id, "ship", by="Ada", digest=request.digest, drive=False)
        assert cli("status", run_id, "--json").document["run_status"] == "running"
        assert [each.type for each in engine.events(run_id)][-1] == "run.eligible"
        engine.resume(run_id)
        assert engine.wait(run_id).output == "11 by Ada"
        assert cli("status", run_id, "--json").document["run_status"] == "completed"
    assert ledger(cli.project) == {"gated": 1}
    check_sound(cli.home)


def test_c49_each_answer_lands_on_its_own_question(project: Path, home: Path) -> None:
    """C49: two at once, answered in reverse; a choice of the other one is refused with those that there are."""
    with Engine.open(home) as engine:
        first, one = ask(engine, "deciding.py:deciding")
        second, other = ask(engine, "deciding.py:around")
        assert one.request_id != other.request_id
        with pytest.raises(ConflictError, match="is none of ship, again"):
            engine.decide(one.request_id, "yes", by="Ada")
        engine.decide(other.request_id, "ship", by="Grace")
        assert engine.wait(second).output == ["11 by Grace"]
        engine.decide(one.request_id, "ship", by="Ada")
        assert engine.wait(first).output == "11 by Ada"
    check_sound(home)


def test_c51_a_time_out_is_no_human_no(project: Path, home: Path) -> None:
    """C51: the policy decided and says so; who answers late is told, and that answer is kept; without one it closes."""
    with Engine.open(home) as engine:
        outcome = engine.run("deciding.py:expiring", {})
        assert outcome.output == ["no", "policy", True]
        (row,) = engine.query("requests").items
        assert row["source"] == "policy"
        with pytest.raises(ConflictError, match="nobody answered in time") as late:
            engine.decide(str(row["request"]), "yes", by="Ada")
        assert late.value.code == "revision_changed"
        assert kept(engine, outcome.run_id) == ["revision_changed"]
        closed = engine.run("deciding.py:closing", {})
        assert (closed.status, closed.error and closed.error.code) == ("timed_out", "node_timed_out")
        (other,) = engine.query("requests", where=[f"run_id={closed.run_id}"]).items
        assert (other["state"], other["cause"], other["source"]) == ("closed", "timed_out", None)
    check_sound(home)


def test_c53_an_approval_is_for_one_draft_and_one_use(project: Path, home: Path) -> None:
    """C53: the next draft asks anew; neither the old request nor the old digest approves it; what is gated is once."""
    with Engine.open(home) as engine:
        run_id, first = ask(engine, "deciding.py:deciding")
        engine.decide(first.request_id, "again", text="too short", by="Ada")
        engine.wait(run_id, until="waiting")
        (second,) = engine.requests(run_id)
        assert (second.subject, second.digest != first.digest) == ({"draft": 12}, True)
        with pytest.raises(ConflictError):
            engine.decide(first.request_id, "ship", by="Ada")
        with pytest.raises(ConflictError, match="is not what request"):
            engine.decide(second.request_id, "ship", by="Ada", digest=first.digest)
        assert engine.status(run_id).status == "waiting"
        engine.decide(second.request_id, "ship", by="Ada", digest=second.digest)
        assert engine.wait(run_id).output == "12 by Ada"
        assert kept(engine, run_id) == ["revision_changed", "revision_changed"]
    assert ledger(project) == {"gated": 1}


def test_c54_a_decision_inside_a_mounted_child(project: Path, home: Path) -> None:
    """C54: the run waits with the full path of the question; the answer moves it, and the output arrives."""
    with Engine.open(home) as engine:
        run_id, request = ask(engine, "deciding.py:around")
        status = engine.status(run_id)
        assert (request.path, status.status, status.node) == ("child/approve", "waiting", "child/approve")
        assert [each.node for each in status.requests] == ["child/approve"]
        engine.decide(request.request_id, "ship", by="Ada")
        assert engine.wait(run_id).output == ["11 by Ada"]
    check_sound(home)


def kept(engine: Engine, run_id: str) -> list[Any]:
    """The codes of the answers that were refused, and are kept all the same."""
    events = [each.event for each in engine.events(run_id, types=[RequestRefused.type])]
    return [each.code for each in events if isinstance(each, RequestRefused)]
