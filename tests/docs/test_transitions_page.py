"""The generated page of transitions against page 05's table, cell by cell."""

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "transitions.md"

NEVER, RUNNING = ("never started",), ("running",)
WAITING = ("waiting (timer)", "waiting (checkpoint)")
PARKED = (
    "parked, goes on by itself",
    "parked, by `effect_ambiguous`",
    "parked, by `source_changed`",
    "parked, by another reason",
)
PAUSED = ("paused",)
ENDED = ("completed", "failed", "timed_out", "cancelled", "continued")

#: Page 05's table as it stands there: command, the runs of a column, and what the cell says of them.
EXPECTED = (
    ("pause", NEVER, "Conflict `not_started`"),
    ("pause", RUNNING, "Applied"),
    ("pause", (*WAITING, *PARKED), "Applied"),
    ("pause", PAUSED, "Adopted"),
    ("pause", ENDED, "Conflict `already_terminal`"),
    ("resume", NEVER, "Conflict `not_parked`"),
    ("resume", RUNNING, "Adopted"),
    ("resume", WAITING, "Conflict `not_parked`"),
    ("resume", PARKED[:1], "Adopted"),
    ("resume", PARKED[1:2], "RecoveryRequired `effect_ambiguous`"),
    ("resume", PARKED[2:3], "RecoveryRequired `source_changed`"),
    ("resume", PARKED[3:], "Applied"),
    ("resume", PAUSED, "Applied"),
    ("resume", ENDED, "Conflict `already_terminal`"),
    ("cancel", (*NEVER, *RUNNING, *WAITING, *PARKED, *PAUSED), "Applied"),
    ("cancel", ("cancelled",), "Adopted"),
    ("cancel", ("completed", "failed", "timed_out", "continued"), "Conflict `already_terminal`"),
    ("continue", NEVER, "Conflict `not_started`"),
    ("continue", RUNNING, "Conflict `still_live`"),
    ("continue", ("waiting (checkpoint)",), "Applied"),
    ("continue", ("waiting (timer)", *PARKED), "Conflict `not_found`"),
    ("continue", PAUSED, "Conflict `paused`"),
    ("continue", ("continued",), "Adopted"),
    ("continue", ENDED[:-1], "Conflict `already_terminal`"),
    ("restart", (*NEVER, *RUNNING, *WAITING, *PARKED, *PAUSED), "Conflict `still_live`"),
    ("restart", ENDED[:-1], "Applied"),
    ("restart", ("continued",), "Conflict `parent_invalid`"),
    ("restart, the input gone", ENDED[:-1], "RecoveryRequired `input_cleared`"),
    ("restart, the input gone", ("continued",), "Conflict `parent_invalid`"),
    ("restart, the input gone", (*NEVER, *RUNNING, *WAITING, *PARKED, *PAUSED), "Conflict `still_live`"),
)

#: Page 05's table of what a worker is told: the command, and the only runs that it fits.
NEEDS = {
    "Start": {"a root, never started"},
    "Resume": {"a root that started before", "a continuation that started before", "a restart that started before"},
    "Continue": {"a continuation, its parent continued by it"},
    "Restart": {"a restart of an ended run"},
}

#: Page 05's valid queue transitions, and what recovery alone may do.
MOVES = {
    ("queued", "starting"),
    ("queued", "cancelled"),
    ("starting", "running"),
    ("starting", "failed"),
    ("starting", "cancelled"),
    ("starting", "queued"),
    ("running", "parked"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("parked", "starting"),
    ("parked", "cancelled"),
    ("parked", "done"),
    # The run's own limit, in any live state; recovery and adoption; a park reason that takes another's place.
    ("queued", "failed"),
    ("parked", "failed"),
    ("queued", "running"),
    ("parked", "parked"),
}


def table(heading: str) -> dict[str, dict[str, str]]:
    """A table of the page: row to column to cell."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    columns = lines[0][1:]
    return {cells[0]: dict(zip(columns, cells[1:], strict=True)) for cells in lines[2:]}


CELLS = [(command, run, cell) for command, runs, cell in EXPECTED for run in runs]


@pytest.mark.parametrize(("command", "run", "cell"), CELLS, ids=lambda each: str(each).replace("`", ""))
def test_a_command_answers_what_the_matrix_says(command: str, run: str, cell: str) -> None:
    """One cell of page 05's transition matrix."""
    assert table("Commands by how far a run is")[run][command] == cell


def test_the_matrix_has_no_other_cell() -> None:
    """Every cell of the page is expected by this test, and none twice."""
    found = {(command, run) for run, cells in table("Commands by how far a run is").items() for command in cells}
    assert found == {(command, run) for command, run, _ in CELLS}
    assert len(found) == len(CELLS)


def test_each_run_command_fits_what_it_needs_and_nothing_else() -> None:
    """The command-and-state table of page 05."""
    told = table("What a worker is told")
    for command, needs in NEEDS.items():
        assert {run for run, cells in told.items() if cells[command] == "`fits`"} == needs


def test_the_queue_moves_as_page_05_says() -> None:
    """Every pair that an event may make, and no other."""
    found = table("Queue states").values()
    moves = {(source, cells["to"]) for cells in found for source in cells["from"].split(", ")}
    assert moves == MOVES
