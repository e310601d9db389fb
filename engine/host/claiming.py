"""Claiming a run for a process, and saying on its behalf how it ended."""

from runwright.engine.commands.host import ClaimRun
from runwright.engine.commands.worker import Authority, ExitWorker, WorkerTransition
from runwright.engine.embedded.holder import Holder
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.identity import new_id
from runwright.engine.results import Adopted, Applied
from runwright.engine.transitions.worker import token_hash
from runwright.eventstore.events.event import ProcessIdentity

TOKEN_BYTES = 32


async def claim(holder: Holder, bridge: LoopBridge, run_id: str, process: ProcessIdentity) -> Authority | None:
    """Claim an eligible run and record the launch of its worker; ``None`` where it is not to be had any more.

    Args:
        holder: The open store.
        bridge: Brings the writer's answers to the loop.
        run_id: The run.
        process: The worker's process.

    Raises:
        StoreError: The store cannot take it now.
    """
    owner = f"{holder.epoch}:{new_id(holder.clock.now(), holder.random)}"
    token = holder.random(TOKEN_BYTES).hex()
    asked = ClaimRun(run_id=run_id, owner=owner, token_hash=token_hash(token), process=process)
    result = await bridge.wrap(holder.transitions.host(asked))
    if not isinstance(result, Applied | Adopted):
        return None
    return Authority(run_id=run_id, owner=owner, token=token, generation=int(str(result.value)))


async def say(
    holder: Holder, bridge: LoopBridge, authority: Authority, words: tuple[WorkerTransition, ExitWorker]
) -> ExitWorker | None:
    """Say on a worker's behalf how it ended; its own end, where that is committed."""
    results = await bridge.wrap(holder.transitions.worker(authority, words))
    done = len(results) == len(words) and isinstance(results[-1], Applied | Adopted)
    return words[-1] if done else None
