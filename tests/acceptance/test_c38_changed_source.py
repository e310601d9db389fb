"""C38: a run whose files changed is refused before anything of it is written, until somebody accepts the change."""

import pytest

from support.command_line import CommandLine
from support.sound import check_sound

CHANGES = {
    "a comment": ("# --- one effect", "# --- exactly one effect"),
    "a text": ("the line went dead", "the line was dead"),
    "a node's name": ("def choose(", "def choosing("),
}


@pytest.mark.parametrize("change", CHANGES)
def test_c38_any_changed_byte_is_refused_until_accepted(cli: CommandLine, change: str) -> None:
    """C38: both digests and the file are named, no event of the run is written; put back or accepted, it goes on."""
    cli("run", "--inline", "world.py:contracts", "-s", "mode=doubtful", code=5)
    run_id = cli.run_id()
    (effect,) = cli("effects", run_id, "--json").document["items"]
    cli("resolve", effect["effect"], "done", "--result", '"it was there"', "--reason", "looked")
    before = cli("status", run_id, "--json").document["revision"]
    file = cli.project / "world.py"
    original = file.read_text()
    old, new = CHANGES[change]
    changed = original.replace(old, new)
    if change == "a node's name":
        changed = changed.replace("entry(choose)", "entry(choosing)").replace("switch(choose,", "switch(choosing,")
    assert changed != original
    file.write_text(changed)
    head = cli("log", "head").out
    refusals = [cli("resume", run_id, "--json", code=3).document["error"] for _ in range(2)]
    assert refusals[0] == refusals[1]
    (failure,) = refusals[:1]
    assert failure["code"] == "source_changed"
    assert failure["message"].count("world.py") == 1
    saved, now = sources(cli)[:12], failure["message"].rstrip(".")[-12:]
    assert failure["message"].endswith(f"(world.py): saved {saved}, now {now}.")
    assert saved != now
    assert "--accept-source" in failure["hint"]
    assert "start the workflow again" in failure["hint"]
    assert cli("status", run_id, "--json").document["revision"] == before
    assert events_of_runs(cli, head) == []
    if change == "a text":
        file.write_text(original)
        assert cli("resume", run_id).out == "it was there\n"
    else:
        assert cli("resume", run_id, "--accept-source").out == "it was there\n"
    check_sound(cli.home)


def sources(cli: CommandLine) -> str:
    """The digest of the files that the run was started with."""
    (row,) = cli("query", "runs", "--json").document["items"]
    return str(row["sources"])


def events_of_runs(cli: CommandLine, head: str) -> list[str]:
    """What was written since a head, but for what holders say of themselves."""
    items = cli("events", "--after", head.split(":")[0], "--json").document["items"]
    return [each["type"] for each in items if each["stream"] != "host"]


GATE = """from runwright import Context, Workflow
gate = Workflow("gate")
@gate.checkpoint(summary="Is it good?")
def ask(ctx: Context) -> str:
    return "the plan"
@gate.compute
def done(ctx: Context) -> str:
    return "done"
gate.entry(ask)
gate.then(ask, done)
"""


def test_c38_a_run_that_waits_for_an_answer_can_take_a_change(cli: CommandLine) -> None:
    """C38: an answer is refused and not used up while the files differ; accepted, the run waits on and takes it."""
    file = cli.project / "gate.py"
    file.write_text(GATE)
    cli("run", "--inline", "gate.py", code=5)
    run_id = cli.run_id()
    file.write_text(GATE + "# a comment\n")
    refused = cli("answer", run_id, '"yes"', "--json", code=3).document["error"]
    assert refused["code"] == "source_changed"
    assert f"(gate.py): saved {sources(cli)[:12]}, now " in refused["message"]
    assert cli("resume", run_id, "--json", code=3).document["error"]["code"] == "not_parked"
    assert cli("resume", run_id, "--accept-source", "--json", code=5).document["status"] == "waiting"
    cli("answer", run_id, '"yes"')
    assert cli("resume", "@last").out == "done\n"
    check_sound(cli.home)
