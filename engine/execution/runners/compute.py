"""The runner of compute nodes: a pure function, which may run again after a crash."""

from runwright.engine.execution.failures import NodeFailure, stored
from runwright.engine.execution.visit import Ended, Visit
from runwright.engine.execution.walk import Walk


async def run_compute(walk: Walk, visit: Visit) -> Ended:
    """Call the function and keep what it returns."""
    await walk.commit(*visit.opening())
    function = visit.declaration.function
    assert function is not None
    try:
        value = await walk.call(visit, function, visit.context)
        return Ended(outcome="completed", output=stored(visit.node.shape, value))
    except NodeFailure as error:
        return Ended.badly(error.failure)
