"""The codec: every event goes round, and what does not fit its class is named."""

import json
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.eventstore import codec
from runwright.eventstore.codec import decode_event, encode_event
from runwright.eventstore.errors import EventUnreadable, PayloadTooLarge, UnknownEvent, ValueRefused
from runwright.eventstore.events.event import Content, Event, ProcessIdentity
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.events.registry import REGISTRY
from runwright.eventstore.events.run import AgentBinding, RunQueued
from runwright.eventstore.events.worker import WorkerLaunched
from runwright.eventstore.values import decode, encode
from strategies.events import events, events_of

FINISHED: dict[str, Any] = {"path": "a/b", "visit": 1, "attempt": 1, "outcome": "completed"}


@pytest.mark.parametrize("name", sorted(REGISTRY))
@settings(max_examples=20)
@given(data=st.data())
def test_every_event_goes_round(name: str, data: st.DataObject) -> None:
    """What is read is what was written, in canonical text that a strict reader takes."""
    event = data.draw(events_of(REGISTRY[name]))
    facts, body = encode_event(event)
    assert decode_event(name, facts, body, 1) == event
    assert encode(decode(facts)) == facts
    if body is not None:
        assert encode(decode(body)) == body


@given(st.lists(events, max_size=5))
def test_many_are_parsed_as_one_by_one(several: list[Event]) -> None:
    """Parsing a chunk in one go gives the facts of each."""
    texts = [encode_event(event)[0] for event in several]
    assert codec.parse_many(texts) == [json.loads(text) for text in texts]


def test_a_chunk_with_a_text_of_two_values_is_refused() -> None:
    """Damage in one text cannot shift the facts of the others."""
    with pytest.raises(ValueError, match="several values"):
        codec.parse_many(["{}", "{},{}"])


def test_private_values_stand_in_the_body_only() -> None:
    """The body maps each field that has a value to media type and value; without one there is no body."""
    event = NodeFinished(**FINISHED, output=Content.json({"a": [1]}), error=Content.text("no"))
    facts, body = encode_event(event)
    assert facts == '{"attempt":1,"code":null,"next":null,"outcome":"completed","path":"a/b","visit":1}'
    assert body == (
        '{"error":{"media":"text/plain","value":"no"},"output":{"media":"application/json","value":{"a":[1]}}}'
    )
    assert encode_event(NodeFinished(**FINISHED))[1] is None


def test_an_erased_body_reads_as_no_values() -> None:
    """Without the body the facts still read."""
    facts, _ = encode_event(NodeFinished(**FINISHED, output=Content.json(1)))
    assert decode_event("node.finished", facts, None, 1) == NodeFinished(**FINISHED)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"visit": "1"}, "expected int @ $.visit"),
        ({"visit": True}, "expected int @ $.visit"),
        ({"visit": 1.0}, "expected int @ $.visit"),
        ({"path": None}, "expected str @ $.path"),
        ({"extra": 1}, "unknown field extra"),
        ({"output": None}, "unknown field output"),
    ],
)
def test_facts_that_do_not_fit_are_named_with_position_and_type(change: dict[str, Any], problem: str) -> None:
    """A reader learns which event, which field, and what was expected."""
    facts = json.loads(encode_event(NodeFinished(**FINISHED))[0]) | change
    with pytest.raises(EventUnreadable) as unreadable:
        decode_event("node.finished", json.dumps(facts), None, 7)
    assert (unreadable.value.position, unreadable.value.type) == (7, "node.finished")
    assert problem in unreadable.value.problem


@pytest.mark.parametrize("field", ["attempt", "code", "next", "outcome", "path", "visit"])
def test_a_missing_field_is_named(field: str) -> None:
    """Every field is written always, so a missing one is damage, also where the class has a default."""
    facts = json.loads(encode_event(NodeFinished(**FINISHED))[0])
    del facts[field]
    with pytest.raises(EventUnreadable, match=f"missing field {field}"):
        decode_event("node.finished", json.dumps(facts), None, 7)


def test_what_is_wrong_inside_a_nested_fact_is_named_with_its_path() -> None:
    """The path leads into nested facts and lists."""
    process = ProcessIdentity(boot="b", namespace="n", pid=1, start=2)
    facts, _ = encode_event(WorkerLaunched(worker="w", generation=1, progress=0, process=process))
    with pytest.raises(EventUnreadable, match=r"\$\.process\.pid"):
        decode_event("worker.launched", facts.replace('"pid":1', '"pid":"1"'), None, 1)
    queued = RunQueued(workflow="w", reference="r", definition="d", root="x", max_steps=1, pass_env=("A",))
    facts, _ = encode_event(queued)
    with pytest.raises(EventUnreadable, match=r"\$\.pass_env"):
        decode_event("run.queued", facts.replace('["A"]', "[1]"), None, 1)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("[]", "no object"),
        ("{", "no JSON"),
        ('{"surprise":{"media":"text/plain","value":""}}', "unknown field surprise"),
        ('{"path":{"media":"text/plain","value":""}}', "unknown field path"),
        ('{"error":{"media":"text/plain","value":1}}', "no text"),
        ('{"error":{"media":"image/png","value":""}}', "media type"),
        ('{"error":{"media":"text/plain"}}', "media type"),
        ('{"error":{"media":"text/plain","value":"","more":1}}', "media type"),
        ('{"error":null}', "media type"),
    ],
)
def test_a_body_that_does_not_fit_is_named(body: str, problem: str) -> None:
    """Bodies are read as strictly as facts."""
    facts, _ = encode_event(NodeFinished(**FINISHED))
    with pytest.raises(EventUnreadable, match=problem):
        decode_event("node.finished", facts, body, 3)


def test_an_unknown_type_is_an_error_of_its_own() -> None:
    """Nothing is skipped because its type is not known."""
    with pytest.raises(UnknownEvent) as unknown:
        decode_event("node.exploded", "{}", None, 9)
    assert (unknown.value.position, unknown.value.type) == (9, "node.exploded")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"visit": True}, "node.finished.visit"),
        ({"visit": "1"}, "node.finished.visit"),
        ({"path": 1}, "node.finished.path"),
        ({"path": None}, "node.finished.path"),
        ({"path": "\ud800"}, "node.finished.path"),
        ({"visit": 10**4300}, "node.finished.visit"),
        ({"output": {"a": 1}}, "output"),
        ({"output": Content("text/plain", 1)}, "output"),
        ({"output": Content("image/png", "x")}, "output"),
        ({"output": Content.json([float("nan")])}, "$[0]"),
    ],
)
def test_an_event_that_does_not_fit_its_class_is_refused_by_field(change: dict[str, Any], path: str) -> None:
    """Nothing is written that would not read."""
    with pytest.raises(ValueRefused) as refused:
        encode_event(NodeFinished(**{**FINISHED, **change}))
    assert refused.value.path == path


def test_what_is_wrong_in_a_nested_field_is_refused_by_path() -> None:
    """The path leads into tuples and nested facts."""
    wrong: Any = [1]
    agents = (AgentBinding(name="a", kind="b"), AgentBinding(name=wrong, kind="b"))
    with pytest.raises(ValueRefused) as refused:
        encode_event(RunQueued(workflow="w", reference="r", definition="d", root="x", max_steps=1, agents=agents))
    assert refused.value.path == "run.queued.agents[1].name"


def test_control_facts_over_64_kib_are_too_large() -> None:
    """The limit counts bytes."""
    encode_event(NodeFinished(**{**FINISHED, "path": "x" * 65_000}))
    with pytest.raises(PayloadTooLarge):
        encode_event(NodeFinished(**{**FINISHED, "path": "é" * 32_768}))


def test_every_field_of_every_class_has_a_type_that_the_codec_knows() -> None:
    """Texts, whole numbers, truth values, tuples and nested facts: nothing else stands in `data`."""
    for cls in REGISTRY.values():
        assert typing.get_type_hints(cls)
        codec._shape(cls)
