"""Operations that change something other than a run: a repeat under the same key joins the first."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.redacting import plan_redaction, redact_tree
from runwright.engine.errors import ConflictError
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.bounds import MOST_CHORES
from runwright.engine.host.serving.lanes import Lanes
from runwright.engine.protocol.errors import HostBusy, MessageInvalid
from runwright.engine.protocol.operations import Lane
from runwright.engine.protocol.payloads import LogRedact, ProjectionNames, StoreBackup
from runwright.engine.results import Conflict
from runwright.engine.tasks import own_task
from runwright.eventstore.values import JsonObject, encode

Chore = Callable[[Holder, Asked], JsonObject]


def rebuild(holder: Holder, asked: Asked) -> JsonObject:
    """Make tables anew from the log; a wrong name changes nothing."""
    from runwright.projections.control.registry import CONTROL
    from runwright.projections.errors import UnknownProjection
    from runwright.projections.rebuild import rebuild as make_anew
    from runwright.projections.views.registry import views_for

    payload: ProjectionNames = asked.payload
    control = [each.name for each in CONTROL]
    views = [each.name for each in views_for(payload.names)]
    for name in payload.names:
        if name not in control and name not in views:
            raise UnknownProjection(name, (*control, *views))
    control = [each for each in control if not payload.names or each in payload.names]
    views = [each for each in views if not payload.names or each in payload.names]
    position, rows = holder.log.head().position, dict[str, int]()
    if control:
        done = make_anew(holder.log, control)
        position, rows = done.position, done.rows
    if views:
        holder.views.rebuild(*views)
    return {"position": position, "rows": dict(rows), "views": list(views)}


def redact(holder: Holder, asked: Asked) -> JsonObject:
    """Erase the private values of an ended run's tree, or say what would be erased."""
    payload: LogRedact = asked.payload
    if payload.dry_run:
        done = plan_redaction(holder.reader, asked.run_id)
    elif not payload.reason.strip():
        raise MessageInvalid("$.payload.reason", "is empty: say why, it stays in the log")
    else:
        by = asked.actor
        done = redact_tree(holder.log, asked.run_id, reason=payload.reason.strip(), by=by, actor=by)
    return {
        "run_id": asked.run_id,
        "root": done.root,
        "runs": list(done.runs),
        "events": done.events,
        "pending": bool(done.pending),
        "dry_run": payload.dry_run,
    }


def backup(holder: Holder, asked: Asked) -> JsonObject:
    """Write a verified copy of the store."""
    from runwright.eventstore.backup import backup as copy
    from runwright.eventstore.verdict import format_head

    payload: StoreBackup = asked.payload
    target = Path(payload.file)
    if not target.is_absolute():
        raise MessageInvalid("$.payload.file", "is no absolute path")
    if target.resolve().is_relative_to(holder.home.path.resolve()):
        # Under one of the store's own names that is free just now, it would be taken for what belongs there.
        raise MessageInvalid("$.payload.file", "stands in the state directory, which takes no backups")
    verdict = copy(holder.home.path, target)
    head = None if verdict.head is None else format_head(verdict.head)
    return {"file": payload.file, "events": verdict.events, "head": head, "log_id": verdict.log_id}


CHORES: Final[dict[str, Chore]] = {"projection.rebuild": rebuild, "log.redact": redact, "store.backup": backup}


class Chores:
    """Carries chores out, each once for its client and key, also when its client asks again meanwhile.

    Args:
        holder: The open store.
        lanes: The threads.
    """

    def __init__(self, holder: Holder, lanes: Lanes) -> None:
        self._holder = holder
        self._lanes = lanes
        self._known: OrderedDict[tuple[str, str], tuple[str, asyncio.Task[JsonObject]]] = OrderedDict()

    async def answer(self, asked: Asked) -> JsonObject:
        """Carry a chore out, or join it where it is under way or was done.

        Raises:
            ConflictError: The key was used for another one.
            HostBusy: Too many are under way.
        """
        key = (asked.call.client_id, asked.caller.key)
        what = _digest(asked)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = what, self._begin(asked)
        elif known[0] != what:
            facts: JsonObject = {"run": asked.call.run_id, "operation": asked.operation.name}
            raise ConflictError(Conflict("key_reused", facts))
        try:
            return await asyncio.shield(known[1])
        except Exception:
            # A refusal leaves nothing; the next try is worked out again.
            self._known.pop(key, None)
            raise

    def _begin(self, asked: Asked) -> "asyncio.Task[JsonObject]":
        self._forget()
        chore = CHORES[asked.operation.name]
        task = own_task(self._lanes.run(Lane.LONG, chore, self._holder, asked), name=asked.operation.name)
        task.add_done_callback(_seen)
        return task

    def _forget(self) -> None:
        """Make room: the oldest that is done goes."""
        if len(self._known) < MOST_CHORES:
            return
        for key, (_, task) in self._known.items():
            if task.done():
                del self._known[key]
                return
        raise HostBusy("chores under way")


def _seen(task: "asyncio.Task[JsonObject]") -> None:
    """Whoever asked may have gone; its failure is then nobody's news."""
    if not task.cancelled():
        task.exception()


def _digest(asked: Asked) -> str:
    call = asked.call
    return hashlib.sha256(encode([call.operation, call.run_id, call.payload]).encode()).hexdigest()
