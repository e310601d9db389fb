"""Every message of a worker's channel comes back as it was, and what is no message is refused by name."""

from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.engine.commands.run import Continue, Resume, Start
from runwright.engine.commands.worker import EffectGrant, StartNode, WorkerTransition
from runwright.engine.execution.port import MountState, NodeState, RunState, SavedEffect, SavedRequest
from runwright.engine.results import Adopted, Applied, Conflict, RecoveryRequired, Result
from runwright.engine.wire.errors import RecordRefused
from runwright.engine.wire.frames import MAX_FRAME, FrameReader
from runwright.engine.wire.parts import Assembler, frames_of
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import (
    FROM_CHILD,
    FROM_HOST,
    Answer,
    Ask,
    Command,
    Exiting,
    FromChild,
    FromHost,
    Renew,
    Resolved,
    SayReady,
    Stop,
    Transact,
    Unresolved,
)
from runwright.engine.worker.transitions import NAMES, as_data, from_data
from runwright.eventstore.values import JsonObject, decode, encode
from strategies.values import json_values

texts = st.text(max_size=4)
HEAD: dict[str, Any] = {"run_id": "r", "generation": 2, "worker": "w", "id": 1}


def of_hint(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field."""
    if hint is str:
        return texts
    if hint is int:
        return st.integers()
    if hint is bool:
        return st.booleans()
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    if {bool, int, float, str} <= set(get_args(hint)):
        return json_values
    if get_args(hint):
        return st.one_of(*(st.none() if each is type(None) else of_hint(each) for each in get_args(hint)))
    return instances(hint)


def instances(cls: Any) -> st.SearchStrategy[Any]:
    """Instances of an attrs class."""
    return st.builds(cls, **{each.name: of_hint(each.type) for each in attrs.fields(cls)})


def sent(message: FromChild) -> FromChild:
    """A message of a child's, as the host reads it."""
    return FROM_CHILD.read(decode(encode(FROM_CHILD.write(message))))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(data=st.data())
def test_each_transition_comes_back(name: str, data: st.DataObject) -> None:
    """Under its own name, every field as it was."""
    told = Transact(**HEAD, transitions=(data.draw(instances(NAMES[name])),))
    written = FROM_CHILD.write(told)
    assert isinstance(written["transitions"], list)
    assert isinstance(written["transitions"][0], dict)
    assert written["transitions"][0]["type"] == name
    assert sent(told) == told


def test_every_transition_has_a_name() -> None:
    """None can be added without one."""
    assert set(NAMES.values()) == set(get_args(WorkerTransition))


RESULTS: list[Result[object]] = [
    Applied(None, 3),
    Applied(7, 3),
    Adopted("request", 4),
    Applied(EffectGrant(effect="e", state="applied", applications=2, result={"a": [1]}), 5),
    Conflict("claim_lost", {"reason": "expired"}),
    RecoveryRequired("effect_ambiguous", {"effect": "e"}),
]


def test_results_come_back() -> None:
    """All four answers, with every kind of value."""
    answer = Answer(id=1, results=as_data(RESULTS))
    read = FROM_HOST.read(decode(encode(FROM_HOST.write(answer))))
    assert isinstance(read, Answer)
    assert from_data(read.results) == RESULTS


OTHERS: list[FromChild] = [
    SayReady(**HEAD),
    Renew(**HEAD),
    Exiting(**HEAD, outcome="claim_lost"),
    Resolved(answer={"a": 1}),
    Unresolved(problem="it raised ValueError"),
]


@pytest.mark.parametrize("message", OTHERS, ids=lambda message: type(message).__name__)
def test_the_other_messages_of_a_child_come_back(message: FromChild) -> None:
    """Each with its head."""
    assert sent(message) == message


def node(path: str) -> NodeState:
    """A node that finished."""
    return NodeState(
        path=path,
        visits=2,
        invocation_visits=1,
        open=False,
        attempt=1,
        outcome="completed",
        has_output=True,
        output={"n": 1.5},
        code=None,
        error=None,
        started_at=1,
        finished_at=2,
        deadline=None,
        invocation=0,
    )


def state(nodes: int = 2, **changes: Any) -> RunState:
    """A run in the middle."""
    paths = [f"node{number}" for number in range(nodes)]
    return RunState(
        command=Resume(run_id="r"),
        begins=Continue(run_id="r", parent="p", request="q", node="n"),
        run_id="r",
        root="p",
        workflow="w",
        definition="d",
        input={"é": None},
        node=paths[-1],
        nodes={path: node(path) for path in paths},
        steps=2,
        max_steps=9,
        cwd=Path("/cwd"),
        scratch=Path("/scratch"),
        effect=SavedEffect(effect="e", state="reserved", applications=0, request=[1]),
        request=SavedRequest(request="q", prompt="p", refused=1, refusal="no", deadline=None),
        mounts={"m": MountState(path="m", invocation=1, within=0, entries=1, inside=True)},
        mount="m",
        agents={"default": "callable"},
        **changes,
    )


TOLD: list[FromHost] = [
    Command(state=state()),
    Answer(id=3),
    Stop(),
    Ask(question={"reference": "x"}, cwd=Path("/c"), user=Path("/u"), environment={"KEY": "hunter2"}),
    Launch(
        run_id="r",
        generation=1,
        owner="h:w",
        token="t",
        workflow="w",
        reference="flow.py",
        project=Path("/p"),
        cwd=Path("/c"),
        scratch=Path("/s"),
        output=Path("/o"),
        sources={"flow.py": "00"},
        definition="d",
        progress=4,
        began=True,
        agents={"default": "cmd:x"},
        environment={"KEY": "hunter2"},
    ),
]


@pytest.mark.parametrize("message", TOLD, ids=lambda message: type(message).__name__)
def test_what_the_host_says_comes_back(message: FromHost) -> None:
    """Paths, commands and saved values included."""
    assert FROM_HOST.read(decode(encode(FROM_HOST.write(message)))) == message


def test_a_state_of_any_size_comes_back() -> None:
    """In parts, each within a frame."""
    large = Command(state=state(8_000))
    reader, assembler = FrameReader(), Assembler()
    frames = list(frames_of(FROM_HOST.write(large)))
    assert len(frames) > 2
    assert max(map(len, frames)) <= MAX_FRAME
    got = [each for raw in frames for frame in reader.feed(raw) if (each := assembler.take(frame)) is not None]
    assert [FROM_HOST.read(each) for each in got] == [large]


def test_nothing_private_is_shown() -> None:
    """Neither tokens nor specifications nor values stand in a message's own text."""
    assert "hunter2" not in repr(TOLD)
    assert "hunter2" not in repr(Ask(question={"input": "hunter2"}, cwd=Path("/c")))


UNFIT: list[tuple[JsonObject, str]] = [
    ({"type": "launch"}, r"\$\.type"),
    ({"type": "ready"}, r"\$\.run_id is missing"),
    ({"type": "ready", **HEAD, "hunt": 1}, "unknown field hunt"),
    ({"type": "ready", **HEAD, "id": "1"}, r"\$\.id is no whole number"),
    ({"type": "transact", **HEAD, "transitions": [{"type": "node.stop"}]}, r"\$\.transitions\[0\]\.type"),
    ({"type": "transact", **HEAD, "transitions": [{"type": "node.start", "path": 1}]}, r"transitions\[0\]\.path"),
]


@pytest.mark.parametrize(("data", "problem"), UNFIT)
def test_what_is_no_message_is_refused_by_name(data: JsonObject, problem: str) -> None:
    """The field and what is wrong with it."""
    with pytest.raises(RecordRefused, match=problem):
        FROM_CHILD.read(data)


def test_commands_are_told_apart() -> None:
    """A start is not read as a resume."""
    told = Command(state=attrs.evolve(state(), command=Start(run_id="r")))
    assert FROM_HOST.read(FROM_HOST.write(told)) == told


def test_a_deadline_may_be_missing() -> None:
    """What has a default need not be sent."""
    told: JsonObject = {
        "type": "transact",
        **HEAD,
        "transitions": [{"type": "node.start", "path": "a", "visit": 1, "attempt": 1}],
    }
    assert FROM_CHILD.read(told) == Transact(**HEAD, transitions=(StartNode(path="a", visit=1, attempt=1),))
