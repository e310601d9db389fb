"""Adoption: an operator says that a copied, restored or imported store carries on here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from runwright.eventstore import database, identity, opening
from runwright.eventstore.envelope import ANY, Head
from runwright.eventstore.errors import StoreMissing
from runwright.eventstore.events.log import LogImported
from runwright.eventstore.home import Home
from runwright.eventstore.identity import Standing
from runwright.eventstore.log import EventLog
from runwright.eventstore.materializer import Materializer
from runwright.eventstore.table import Layout
from runwright.eventstore.transaction import Tx


def store_standing(home: Path) -> Standing:
    """Tell whether a store is its own, reading only; beside a living holder, too.

    Raises:
        StoreMissing: There is no store.
    """
    place = Home(home)
    opening.check_header(place.log)
    with database.connect_reader(place.log) as connection:
        return identity.standing(place, connection)


def adopt(
    home: Path,
    *,
    by: str,
    actor: str,
    layout: Layout,
    control: Materializer,
    extra_unit: Callable[[Tx], None] | None = None,
    **options: Any,
) -> Head | None:
    """Make a store its own again: append ``log.imported``, then write ``store.id`` anew.

    In this order: a crash between the two leaves it read-only, and adopting it again does no harm.

    Args:
        home: The state directory.
        by: Who adopts it.
        actor: The actor of the event.
        layout: The layout it must have.
        control: The rows that commit with the events.
        extra_unit: What else has to happen in the same transaction: parking the live runs.
        options: Further options of `EventLog.open`.

    Returns:
        The head that the store came with, or ``None`` where it is its own already and nothing was done.

    Raises:
        StoreMissing: There is no store.
        StoreInUse: Another process holds it.
    """
    if not Home(home).log.exists():
        Home(home).look()
        raise StoreMissing(home)
    with EventLog.open(home, layout=layout, control=control, adopting=True, **options) as log:
        if store_standing(home) is Standing.OWN:
            return None
        source = log.head()
        imported = LogImported(position=source.position, hash=source.hash.hex(), by=by)

        def unit(tx: Tx) -> None:
            tx.append("log", ANY, [imported], actor=actor)
            if extra_unit is not None:
                extra_unit(tx)

        log.transact(unit).result()
        log.note_head()
        return source
