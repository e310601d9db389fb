"""The runner of checkpoint nodes: the run stops here, and its accepted answer carries on in a child run."""

from runwright.engine.commands.worker import OpenRequest, ParkRun, WorkerTransition
from runwright.engine.execution.failures import NodeFailure
from runwright.engine.execution.runners.texts import asked
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk
from runwright.eventstore.values import Json


async def run_checkpoint(walk: Walk, visit: Visit) -> Ended | Parked:
    """Ask, and park: start, request and park are one commit, so that nothing waits for what nobody asked."""
    park = ParkRun(reason="waiting")
    if visit.request is not None:
        # It was asked before; the run only stopped standing here.
        return Parked(park=park)
    try:
        shown = await walk.aside(_shown(walk, visit))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    asks: tuple[WorkerTransition, ...] = (
        *visit.opening(),
        OpenRequest(
            path=visit.path,
            visit=visit.number,
            attempt=visit.attempt,
            kind="checkpoint",
            prompt=visit.spec.summary or "",
            contract=visit.spec.schema,
            presentation=shown,
        ),
    )
    return Parked(park=park, before=asks)


async def _shown(walk: Walk, visit: Visit) -> Json:
    """The value that the node's function shows beside the summary, as plain JSON."""
    function = visit.declaration.function
    if function is None:
        return None
    return asked(await walk.call_within(visit, ASIDE_LIMIT, function, visit.context), "value")
