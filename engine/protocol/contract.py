"""The wire contract as JSON Schema, made of the classes that the host reads and writes messages by."""

from typing import Any, Final

from runwright.engine.protocol import answers, conversation, envelopes, ledger, views
from runwright.engine.protocol.fields import parts_of, schema
from runwright.engine.protocol.limits import PROTOCOL
from runwright.engine.protocol.operations import OPERATIONS, Needs, Operation
from runwright.eventstore.values import Json, JsonObject

#: What the payloads of events are.
EVENT_PAYLOADS: Final[dict[str, type[Any]]] = {
    "events": ledger.EventsPage,
    "view": views.RunViewed,
    "session": conversation.SessionViewed,
    "runs": answers.LiveRuns,
    "lines": answers.LogLines,
    "end": envelopes.Failure,
}


def contract() -> JsonObject:
    """The JSON Schema (2020-12) of every message, and the table of operations."""
    tops: set[type] = {*envelopes.ENVELOPES.values(), *EVENT_PAYLOADS.values()}
    tops |= {cls for each in OPERATIONS.values() for cls in (each.payload, *each.answers)}
    classes = {cls for top in tops for cls in parts_of(top)}
    definitions: JsonObject = {cls.__name__: schema(cls) for cls in sorted(classes, key=lambda each: each.__name__)}
    for name, cls in envelopes.ENVELOPES.items():
        definitions[cls.__name__] = _typed(name, definitions[cls.__name__])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{PROTOCOL}",
        "title": PROTOCOL,
        "description": "One message of the client protocol: one JSON object on one line.",
        "oneOf": [_ref(cls) for cls in envelopes.ENVELOPES.values()],
        "operations": {name: _operation(each) for name, each in OPERATIONS.items()},
        "events": {name: _ref(cls) for name, cls in EVENT_PAYLOADS.items()},
        "$defs": definitions,
    }


def _typed(name: str, written: Json) -> JsonObject:
    """An envelope's schema with its ``type``; a call's payload has to be that of its operation."""
    assert isinstance(written, dict)
    properties, required = written["properties"], written["required"]
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    found: JsonObject = {
        **written,
        "properties": {"type": {"const": name}, **properties},
        "required": ["type", *required],
    }
    if name == "call":
        operations: list[Json] = list(OPERATIONS)
        found["properties"] = {"type": {"const": name}, **properties, "operation": {"enum": operations}}
        found["allOf"] = [_call_of(each) for each in OPERATIONS.values()]
    return found


def _call_of(operation: Operation) -> JsonObject:
    fields: JsonObject = {"payload": _ref(operation.payload)}
    required: list[Json] = []
    for name, needs in (("run_id", operation.run), ("key", operation.key)):
        if needs is Needs.NO:
            fields[name] = {"type": "null"}
        elif needs is Needs.YES:
            fields[name] = {"type": "string"}
            required.append(name)
    if not operation.expected:
        fields["expected_revision"] = {"type": "null"}
    then: JsonObject = {"properties": fields, "required": required}
    return {"if": {"properties": {"operation": {"const": operation.name}}}, "then": then}


def _operation(operation: Operation) -> JsonObject:
    return {
        "does": operation.does,
        "payload": _ref(operation.payload),
        "answer": _ref(operation.answer)
        if operation.of_session is None
        else {"oneOf": [*map(_ref, operation.answers)]},
        "run_id": operation.run.value,
        "key": operation.key.value,
        "expected_revision": operation.expected,
        "receipt": operation.receipt,
        "events": operation.streams,
    }


def _ref(cls: type) -> JsonObject:
    return {"$ref": f"#/$defs/{cls.__name__}"}
