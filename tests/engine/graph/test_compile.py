"""A workflow becomes a definition that is data, and a program with its functions."""

from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve, frozen

from runwright import Context, Json, Node, Present, Retry, Workflow, hours, minutes, seconds
from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.errors import WorkflowInvalid
from runwright.engine.graph.compile import compile_workflow
from runwright.engine.graph.definition import Definition, Limit, NodeSpec, RetrySpec
from runwright.eventstore.values import decode, encode


@frozen
class Task:
    """An input."""

    name: str


def text(ctx: Context[Any]) -> str:
    """A node's function."""
    return "text"


def seen(ctx: Context[Any], request: str) -> Present[str]:
    """An observation."""
    return Present(request)


def everything() -> Workflow[Task]:
    """One node of every kind, in a row."""
    flow = Workflow("everything", input=Task, max_steps=7, timeout=minutes(2), presentation="Say it.")
    nodes: list[Node[..., Any, Any]] = [
        flow.agent(by="reviewer", schema={"type": "string"}, name="agent", label="An agent")(text),
        flow.choose(choices=["a", "b"], name="choose")(text),
        flow.assistant(max_chars=9, name="assistant")(text),
        flow.compute(timeout=lambda ctx: 3, retry=Retry(2, factor=3), name="compute")(text),
        flow.action(name="manual", effect="pay", timeout=None)(text),
        flow.action(request=text, observe=lambda ctx, request: Present(), name="observed")(
            lambda ctx, request: request
        ),
        flow.shell(recovery="idempotent", name="shell", retry=Retry())(lambda ctx: ["true"]),
        flow.notify(kind="final", name="notify")(text),
        flow.decision(choices=["yes"], deadline=hours(1), on_timeout="yes", audience="ops", name="decision")(text),
        flow.checkpoint(summary="look", returns=int, protected=True, name="checkpoint")(lambda ctx: None),
        flow.wait("pause", seconds(5)),
    ]
    flow.entry(nodes[0])
    for one, other in pairwise(nodes):
        flow.then(one, other)
    return flow


def test_every_kind_becomes_its_spec() -> None:
    """What a decorator was told stands in the definition."""
    definition = compile_workflow(everything()).definition
    nodes = definition.nodes
    assert list(nodes) == [
        *("agent", "choose", "assistant", "compute", "manual", "observed"),
        *("shell", "notify", "decision", "checkpoint", "pause"),
    ]
    quarter = 900_000_000
    assert nodes["agent"] == NodeSpec(
        path="agent", kind="agent", label="An agent", schema={"type": "string"}, timeout_us=quarter, by="reviewer"
    )
    assert nodes["choose"].choices == ("a", "b")
    assert nodes["choose"].schema == {"enum": ["a", "b"]}
    assert nodes["assistant"].max_chars == 9
    assert (nodes["compute"].timeout_us, nodes["compute"].dynamic_timeout) == (None, True)
    assert nodes["compute"].retry == RetrySpec(attempts=2, first_us=1_000_000, factor=3.0, maximum_us=60_000_000)
    assert (nodes["manual"].contract, nodes["manual"].effect_type, nodes["manual"].timeout_us) == (
        "manual",
        "pay",
        None,
    )
    assert (nodes["observed"].contract, nodes["observed"].effect_type) == ("observed", "observed")
    assert (nodes["shell"].contract, nodes["shell"].effect_type) == ("idempotent", "shell")
    assert (nodes["notify"].notice, nodes["notify"].schema) == ("final", {"type": "null"})
    decision = nodes["decision"]
    assert (decision.deadline_us, decision.on_timeout, decision.audience) == (3_600_000_000, "yes", "ops")
    assert decision.timeout_us is None
    assert (nodes["checkpoint"].summary, nodes["checkpoint"].protected) == ("look", True)
    assert (nodes["pause"].wait_us, nodes["pause"].timeout_us) == (5_000_000, None)
    assert [node.name for node in nodes.values() if node.is_effect] == ["manual", "observed", "shell"]


def test_the_definition_knows_its_workflow() -> None:
    """Name, description, limits, input and presentation."""
    definition = compile_workflow(everything()).definition
    assert (definition.workflow, definition.max_steps, definition.timeout_us) == ("everything", 7, 120_000_000)
    assert definition.description == __doc__
    assert definition.presentation == "Say it."
    assert definition.input_schema["required"] == ["name"]


def test_a_definition_survives_its_snapshot() -> None:
    """Through canonical JSON and back it is equal, and so is its digest."""
    definition = compile_workflow(everything()).definition
    back = Definition.from_snapshot(decode(encode(definition.snapshot())))
    assert back == definition
    assert back.digest == definition.digest
    assert len(definition.digest) == 64


def test_the_digest_follows_what_is_declared() -> None:
    """Two compilations are equal; any change is another digest."""
    one = compile_workflow(everything()).definition
    assert compile_workflow(everything()).definition.digest == one.digest
    assert evolve(one, limits={"agent": Limit(visits=1, to="choose")}).digest != one.digest


def test_an_unknown_snapshot_is_refused() -> None:
    """A field of a newer version is not ignored."""
    snapshot = compile_workflow(everything()).definition.snapshot()
    with pytest.raises(NotConvertible):
        Definition.from_snapshot({**snapshot, "newer": 1})


def test_a_program_has_the_code_behind_each_path() -> None:
    """Nodes as written, and their shapes."""
    program = compile_workflow(everything())
    node = program.nodes["compute"]
    assert node.declaration.function is text
    assert node.shape.dump("x") == "x"
    assert program.input.load({"name": "n"}) == Task("n")
    assert program.scope_of("compute").workflow == "everything"


def test_composition_flattens_to_full_paths() -> None:
    """One child mounted twice is two sets of paths; each scope sees its own names."""
    inner = Workflow("inner", input=Task, max_steps=9)
    plan, write = (inner.compute(name=name)(text) for name in ("plan", "write"))
    inner.entry(plan)
    inner.then(plan, write)
    inner.limit(plan, 2, write)
    ready = inner.exit("ready", write)
    flow = Workflow("outer")
    one = flow.include("one", inner, input=lambda ctx: Task("1"))
    two = flow.include("two", inner, input=lambda ctx: Task("2"))
    flow.entry(one)
    flow.switch(one[ready], {"again": one}, default=two)
    flow.catch(one, two)
    program = compile_workflow(flow)
    definition = program.definition
    assert list(definition.nodes) == ["one/plan", "one/write", "two/plan", "two/write"]
    assert definition.entry == "one"
    assert (definition.mounts["two"].entry, definition.mounts["two"].exits) == ("two/plan", {"ready": "two/write"})
    assert definition.mounts["one"].max_steps == 9
    assert definition.then == {"one/plan": "one/write", "two/plan": "two/write"}
    assert definition.switches["one[ready]"].default == "two"
    assert definition.catches == {"one": {"failed": "two", "timed_out": "two"}}
    assert set(definition.limits) == {"one/plan", "two/plan"}
    assert [mount.path for mount in definition.mounts_around("two/plan")] == ["two"]
    root, scope = program.scopes[""], program.scope_of("two/plan")
    assert root.sources == {"one[ready]": "one/write", "two[ready]": "two/write"}
    assert root.places == {"one": "one", "two": "two"}
    assert scope.sources == {"plan": "two/plan", "write": "two/write"}
    assert scope.make_input is not None
    assert scope.make_input(None) == Task("2")
    assert Definition.from_snapshot(definition.snapshot()) == definition


def test_a_named_child_is_compiled_once_it_is_found() -> None:
    """A reference that nobody resolves cannot be compiled."""
    inner = Workflow("inner")
    inner.entry(inner.compute(name="last")(text))
    inner.exit("ready", inner.nodes[0])
    flow = Workflow("outer")
    flow.entry(flow.include("docs", "documentation", input=lambda ctx: {}))
    assert list(compile_workflow(flow, lambda reference: inner).definition.nodes) == ["docs/last"]
    with pytest.raises(WorkflowInvalid) as refused:
        compile_workflow(flow)
    assert "'documentation' is only named" in refused.value.problems[0]


def test_a_workflow_with_faults_is_not_compiled() -> None:
    """All of them are told at once; warnings are none."""
    flow: Workflow[dict[str, Json]] = Workflow("bad name", max_steps=0)
    with pytest.raises(WorkflowInvalid) as refused:
        compile_workflow(flow)
    assert [line.split(": ")[1] for line in refused.value.problems] == [
        "name_invalid",
        "option_invalid",
        "entry_missing",
    ]


def test_retry_delays_grow_to_their_maximum() -> None:
    """first, first x factor, … never over the maximum, however many."""
    retry = RetrySpec(attempts=9, first_us=1_000_000, factor=2.0, maximum_us=5_000_000)
    assert [retry.delay_us(attempt) for attempt in (1, 2, 3, 4, 9999)] == [1_000_000, 2_000_000, 4_000_000] + [
        5_000_000
    ] * 2
