"""Are the four envelopes, and nothing else, read and written?"""

from typing import Any

import pytest

from runwright.engine.protocol.envelopes import Call, Event, Failure, Hello, Receipt, Reply, unwrap, wrap
from runwright.engine.protocol.errors import MessageInvalid

ENVELOPES = [
    Hello(protocol="runwright.client.v1", version="1.2.3", epoch="e"),
    Call(call_id="1", client_id="cli", operation="run.pause", key="k", run_id="r", expected_revision=3, payload={}),
    Reply(
        call_id="1",
        outcome="accepted",
        revision=4,
        receipt=Receipt(client_id="cli", key="k", operation="run.pause", run_id="r"),
        answer={"run_id": "r"},
    ),
    Reply(
        call_id=None,
        outcome="rejected",
        error=Failure(kind="MessageInvalid", code="message_invalid", message="m", hint="h", facts={"path": "$"}),
    ),
    Event(call_id="1", kind="events", position=3, payload={"items": []}),
]


@pytest.mark.parametrize("envelope", ENVELOPES, ids=lambda each: type(each).__name__)
def test_an_envelope_comes_back(envelope: Any) -> None:
    """What is wrapped is unwrapped as the same, with its type and with every field."""
    message = wrap(envelope)
    assert message["type"] == type(envelope).__name__.lower()
    assert unwrap(message) == envelope


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({}, "$.type"),
        ({"type": "request"}, "$.type"),
        ({"type": 1}, "$.type"),
        ({"type": "hello", "protocol": "p"}, "$.version"),
        ({"type": "hello", "protocol": "p", "version": "1", "more": 1}, "$.more"),
        ({"type": "call", "call_id": "1", "client_id": "Root", "operation": "o", "payload": {}}, "$.client_id"),
        ({"type": "call", "call_id": "", "client_id": "cli", "operation": "o", "payload": {}}, "$.call_id"),
        ({"type": "call", "call_id": "1", "client_id": "cli", "operation": "o", "payload": []}, "$.payload"),
        ({"type": "call", "call_id": "1" * 129, "client_id": "cli", "operation": "o", "payload": {}}, "$.call_id"),
        ({"type": "call", "call_id": "1", "client_id": "cli", "operation": "o", "payload": {}, "key": 5}, "$.key"),
    ],
)
def test_what_is_no_envelope_is_named(message: dict[str, Any], path: str) -> None:
    """An unknown type, an unknown field, a missing one and a wrong one are refused by their path."""
    with pytest.raises(MessageInvalid) as refused:
        unwrap(message)
    assert refused.value.path == path


@pytest.mark.parametrize("client", ["cli", "engine", "pi:s.1:a-b_c", "mcp:x", "hook:x", "my-tool"])
def test_clients_name_themselves(client: str) -> None:
    """The command line, programs, sessions' agents and programs of one's own have names."""
    message = wrap(Call(call_id="1", client_id=client, operation="o", payload={}))
    found = unwrap(message)
    assert isinstance(found, Call)
    assert found.client_id == client
