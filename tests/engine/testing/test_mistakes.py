"""Does every mistake that a test of a workflow can make come out as one sentence: which node, and what to do?"""

import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from runwright import AgentRequest, CallableAgent, JsonObject, Workflow, testing
from runwright.engine.errors import InputInvalid, WorkflowNotFound
from runwright.engine.testing.plugin import opened_with
from support.rehearsed import GOOD, Word, ask, build, end, gate, given, push, ship, talk

ROOT = Path(__file__).parents[3]


def refused(error: type[BaseException], call: Callable[[], object]) -> BaseException:
    """The error that a call ends in: of exactly that type, and not in the course of another one."""
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    told = "".join(traceback.format_exception(raised.value))
    assert "During handling" not in told
    assert "direct cause" not in told
    return raised.value


CHOICES = "the name of a choice, a pair of it and a text, or None where its deadline passes."


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(
    ("argument", "node", "stand_in", "said"),
    [
        ("decisions", ship, ["maybe"], "Node 'ship' (decision) cannot take the answer: choice is none of yes, no."),
        ("decisions", ship, [("yes", "because")], "Node 'ship' (decision) cannot take the answer: text goes with no"),
        ("decisions", ship, [3], f"an answer of type int. Give decisions={{'ship': …}} {CHOICES}"),
        ("decisions", ship, [("no", "too", "much")], "Node 'ship' (decision) cannot take an answer of type tuple."),
        ("decisions", ship, [("no", 3)], "Node 'ship' (decision) cannot take an answer of type tuple."),
        ("decisions", ship, [ValueError("no")], "Node 'ship' (decision) cannot take an answer of type ValueError."),
        ("decisions", ship, lambda: "yes", "Node 'ship' (decision) cannot take its function, which gets Request."),
        ("decisions", gate, ["one"], "Node 'gate' (checkpoint) cannot take the answer: $: expected a whole number"),
        ("decisions", gate, [object()], "Node 'gate' (checkpoint) cannot take the answer: $: expected a JSON value"),
        ("agents", ask, lambda: "word", "Node 'ask' (agent) cannot take its function, which gets AgentRequest."),
        ("effects", push, ["seven"], "Node 'push' (action) cannot take what stands in for it: the output"),
        ("effects", push, lambda ctx: 7, "Node 'push' (action) cannot take its function, which gets Context and str."),
        (
            "effects",
            build,
            lambda: "",
            "Node 'build' (shell) cannot take its function, which gets Context and Command.",
        ),
        ("effects", build, [7], "Node 'build' (shell) cannot take what stands in for it"),
    ],
)
def test_what_does_not_fit_a_node_names_it(argument: str, node: Any, stand_in: Any, said: str, session: bool) -> None:
    """A wrong choice, a wrong answer, a wrong result, a function that cannot be called: with or without a session."""
    error = refused(
        testing.StandInWrong, lambda: testing.run(talk, {}, **given(**{argument: {node: stand_in}}), session=session)
    )
    assert said in str(error)
    assert f"Give {argument}={{{node.name!r}: …}} " in str(error)
    assert isinstance(error, testing.StandInWrong)
    assert error.path == node.name


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(
    ("argument", "node", "stand_in", "said"),
    [
        ("agents", ask, [], "Node 'ask' (agent) needs answer 1, and the test has none."),
        ("agents", ask, [7], "needs answer 2, as the last one was refused ({}$: expected an object, found an integer)"),
        ("agents", ask, Mock(side_effect=[]), "Node 'ask' (agent) has a function that ran out of answers."),
        ("agents", ask, AsyncMock(side_effect=[]), "Node 'ask' (agent) has a function that ran out of answers."),
        ("effects", push, [], "Node 'push' (action) needs answer 1, and the test has none."),
        ("decisions", ship, [], "Node 'ship' (decision) needs answer 1, and the test has none."),
        ("decisions", gate, [], "Node 'gate' (checkpoint) needs answer 1, and the test has none."),
    ],
)
def test_answers_that_run_out_name_the_node(argument: str, node: Any, stand_in: Any, said: str, session: bool) -> None:
    """How many there were, and why another one was needed."""
    error = refused(
        testing.StandInMissing, lambda: testing.run(talk, {}, **given(**{argument: {node: stand_in}}), session=session)
    )
    assert said.format("at " if session else "") in str(error)
    assert f"Give {argument}={{{node.name!r}: …}} an answer for it" in str(error)


@pytest.mark.parametrize(
    ("argument", "node", "stand_in"),
    [
        ("agents", ask, None),
        ("agents", ask, 5),
        ("agents", ask, "word"),
        ("agents", ask, "real"),
        ("agents", ask, Word("soft")),
        ("agents", ask, {"word": "soft"}),
        ("agents", ask, iter([Word("soft")])),
        ("agents", ask, CallableAgent(lambda request: Word("soft"))),
        ("decisions", ship, "yes"),
        ("effects", push, "reall"),
        ("effects", push, 7),
    ],
)
def test_a_stand_in_of_no_use_is_named(argument: str, node: Any, stand_in: Any) -> None:
    """One answer without its list, an iterator that a second play would find empty, an executor, a mistyped word."""
    error = refused(testing.StandInWrong, lambda: testing.run(talk, {}, **given(**{argument: {node: stand_in}})))
    real = ', a function, or "real".' if argument == "effects" else ", or a function."
    assert f"{argument}={{{node.name!r}: …}} is of type {type(stand_in).__name__}. Give a list of" in str(error)
    assert str(error).endswith(real)


def elsewhere() -> Any:
    """A node of another workflow."""
    other = Workflow("other", input=JsonObject)
    return other.agent(name="foreign")(lambda ctx: "?")


@pytest.mark.parametrize(
    ("argument", "key", "said"),
    [
        ("agents", "aks", "agents names 'aks': the workflow has no such node. Did you mean ask? The nodes: ask, ship,"),
        ("agents", elsewhere(), "agents names 'foreign': the workflow has no such node. The nodes: ask,"),
        ("decisions", ask, "decisions names 'ask': it is a node of kind agent"),
        ("decisions", ask, "decisions are for decision and checkpoint nodes. Give it in agents."),
        (
            "agents",
            end,
            "it is a node of kind compute, and agents are for agent and choose and assistant nodes. Nothing",
        ),
    ],
)
def test_a_node_that_nothing_can_stand_in_for_is_named(argument: str, key: Any, said: str) -> None:
    """One that the workflow does not have, one of another workflow, one of another kind."""
    error = refused(testing.StandInUnknown, lambda: testing.run(talk, {}, **given(**{argument: {key: [1]}})))
    assert said in str(error)


def test_a_full_path_goes_before_a_declared_node() -> None:
    """In whatever order they are given; a declared node that is left without any path is one too many."""
    child = Workflow("child", input=JsonObject)
    say = child.agent(name="say")(lambda ctx: "?")
    child.entry(say)
    said = child.exit("said", say)
    flow = Workflow("parent", input=JsonObject)
    one = flow.include("one", child, input=lambda ctx: {})
    two = flow.include("two", child, input=lambda ctx: {})
    both = flow.compute(name="both")(lambda ctx: [ctx.output(one[said]), ctx.output(two[said])])
    flow.entry(one)
    flow.then(one[said], two)
    flow.then(two[said], both)
    scripts: list[tuple[Any, list[object]]] = [(say, ["declared"]), ("two/say", ["path"])]
    for each in (scripts, scripts[::-1]):
        assert testing.run(flow, {}, agents=dict(each)).output == ["declared", "path"]
    twice: dict[Any, Any] = {say: ["declared"], "one/say": ["a"], "two/say": ["b"]}
    error = refused(testing.StandInWrong, lambda: testing.run(flow, {}, agents=twice))
    assert str(error) == "agents names node 'say' twice, as declared and by its path. Keep one."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"workflow": 5}, "The workflow is of type int. Give a Workflow, or its file, name or import path."),
        ({"workflow": ask}, "The workflow is of type Node."),
        ({"agents": [Word("soft")]}, "agents is of type list. Give a dictionary from nodes, or their paths, to what"),
        ({"agents": {5: [1]}}, "agents has a key of type int. Give a declared node, or its path."),
        ({"effects": {len: [1]}}, "effects has a key of type builtin_function_or_method."),
        ({"session": "s1"}, "session is of type str. Give True, and a session starts the run."),
        ({"cwd": Path("/nowhere/at/all")}, "cwd names no folder that exists. Make it first, or leave it out."),
    ],
)
@pytest.mark.parametrize("play", [testing.run, testing.crash_at])
def test_an_argument_of_no_use_is_named(play: Any, changed: dict[str, Any], said: str) -> None:
    """Each is refused before anything is played."""
    arguments = {"workflow": talk, "input": {}, **GOOD, **changed}
    assert str(refused(testing.TestingError, lambda: play(**arguments))).startswith(said)


def test_what_cannot_be_started_is_told_without_the_way_it_came() -> None:
    """A workflow that is not there, and an input that does not fit: as an engine says it, from where it was called."""
    assert "'nowhere' was not found" in str(refused(WorkflowNotFound, lambda: testing.run("nowhere", {})))
    wrong: Any = 5
    assert "fit at $" in str(refused(InputInvalid, lambda: testing.run(talk, wrong, **given())))


async def test_a_running_loop_changes_nothing_about_it() -> None:
    """A test that is a coroutine is told the same."""
    said = refused(testing.StandInWrong, lambda: testing.run(talk, {}, **given(decisions={ship: ["maybe"]})))
    assert "Node 'ship' (decision)" in str(said)


def test_what_is_unused_says_why_the_run_never_asked() -> None:
    """The node that ended it, and what went wrong there."""

    def broken(request: AgentRequest) -> object:
        raise ValueError("a bad day")

    error = refused(testing.StandInUnused, lambda: testing.run(talk, {}, **given(agents={ask: broken})))
    assert "Nothing was asked of 'push'" in str(error)
    assert "The run ended failed (node_failed) at 'ask': Node 'ask' failed (visit 1, attempt 1)." in str(error)
    assert "ValueError: a bad day" in str(error)


def test_an_outcome_shows_why() -> None:
    """What a failed comparison prints names the node, and what its own function raised."""
    flow = Workflow("broken", input=JsonObject)
    flow.entry(flow.compute(name="divide")(lambda ctx: 1 // 0))
    outcome = testing.run(flow, {})
    assert re.search(r"ended failed \(node_failed\) at 'divide': .* ZeroDivisionError: ", repr(outcome))
    assert repr(testing.run(talk, {}, **given())) == "<Outcome: the run ended completed at 'end'>"


def test_a_failed_assert_shows_why(tmp_path: Path) -> None:
    """The assertion that the guide recommends prints the node and its own error, under pytest as it is installed."""
    guide = (ROOT / "docs" / "guides" / "testing.md").read_text(encoding="utf-8")
    recommended = 'assert outcome.status == "completed", outcome'
    assert guide.count(recommended) == 2, "in the example, and where it is explained"
    (tmp_path / "test_it.py").write_text(
        "from runwright import JsonObject, Workflow, testing\n"
        'flow = Workflow("broken", input=JsonObject)\n'
        'flow.entry(flow.compute(name="divide")(lambda ctx: 1 // 0))\n'
        "def test_it():\n"
        "    outcome = testing.run(flow, {})\n"
        f"    {recommended}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"^E +AssertionError: .*\(node_failed\) at 'divide': .*ZeroDivisionError", done.stdout, re.M)


def test_an_assistant_answers_with_text() -> None:
    """Anything else would never have been its visible answer."""
    flow = Workflow("chat", input=JsonObject)
    flow.entry(flow.assistant(name="tell")(lambda ctx: "Tell it."))
    error = refused(testing.StandInWrong, lambda: testing.run(flow, {}, agents={"tell": [7]}))
    assert str(error) == ("Node 'tell' (assistant) cannot take an answer of type int. Give agents={'tell': …} a text.")


def test_a_context_takes_what_its_workflow_has() -> None:
    """Outputs and visits by declared places of that workflow, of their own types."""

    def made(**arguments: Any) -> Callable[[], object]:
        return lambda: testing.context(talk, arguments.pop("input", {}), **arguments)

    assert "outputs has a key of type str" in str(refused(testing.TestingError, made(outputs={"ask": Word("x")})))
    assert "visits has a key of type str" in str(refused(testing.TestingError, made(visits={"ask": 1})))
    said = str(refused(testing.StandInUnknown, made(outputs={elsewhere(): "x"})))
    assert "outputs names 'foreign': workflow 'talk', whose context it is, has no such place. The nodes and" in said
    wrong = refused(testing.StandInWrong, made(outputs={ask: 7}))
    assert str(wrong).startswith(
        "The output that is given for 'ask' does not fit it: $: expected a Word, found an int."
    )
    assert "input does not fit at $" in str(refused(InputInvalid, made(input=7)))


def test_a_script_of_no_use_is_named() -> None:
    """For an executor of one's own, too."""
    assert "every node" in str(refused(testing.StandInWrong, lambda: testing.ScriptedAgent("word")))
    wrong: Any = {ask: "word"}
    assert "script={'ask': …} is of type str" in str(
        refused(testing.StandInWrong, lambda: testing.ScriptedAgent(wrong))
    )
    wrong = {5: ["word"]}
    assert "the script has a key of type int" in str(
        refused(testing.TestingError, lambda: testing.ScriptedAgent(wrong))
    )


@pytest.mark.parametrize("mark", [pytest.mark.runwright({"default": ask}), pytest.mark.runwright(agent={})])
def test_a_mark_of_no_use_is_named(mark: pytest.MarkDecorator) -> None:
    """What the fixture would have left out without a word."""
    error = refused(pytest.UsageError, lambda: opened_with(mark.mark))
    assert str(error) == "The mark `runwright` takes agents= and workflows=, by name, and nothing else."
