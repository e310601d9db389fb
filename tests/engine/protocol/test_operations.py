"""Is the table of operations the one that was promised, and is its schema whole?"""

from typing import Any

import pytest

from runwright.engine.host.serving.asked import Asked
from runwright.engine.protocol.contract import contract
from runwright.engine.protocol.envelopes import Call
from runwright.engine.protocol.errors import MessageInvalid, OperationUnknown
from runwright.engine.protocol.operations import OPERATIONS, Lane, Needs

PROMISED = """
    workflow.list workflow.check
    run.start run.pause run.resume run.cancel run.restart run.status run.list run.output run.logs run.follow_up
    request.list request.get request.submit request.update request.answer request.decide
    session.attach session.detach session.settled session.report turn.report
    view.get view.page view.subscribe events.read events.subscribe content.read
    projection.list projection.query projection.verify projection.rebuild
    effect.get effect.resolve log.head log.redact store.backup host.status host.stop
"""
#: What sessions' coordinators tell: evidence, which may be told again.
EVIDENCE = {"session.attach", "session.detach", "session.settled", "session.report", "turn.report"}


def call(operation: str, **given: Any) -> Call:
    """A call of an operation."""
    return Call(call_id="1", operation=operation, **{"client_id": "cli", "payload": {}, **given})


#: A follow-up over its limit.
LONG = {"session": "s", "epoch": "e", "text": "x" * 65_537}


def test_the_table_is_closed() -> None:
    """There are exactly the operations of this version."""
    assert set(OPERATIONS) == set(PROMISED.split())


@pytest.mark.parametrize("operation", ["run.explode", "session.fork", "", "run"])
def test_other_operations_are_refused_by_name(operation: str) -> None:
    """An operation that this version does not have is named in the refusal, with those that there are."""
    with pytest.raises(OperationUnknown) as refused:
        Asked.of(call(operation))
    assert f"no operation {operation};" in refused.value.message
    assert "run.start" in refused.value.message


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        (call("run.pause", key="k"), "$.run_id"),
        (call("run.pause", run_id="r"), "$.key"),
        (call("log.head", run_id="r"), "$.run_id"),
        (call("log.head", key="k"), "$.key"),
        (call("run.status", run_id="r", expected_revision=1), "$.expected_revision"),
        (call("log.head", payload={"more": 1}), "$.payload.more"),
        (call("content.read", payload={"position": 0, "field": "f"}), "$.payload.position"),
        (call("run.start", key="k", payload={"workflow": "w", "input": {}}), "$.payload.cwd"),
        (call("run.follow_up", key="k", run_id="r", payload=LONG), "$.payload.text"),
    ],
)
def test_what_a_call_lacks_or_has_too_much_is_named(asked: Call, path: str) -> None:
    """Run, key, revision and payload are those that the operation takes."""
    with pytest.raises(MessageInvalid) as refused:
        Asked.of(asked)
    assert refused.value.path == path


def test_commands_leave_receipts() -> None:
    """What changes a run has a key and a durable receipt; what only reads, or tells evidence, has neither."""
    for each in OPERATIONS.values():
        assert each.receipt == (each.lane is Lane.COMMAND and each.name not in EVIDENCE)
        assert (each.key is Needs.YES) == (
            each.receipt or each.name in ("projection.rebuild", "log.redact", "store.backup")
        )


def test_models_are_no_persons() -> None:
    """Clients of agents' sessions are models; the command line and programs act for a person."""
    for client, person in (("cli", True), ("engine", True), ("tool", True), ("pi:s", False), ("mcp:s", False)):
        asked = Asked.of(Call(call_id="1", client_id=client, operation="run.pause", key="k", run_id="r", payload={}))
        assert asked.caller.person is person
        assert asked.caller.actor == f"client:{client}"


@pytest.mark.parametrize("client", ["pi:s1", "mcp:s1", "hook:s1"])
def test_a_model_speaks_for_its_own_session(client: str) -> None:
    """It tells nothing about another one, and leaves nothing in it; looking is free, and a person's program may."""
    told: dict[str, dict[str, Any]] = {
        "session.attach": {"agent": "a"},
        "session.settled": {"epoch": "e"},
        "view.subscribe": {"epoch": "e"},
    }
    for operation, payload in told.items():
        for session, fits in (("s1", True), ("s2", False)):
            asked = call(operation, payload={"session": session, **payload}, client_id=client)
            if fits:
                Asked.of(asked)
                continue
            with pytest.raises(MessageInvalid) as refused:
                Asked.of(asked)
            assert refused.value.path == "$.payload.session"
            Asked.of(call(operation, payload={"session": session, **payload}))
    Asked.of(call("view.get", payload={"session": "s2"}, client_id=client))
    with pytest.raises(MessageInvalid):
        Asked.of(call("run.follow_up", run_id="r", key="k", payload={"session": "s2", "text": "t"}, client_id=client))


def references(value: Any) -> set[str]:
    """Every reference in a schema."""
    if isinstance(value, list):
        return set().union(*map(references, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own.union(*map(references, value.values()))


def test_the_schema_is_whole() -> None:
    """Every class that a message is made of is defined, every definition is used, and each operation is listed."""
    document = contract()
    definitions, operations = document["$defs"], document["operations"]
    assert isinstance(definitions, dict)
    assert isinstance(operations, dict)
    assert references(document) == {f"#/$defs/{name}" for name in definitions}
    assert set(operations) == set(OPERATIONS)
    for definition in definitions.values():
        assert isinstance(definition, dict)
        assert definition["additionalProperties"] is False
        assert definition["description"]
