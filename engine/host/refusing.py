"""Saying of a run that no worker can even be started for it: a launch fails, and a run that began waits."""

from runwright.engine.commands.host import ParkIdleRun
from runwright.engine.commands.worker import ExitWorker, FailRun, ParkRun, WorkerTransition
from runwright.engine.embedded.holder import Holder
from runwright.engine.errors import PreflightError
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.host.claiming import claim, say
from runwright.engine.host.launching import Plan
from runwright.engine.safe import safe_message


async def refuse(holder: Holder, bridge: LoopBridge, plan: Plan, error: PreflightError) -> None:
    """Put a run away that cannot be launched here and now; left in the queue it would be tried again at once.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        plan: The launch.
        error: What it lacks.

    Raises:
        StoreError: The store cannot take it now.
    """
    if plan.started:
        park = ParkIdleRun(run_id=plan.run_id, reason="environment_missing", detail=error.message)
        await bridge.wrap(holder.transitions.host(park))
        return
    # On the host's own claim: no worker ever had it.
    authority = await claim(holder, bridge, plan.run_id, holder.process)
    if authority is not None:
        await say(holder, bridge, authority, ended(began=plan.began, code=error.code, message=error.message))


def ended(*, began: bool, code: str, message: str) -> tuple[WorkerTransition, ExitWorker]:
    """What a launch comes to of which no code can run: one of a run that began waits for what it lacks."""
    message = safe_message(message)
    end: WorkerTransition = ParkRun(reason="environment_missing", code=code, detail=message)
    if not began:
        end = FailRun(outcome="failed", code=code, phase="bootstrap", message=message)
    return end, ExitWorker(outcome="failed", phase="bootstrap", code=code)
