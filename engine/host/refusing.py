"""Saying of a run that no worker can even be started for it: a launch fails, and a run that began waits."""

import logging

from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.commands.worker import ExitWorker, FailRun, ParkRun, WorkerTransition
from runwright.engine.embedded.holder import Holder
from runwright.engine.errors import PreflightError
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.host.claiming import claim, say
from runwright.engine.host.launching import Plan
from runwright.engine.safe import safe_message
from runwright.eventstore.errors import StoreError

_log = logging.getLogger("runwright.host")


async def refuse(holder: Holder, bridge: LoopBridge, plan: Plan, error: PreflightError) -> None:
    """Put a run away that cannot be launched here and now.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        plan: The launch.
        error: What it lacks.
    """
    try:
        if plan.began:
            park = ParkIdleRun(run_id=plan.run_id, reason="environment_missing", detail=error.message)
            await bridge.wrap(holder.transitions.host(park))
        else:
            await _fail(holder, bridge, plan.run_id, error)
    except StoreError as trouble:
        _log.warning("run %s was not put away: %s", plan.run_id, trouble.code)


async def _fail(holder: Holder, bridge: LoopBridge, run_id: str, error: PreflightError) -> None:
    """Fail a launch on the host's own claim: no worker ever had it."""
    authority = await claim(holder, bridge, run_id, holder.process)
    if authority is not None:
        await say(holder, bridge, authority, ended(began=False, code=error.code, message=error.message))


def ended(*, began: bool, code: str, message: str) -> tuple[WorkerTransition, ExitWorker]:
    """What a launch comes to of which no code can run: one of a run that began waits for what it lacks."""
    message = safe_message(message)
    end: WorkerTransition = ParkRun(reason="environment_missing", code=code, detail=message)
    if not began:
        end = FailRun(outcome="failed", code=code, phase="bootstrap", message=message)
    return end, ExitWorker(outcome="failed", phase="bootstrap", code=code)
