"""A run and the runs that carry it on."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader


def last_of_chain(store: "Reader", run_id: str) -> str:
    """Answer the run that a continued run's work stands in now: itself, where nothing carries it on."""
    while (after := store.status(run_id).continued_by) is not None:
        run_id = after
    return run_id
