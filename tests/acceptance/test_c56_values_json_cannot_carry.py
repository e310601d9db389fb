"""C56, C61 and size: a value that cannot be stored is refused where it is handed over, by path, and stops nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Engine, InputInvalid, JsonObject, Surroundings, Workflow
from runwright.eventstore.events.node import NodeFinished
from support.command_line import CommandLine
from support.sound import check_sound

ODD = "world.py:odd"


def strictly(text: str | bytes) -> Any:
    """Parse JSON as other parsers do: no NaN, no Infinity."""

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def check_every_payload(engine: Engine) -> None:
    """Every stored and every exported payload parses with a strict parser."""
    for event in engine.events():
        strictly(event.data)
        if event.body is not None:
            strictly(event.body)
    for form in ("native", "cloudevents"):
        for line in engine.export(format=form, with_values=True):
            strictly(line)


@pytest.mark.parametrize(
    ("mode", "code", "said"),
    [
        ("nan", "output_invalid", "$.a[1].b: nan"),
        ("inf", "output_invalid", "$.a[1].b: inf"),
        ("-inf", "output_invalid", "$.a[1].b: -inf"),
        ("lock", "output_invalid", "$.held: expected a JSON value, found a lock"),
        ("generator", "output_invalid", "$: expected a JSON value, found a generator"),
        ("set", "output_invalid", "$: expected a JSON value, found a set"),
        ("bytes", "output_invalid", "$: expected a JSON value, found a bytes"),
        ("keys", "output_invalid", "expected text as a key, found int"),
        ("surrogate", "output_invalid", "$: the text has half of a character pair"),
        ("deep", "output_invalid", "$[0][0]"),
        ("large", "payload_too_large", "16,777,216"),
        ("stubborn", "node_failed", "Stubborn: cannot be stored"),
        ("mute", "node_failed", "Mute: (its text cannot be shown"),
    ],
)
def test_c56_c61_a_node_that_cannot_store_its_end_fails(cli: CommandLine, mode: str, code: str, said: str) -> None:
    """C56, C61: the node fails with a stable code, the path and the original type, readable after reopening."""
    status = cli("run", "--inline", ODD, "-s", f"mode={mode}", "--json", code=1).document
    assert (status["status"], status["error"]["code"]) == ("failed", code)
    with Engine.open(cli.home) as engine:
        (end,) = [each.event for each in engine.events(status["run_id"], types=["node.finished"])]
        assert isinstance(end, NodeFinished)
        assert end.error is not None
        assert said in str(end.error.value)
        assert end.code == code
        check_every_payload(engine)
    assert said[:8] in cli("show", "@last", "give", "--values").out
    check_sound(cli.home)


def test_c56_inputs_are_refused_where_they_are_given(cli: CommandLine) -> None:
    """C56: NaN, infinities and bare tokens in an input name their path, through the API and the command line."""
    here = Surroundings(cwd=cli.project)
    with Engine.open(cli.home) as engine:
        head = engine.reader.head()
        for value, path in (({"mode": float("nan")}, "$.mode"), ({"die": [float("-inf")]}, "$.die[0]")):
            with pytest.raises(InputInvalid) as refused:
                engine.start(ODD, value, surroundings=here)  # type: ignore[arg-type]  # as a program might
            assert path in refused.value.message
        with pytest.raises(InputInvalid, match="1,048,576"):
            engine.start(ODD, {"mode": "x" * 1_048_576}, surroundings=here)
        assert engine.reader.head() == head
    for text in (
        '{"mode": NaN}',
        '{"mode": Infinity}',
        '{"mode": -Infinity}',
        '{"mode": 1e400}',
        '{"mode": "\\ud800"}',
    ):
        assert cli("run", "--inline", ODD, "-i", text, "--json", code=2).document["error"]["code"] == "input_invalid"


def test_c56_effects_refuse_them_in_requests_and_results(home: Path) -> None:
    """C56, C61: in a request before anything is called; in the result of a manual effect it is ambiguous."""
    called: list[str] = []
    asking: Workflow[JsonObject] = Workflow("asking")
    giving: Workflow[JsonObject] = Workflow("giving")

    @asking.action(request=lambda ctx: {"a": [1, {"b": float("nan")}]})
    def ask(ctx: Context[JsonObject], request: Any) -> int:
        called.append("ask")
        return 1

    @giving.action
    def give(ctx: Context[JsonObject]) -> Any:
        called.append("give")
        return {"a": [1, {"b": float("inf")}]}

    asking.entry(ask)
    giving.entry(give)
    with Engine.open(home) as engine:
        outcome = engine.run(asking, {})
        assert outcome.status == "failed"
        assert called == []
        assert engine.effects() == []
        outcome = engine.run(giving, {})
        assert (outcome.status, called) == ("ambiguous", ["give"])
        (effect,) = engine.effects()
        with pytest.raises(InputInvalid, match=r"\$"):
            engine.resolve(effect.effect, "done", result=float("nan"), reason="?")
        engine.resolve(effect.effect, "done", result={"a": 1}, reason="looked")
        assert engine.wait(outcome.run_id).output == {"a": 1}
        assert called == ["give"]
        check_every_payload(engine)
    check_sound(home)


@pytest.mark.parametrize("value", ["x" * (16 * 1024 * 1024 - 2), ['"'] * 3_000_000], ids=["long", "many quotes"])
def test_c56_a_value_that_fills_its_limit_ends_the_run(tmp_path: Path, value: Any) -> None:
    """What can be stored can also be a run's output: its end asks for no more room than its value had."""
    workflow: Workflow[JsonObject] = Workflow("full")

    @workflow.compute
    def fill(ctx: Context[JsonObject]) -> Any:
        return value

    workflow.entry(fill)
    with Engine.open(tmp_path / "state") as engine:
        outcome = engine.run(workflow, {})
        assert (outcome.status, outcome.output == value) == ("completed", True)
