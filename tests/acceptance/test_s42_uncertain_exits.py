"""S42, C22: after a crash between an effect and its record its contract decides; a manual one waits for a person."""

import re
from pathlib import Path

import pytest

from support.command_line import CommandLine
from support.killed import KILLED, drive, ledger
from support.sound import check_sound

CONTRACTS = "world.py:contracts"
ROOT = Path(__file__).parents[2]


def effect(cli: CommandLine) -> dict[str, object]:
    """The only effect there is."""
    (found,) = cli("effects", "--json").document["items"]
    return dict(found)


def test_s42_an_idempotent_effect_is_applied_again(cli: CommandLine) -> None:
    """S42: killed after the action and before its record: reserved again, and executed once more on resume."""
    assert drive(cli.home, cli.project, CONTRACTS, {"mode": "repeatable", "die": ["repeatable 1"]}) == KILLED
    assert cli("resume", "@last").out == "done\n"
    assert ledger(cli.project)["repeatable 1"] == 2
    found = effect(cli)
    assert (found["state"], found["applications"]) == ("applied", 2)
    check_sound(cli.home)


@pytest.mark.parametrize("happened", [True, False])
def test_c22_a_manual_effect_waits_for_a_person(cli: CommandLine, happened: bool) -> None:
    """S42, C22: it parks with the effect's identity, nothing executes again by itself, and a person settles it."""
    assert drive(cli.home, cli.project, CONTRACTS, {"mode": "careful", "die": ["careful 1"]}) == KILLED
    for _ in range(2):
        failure = cli("resume", "@last", "--json", code=3).document["error"]
        assert failure["code"] == "effect_ambiguous"
    found = effect(cli)
    status = cli("status", "@last", "--json").document
    assert (status["status"], status["reason"]["code"]) == ("ambiguous", "effect_ambiguous")
    assert (status["queue_state"], status["effects"]) == ("parked", {"ambiguous": 1})
    assert any(str(found["effect"])[:12] in line for line in status["next"])
    assert ledger(cli.project)["careful 1"] == 1
    if happened:
        cli("resolve", str(found["effect"]), "done", "--result", '"receipt 7"', "--reason", "the receipt is here")
    else:
        cli("resolve", str(found["effect"]), "not-done", "--reason", "the bank knows nothing")
    assert ledger(cli.project)["careful 1"] == 1
    assert cli("resume", "@last").out == ("receipt 7\n" if happened else "done\n")
    assert ledger(cli.project) == {"choose 1": 1, "careful 1": 1 if happened else 2}
    check_sound(cli.home)


def test_s42_a_normal_error_is_a_rejection(cli: CommandLine) -> None:
    """S42: what fails in a way that everybody understands is rejected at once, and nothing is left to settle."""
    assert (
        cli("run", "--inline", CONTRACTS, "-s", "mode=failing", "--json", code=1).document["error"]["code"]
        == "node_failed"
    )
    found = effect(cli)
    assert (found["state"], found["code"]) == ("rejected", "node_failed")
    assert ledger(cli.project)["failing 1"] == 1


def test_s42_nothing_claims_exactly_once() -> None:
    """S42: no page and no message promises what nobody can keep; where the word stands, it is denied."""
    denied = re.compile(r"\b(no|not|never|nobody|cannot)\b", re.IGNORECASE)
    claims: list[str] = []
    for folder in ("docs", "engine", "cli", "projections", "eventstore", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            text = path.read_text() if path.suffix in (".md", ".py") else ""
            for hit in re.finditer(r"exactly-once", text, re.IGNORECASE):
                if not denied.search(text, max(0, hit.start() - 120), hit.end() + 80):
                    claims.append(f"{path}: {text[max(0, hit.start() - 60) : hit.end() + 40]}")
    assert claims == []
