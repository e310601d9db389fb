"""Adoption of a copied, restored or imported store: it may be written again, and every live run is put aside."""

from pathlib import Path
from typing import cast

from runwright.engine.clock import SystemClock
from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.host import HostUnit
from runwright.engine.transitions.leases import Leases
from runwright.engine.transitions.trees import Trees
from runwright.eventstore.adoption import adopt
from runwright.eventstore.envelope import Head
from runwright.eventstore.transaction import Tx
from runwright.projections.control.runs import LIVE, RUNS
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.rows import Rows


def adopt_store(home: Path, *, by: str, actor: str, unsafe_filesystem: bool = False) -> Head | None:
    """Make a store its own again, and park every live run as ``imported`` in the same transaction.

    Otherwise two holders would both carry its effects on (page 02, "Export and import").

    Args:
        home: The state directory.
        by: Who adopts it.
        actor: The actor of the events.
        unsafe_filesystem: Whether to take it on a network file system, too.

    Returns:
        The head that the store came with, or ``None`` where it was its own already.

    Raises:
        StoreMissing: There is no store.
        StoreInUse: Another process holds it.
    """
    clock = SystemClock()

    def put_aside(tx: Tx) -> None:
        rows = cast(Rows, tx.control)
        live = [run.run_id for status in LIVE for run in rows.find(RUNS, status=status)]
        for run_id in live:
            unit = HostUnit(
                ParkIdleRun(run_id=run_id, reason="imported"),
                actor=actor,
                leases=Leases(clock.monotonic),
                definitions=Definitions(),
                trees=Trees(),
            )
            unit(tx)

    return adopt(
        home,
        by=by,
        actor=actor,
        layout=LAYOUT,
        control=ControlRows(),
        extra_unit=put_aside,
        unsafe_filesystem=unsafe_filesystem,
    )
