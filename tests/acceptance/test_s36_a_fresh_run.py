"""S36, as far as it needs no host: another run of a failed workflow begins clean, and leaves the first as it was."""

from support.command_line import CommandLine
from support.killed import ledger
from support.sound import check_sound


def test_s36_a_corrected_start_takes_nothing_over(cli: CommandLine) -> None:
    """S36: from node 1, with no step, output, result or effect of the failed run, which does not change."""
    assert (
        cli("run", "--inline", "world.py:contracts", "-s", "mode=failing", "--json", code=1).document["status"]
        == "failed"
    )
    failed = cli.run_id()
    before = cli("replay", failed, "--json").document["rows"]
    second = cli("run", "--inline", "world.py:contracts", "-s", "mode=repeatable", "--json").document
    assert second["run_id"] != failed
    assert (second["root_run_id"], second["parent_run_id"], second["restart_number"]) == (second["run_id"], None, 0)
    assert second["steps"]["used"] == 2
    assert ledger(cli.project) == {"choose 1": 2, "failing 1": 1, "repeatable 1": 1}
    assert cli("replay", failed, "--json").document["rows"] == before
    effects = {row["run_id"]: row["effect"] for row in cli("query", "effects", "--json").document["items"]}
    assert len(set(effects.values())) == len(effects) == 2
    ends = {row["run_id"]: row["fingerprint"] for row in cli("query", "terminal", "--json").document["items"]}
    assert all(ends.values())
    check_sound(cli.home)
