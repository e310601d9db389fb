"""Two adapters on one session: can the older one do anything, through any operation that there is?"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Workflow
from runwright.engine.host.serving.asked import Asked
from runwright.engine.protocol.envelopes import Call
from runwright.engine.protocol.fields import schema
from runwright.engine.protocol.operations import OPERATIONS, Lane, Needs, Operation
from support.raw_client import RawClient
from support.serving import Served, served
from support.socket_session import speaking

#: What an operation needs besides session and epoch; one with another field says here what that may hold.
GIVEN = {"turn": "turn-1", "value": "fine", "text": "And then?", "idle": True, "nothing_pending": True}


def document_of(operation: Operation) -> Any:
    """The schema of what an operation takes."""
    return schema(operation.payload)


SPOKEN = [each for each in OPERATIONS.values() if "epoch" in document_of(each)["properties"]]


def asks() -> Workflow[Any]:
    """A workflow that asks its session."""
    workflow: Workflow[Any] = Workflow("asks")

    @workflow.agent(returns=str)
    def ask(ctx: Context[Any]) -> str:
        """Ask."""
        return "What is it?"

    workflow.entry(ask)
    return workflow


def payload_of(operation: Operation, facts: dict[str, Any]) -> dict[str, Any]:
    """What an operation takes about a session: all that it needs, and the two by which one speaks."""
    return {name: facts[name] for name in (*document_of(operation)["required"], "session", "epoch")}


def call_of(operation: Operation, payload: dict[str, Any], run_id: str, key: str) -> dict[str, Any]:
    """A call as the wire has it."""
    call: dict[str, Any] = {"client_id": "pi:s1", "payload": payload}
    if operation.run is Needs.YES:
        call["run_id"] = run_id
    if operation.key is Needs.YES:
        call["key"] = key
    return call


@asynccontextmanager
async def connected(host: Served) -> AsyncIterator[RawClient]:
    """A connection of its own."""
    client = await RawClient.open(host.server.path)
    try:
        yield client
    finally:
        await client.close()


async def told(client: RawClient, operation: Operation, call_id: str, call: dict[str, Any]) -> dict[str, Any]:
    """The reply to a call."""
    await client.call(operation.name, call_id, **call)
    return await client.reply(call_id)


def test_who_speaks_for_a_session_says_under_which_epoch() -> None:
    """Only a start, which anybody may put to a session, and attaching, which begins an epoch, know of none."""
    speaks = {
        each.name
        for each in OPERATIONS.values()
        if each.lane is Lane.COMMAND and "session" in document_of(each)["properties"]
    }
    assert speaks - {each.name for each in SPOKEN} == {"run.start", "session.attach"}


@pytest.mark.parametrize("operation", SPOKEN, ids=lambda each: each.name)
async def test_the_older_epoch_can_do_nothing(tmp_path: Path, operation: Operation) -> None:
    """Every call of the one before is refused and writes nothing; the same call of the present one is carried out."""
    workflow = asks()
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as old:
        run_id = await host.engine.start(workflow, {}, session="s1")
        await old.settle()
        message = await old.receive()
        async with speaking(host.home) as new, connected(host) as client:
            assert new.epoch != old.epoch
            facts = {**GIVEN, "session": "s1", "message": message["message"], "request_id": _request(message)}
            stale = payload_of(operation, {**facts, "epoch": old.epoch})
            for number, payload in enumerate(_refused(operation, stale)):
                await _changes_nothing(
                    host, client, operation, f"old-{number}", call_of(operation, payload, run_id, "k")
                )
            present = call_of(operation, {**stale, "epoch": new.epoch}, run_id, "k")
            assert (await told(client, operation, "new", present))["error"] is None
            if operation.receipt:
                # Its authority is looked at before its receipt.
                repeat = call_of(operation, stale, run_id, "k")
                await _changes_nothing(host, client, operation, "again", repeat)
                assert (await told(client, operation, "once more", present))["outcome"] == "adopted"


def _refused(operation: Operation, stale: dict[str, Any]) -> list[dict[str, Any]]:
    """What must not be taken: the older epoch; where one speaks, one that never was, and none."""
    if operation.lane is not Lane.COMMAND:
        return [stale]  # who only looks needs none
    without = {name: value for name, value in stale.items() if name != "epoch"}
    optional = "epoch" not in document_of(operation)["required"]
    return [stale, {**stale, "epoch": "nobody's"}, *([without] if optional else [])]


async def _changes_nothing(
    host: Served, client: RawClient, operation: Operation, call_id: str, call: dict[str, Any]
) -> None:
    Asked.of(Call(call_id=call_id, operation=operation.name, **call))
    before = host.holder.log.head().position
    reply = await told(client, operation, call_id, call)
    assert (reply["outcome"], reply["error"]["code"], reply["receipt"]) == ("claim_lost", "claim_lost", None)
    # The run may go on meanwhile; of what sessions say nothing is written.
    written = list(host.holder.log.read_all(after=before))
    assert [each.type for each in written if each.actor.startswith(("client:", "session:"))] == []


def _request(message: dict[str, Any]) -> str:
    return str(message["content"]["value"]["requestId"])
