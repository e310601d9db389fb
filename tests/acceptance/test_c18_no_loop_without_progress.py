"""C18: a node that kills its program is not launched for ever; a chain that gets further each time goes through."""

from support.command_line import CommandLine
from support.killed import drive, drive_through, ledger, resume
from support.sound import check_sound


def test_c18_a_deadly_node_parks_after_a_bounded_number_of_tries(cli: CommandLine) -> None:
    """C18: parked with the node named; one explicit resume is one more try; what is mended then completes."""
    tries = drive_through(cli.home, cli.project, "world.py:deadly", {})
    assert 1 <= tries <= 3
    assert ledger(cli.project) == {"fatal 1": tries}
    status = cli("status", "@last", "--json").document
    assert (status["queue_state"], status["reason"]["code"]) == ("parked", "worker_no_progress")
    assert (status["node"], status["error"]) == ("fatal", None)
    assert any("resume" in line for line in status["next"])
    for _ in range(2):
        assert drive(cli.home, cli.project, "world.py:deadly", {}) == 0
    assert ledger(cli.project) == {"fatal 1": tries}
    assert resume(cli.home, status["run_id"]) == 9
    (cli.project / "antidote").touch()
    assert cli("resume", status["run_id"]).out == "1\n"
    assert ledger(cli.project) == {"fatal 1": tries + 2}
    check_sound(cli.home)


def test_c18_a_chain_whose_every_node_kills_its_program_completes(cli: CommandLine) -> None:
    """C18: each launch finishes a node before the next one dies, so the run goes on by itself."""
    value = {"die": ["first 1", "second 1", "third 1", "fourth 1"]}
    assert drive_through(cli.home, cli.project, "world.py:four", value) == 4  # type: ignore[arg-type]
    assert cli("output", "@last", "--json").document == [1, 2, 3]
    assert set(ledger(cli.project).values()) == {2}
    check_sound(cli.home)
