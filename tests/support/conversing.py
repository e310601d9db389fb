"""Runs that talk to a session over the socket: workflows, what the model hands in, and what the store says of it."""

import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from runwright import Context, Workflow
from support.serving import Served, served
from support.socket_session import SocketSession, speaking

#: What may be written once of each thing, with the field that names it; a turn has one end, whichever that is.
_ONCE: Final = {
    "run.queued": "run",
    "run.completed": "run",
    "message.queued": "message",
    "message.sent": "message",
    "turn.started": "turn",
    "turn.ended": "turn",
    "turn.lost": "turn",
    "request.opened": "request",
    "request.accepted": "request",
    "session.attached": "epoch",
    "session.detached": "epoch",
}
_ENDS: Final = {"turn.ended": "turn's end", "turn.lost": "turn's end"}


def asks(*names: str, prompt: str = "Do it.") -> Workflow[Any]:
    """A workflow that asks its session one thing after another; an answer is a short text."""
    workflow: Workflow[Any] = Workflow("asks")
    nodes = [workflow.agent(returns=str, validate=_short)(asking(name, prompt)) for name in names]
    workflow.entry(nodes[0])
    for before, after in itertools.pairwise(nodes):
        workflow.then(before, after)
    return workflow


def asking(name: str, prompt: str) -> Any:
    """A node's function that asks one thing."""

    def ask(ctx: Context[Any]) -> str:
        """Ask."""
        return prompt

    ask.__name__ = name
    return ask


def _short(ctx: Context[Any], answer: str) -> None:
    if len(answer) > 9:
        raise ValueError("write at most nine letters")


@asynccontextmanager
async def talking(tmp_path: Path, workflow: Workflow[Any]) -> AsyncIterator[tuple[Served, SocketSession, str]]:
    """A run of a workflow in a session whose adapter is attached; it has passed its boundary."""
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        run_id = await host.engine.start(workflow, {}, session="s1")
        await pi.settle()
        yield host, pi, run_id


async def submit(pi: SocketSession, message: dict[str, Any], value: Any, **how: Any) -> Any:
    """What the model hands in for a step."""
    request: Any = message["content"]["value"]["requestId"]
    return await pi.client.request_submit(request, value, session=pi.session, epoch=pi.epoch, **how)


async def rows(pi: SocketSession, projection: str, **equals: Any) -> list[dict[str, Any]]:
    """Rows of a projection, as the host shows them."""
    where = [f"{name}={value}" for name, value in equals.items()]
    found: Any = (await pi.client.projection_query(projection, where=where))["items"]
    return list(found)


async def delivered(host: Served) -> list[str]:
    """The messages that were handed out, in order."""
    return [json.loads(each.data)["message"] for each in await host.engine.events(types=["message.delivered"])]


async def check_once(host: Served) -> None:
    """Hold the log against what happens once at most, however often it was told."""
    counted: Counter[tuple[str, str]] = Counter()
    for each in await host.engine.events(types=list(_ONCE)):
        name = each.stream if _ONCE[each.type] == "run" else json.loads(each.data)[_ONCE[each.type]]
        counted[_ENDS.get(each.type, each.type), name] += 1
    assert counted
    repeated = {what: times for what, times in counted.items() if times > 1}
    assert not repeated, repeated
