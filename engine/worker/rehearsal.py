"""What every child does first, done beforehand with nothing at stake: the first time costs most, and nobody waits."""

import asyncio
import concurrent.futures.thread  # noqa: F401 (what asks in a thread imports it with its first question)
from pathlib import Path
from typing import Final

from runwright.engine.authoring.context import Context
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.commands.worker import Ready
from runwright.engine.embedded.catalog import Catalog
from runwright.engine.embedded.code import Starting, Wanted
from runwright.engine.embedded.local_code import LocalCode
from runwright.engine.embedded.remote_code import Asked, reply_to
from runwright.engine.sources.recording import recording
from runwright.engine.wire.frames import FrameReader, encode_frame
from runwright.engine.wire.records import write
from runwright.engine.worker.messages import FROM_CHILD, Resolved, Transact
from runwright.eventstore.values import JsonObject

_NAME: Final = "rehearsal"
_NOWHERE: Final = Path("/")


def rehearse() -> None:
    """Look for modules, compile a workflow, answer a question about it, and say something to nobody.

    A forked process shares its memory until it writes there, and each page that it writes to first has to be copied:
    two thousand of them on the way to a first node. A child that waits copies them before it is asked for anything.
    """
    with recording([]):
        catalog = Catalog([_flow()])
    answer = asyncio.run(reply_to(LocalCode(catalog), _question()))
    asked = Transact(run_id=_NAME, generation=1, worker=_NAME, id=1, transitions=(Ready(),))
    reader = FrameReader()
    for message in (Resolved(answer=answer), asked):
        for frame in reader.feed(encode_frame(FROM_CHILD.write(message))):
            FROM_CHILD.read(frame)


def _flow() -> Workflow[JsonObject]:
    flow = Workflow(_NAME)

    @flow.compute
    def step(ctx: Context[JsonObject]) -> int:
        return ctx.steps_left

    flow.entry(step)
    return flow


def _question() -> JsonObject:
    wanted = Wanted(reference=f"object:{_NAME}", workflow=_NAME, project=_NOWHERE, cwd=_NOWHERE)
    return write(Asked(question=Starting(wanted=wanted, run_id=_NAME, agents={}), value={}))
