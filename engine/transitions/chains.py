"""Chains of continued runs, and what their last run's end does to the ones before it."""

from typing import cast

from runwright.engine.decisions.message import cancelled
from runwright.eventstore.transaction import Tx
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.rows import Rows


def last_of_chain(rows: Rows, run: RunRow) -> RunRow:
    """The run that a run's work stands in now; itself, where nothing carries it on."""
    while run.continued_by is not None and (child := rows.get(RUNS, run.continued_by)) is not None:
        run = child
    return run


def drop_follow_ups(tx: Tx, run: RunRow, *, actor: str, command: str | None) -> None:
    """Cancel what the runs before this one kept for their session until their chain would have completed.

    Args:
        tx: The transaction that ends the run otherwise.
        run: The last run of its chain.
        actor: Who caused it.
        command: The command's key.
    """
    if run.kind != "continue" or run.session is None:
        return
    rows = cast(Rows, tx.control)
    for each in rows.find(MESSAGES, session=run.session, state="pending", kind="follow_up"):
        of = rows.get(RUNS, each.run_id)
        if of is None or of.run_id == run.run_id or last_of_chain(rows, of).run_id != run.run_id:
            continue
        if events := cancelled((each,), "chain_ended", "follow_up"):
            stream = f"run/{each.run_id}"
            tx.append(stream, tx.version(stream), events, actor=actor, command=command)
