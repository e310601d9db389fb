"""What an erasure of a run's private values ends: whatever was still to be said of it (page 07, "Presentation")."""

from collections.abc import Iterable, Iterator
from typing import cast

from runwright.eventstore.events.event import Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.worker import PresentationAbandoned
from runwright.eventstore.transaction import Tx
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.runs import RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.rows import Rows


def say_no_more(tx: Tx, runs: Iterable[RunRow], *, actor: str) -> None:
    """Cancel what erased runs have still to say: without its content, a message would start a turn about nothing.

    Args:
        tx: The transaction that erases them.
        runs: The runs.
        actor: Who is said to cause it.
    """
    for run in runs:
        if untold := tuple(_untold(cast(Rows, tx.control), run)):
            stream = f"run/{run.run_id}"
            tx.append(stream, tx.version(stream), untold, actor=actor)


def _untold(rows: Rows, run: RunRow) -> Iterator[Event]:
    end = rows.get(TERMINAL, run.run_id)
    for message in rows.find(MESSAGES, run_id=run.run_id, state="pending"):
        yield MessageCancelled(message=message.message, cause="redacted")
        if end is not None and end.presentation == "prepared" and message.kind == end.message_due:
            yield PresentationAbandoned(code="redacted")
