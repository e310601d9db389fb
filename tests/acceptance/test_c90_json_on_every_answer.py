"""C90: with ``--json`` every answer is one document, whatever happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.every_command import COMMANDS, name_of

FLOW = """
from runwright import Context, Uncertain, Workflow
doubt = Workflow("doubt")
@doubt.action
def send(ctx: Context) -> str:
    raise Uncertain("the line dropped")
doubt.entry(send)
"""
HOLD = """
import pathlib, sys
from runwright.engine.embedded.holder import Holder
holder = Holder.open(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
holder.close()
"""


@pytest.fixture
def waiting(cli: CommandLine) -> str:
    """A run whose effect waits for an operator."""
    Path("doubt.py").write_text(FLOW)
    cli("run", "--inline", "doubt.py", code=5)
    return cli.run_id()


def test_c90_each_class_of_failure_has_its_code_and_exit(cli: CommandLine, waiting: str) -> None:
    """Success, unknown ID, bad value, missing store, conflict, recovery required: one object on stdout each time."""
    queued = cli.queue("doubt.py")
    asked = (
        (("status", waiting), 0, None),
        (("status", "zzzz"), 2, "not_found"),
        (("runs", "--limit", "x"), 2, "usage"),
        (("runs", "--no-such-flag"), 2, "usage"),
        (("status", waiting, "--home", "elsewhere"), 4, "store_missing"),
        (("pause", queued), 3, "not_started"),
        (("resume", waiting), 3, "effect_ambiguous"),
    )
    for line, code, name in asked:
        answer = cli(*line, "--json", code=code)
        assert answer.err == ""
        error = answer.document.get("error")
        assert (error or {}).get("code") == name, line
        if error is not None:
            assert error["message"]
            assert error["hint"], "what to do next"


def test_c90_without_a_store_every_command_says_so_in_one_document(cli: CommandLine) -> None:
    """A store that is not there is no unknown run: a list is empty, and whatever needs a store says what to do."""
    refused = 0
    for line in COMMANDS:
        name = name_of(line)
        if name in ("run", "start", "host run", "host start", "store import"):
            continue  # these make one
        target = ("-o", "export.jsonl") if name == "log export" else ()
        answer = cli.ask(*line, *target, "--jsonl" if name == "watch" else "--json")
        assert answer.err == "", line
        if answer.code == 0:
            assert answer.document["items"] == [], line
            continue
        error = answer.document["error"]
        assert (answer.code, error["code"], bool(error["hint"])) == (4, "store_missing", True), (line, error)
        refused += 1
    assert refused > 20
    assert not cli.home.exists()


def test_c90_a_held_and_a_busy_store_are_not_an_unknown_run(cli: CommandLine, waiting: str) -> None:
    """Somebody else's lock is told apart from a name that does not exist."""
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLD,
            str(cli.home),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        error = json.loads(cli("cancel", waiting, "--json", code=4).out)["error"]
        assert error["code"] == "store_in_use"
        assert str(holder.pid) in error["message"]
        assert cli("status", waiting, "--json").document["run_id"] == waiting
    finally:
        holder.communicate("\n", timeout=30)
