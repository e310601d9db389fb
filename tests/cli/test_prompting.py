"""What is typed as an answer, held against the question before anything is handed in."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest

from runwright.cli.misfits import misfit
from runwright.cli.prompting import Chosen, Gone, Prompt, Written
from runwright.cli.terminal import Terminal
from runwright.engine.reading.requests import Request
from runwright.eventstore.values import Json

REVIEW: dict[str, Json] = {
    "type": "object",
    "properties": {
        "notes": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "verdict": {"$ref": "#/$defs/Verdict"},
    },
    "required": ["verdict", "tags"],
    "additionalProperties": False,
    "$defs": {"Verdict": {"enum": ["clean", "issues", 3]}},
}


class Typed:
    """A terminal at which lines were typed beforehand."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.shown: list[str] = []

    def ask(self, prompt: str, stands: object) -> str | None:
        """The next line."""
        del stands
        self.shown.append(prompt)
        return self.lines.pop(0)

    def show(self, *renderables: object) -> None:
        """Keep what is shown."""
        self.shown += [str(each) for each in renderables]


def question(kind: str, schema: dict[str, Json], presentation: Json = None) -> Request:
    """A question."""
    choices = schema.get("enum")
    return Request(
        request_id="request",
        run_id="run",
        kind=kind,
        path="ask",
        prompt="What?",
        choices=tuple(str(each) for each in choices) if isinstance(choices, list) else (),
        schema=schema,
        deadline=None,
        opened_at=datetime.now(UTC),
        presentation=presentation,
    )


def said(asked: Request, *lines: str | None) -> tuple[Any, str]:
    """What comes of lines that are typed, and what was shown meanwhile."""
    typed = Typed(*lines)
    answer = Prompt(cast(Terminal, typed), lambda: True).said(asked)
    assert typed.lines == []
    return answer, "\n".join(typed.shown)


def test_an_object_is_asked_for_field_by_field() -> None:
    """Those that have to be there first; each is held against its own type, and Enter leaves out what may be."""
    answer, shown = said(question("agent", REVIEW), "dirty", "clean", "a, b", '["a", 1]', '["a"]', "")
    assert answer == Written({"tags": ["a"], "verdict": "clean"})
    assert 'it has to be of type list of string, written as JSON: ["one", "two"]' in shown
    assert "item 2 has to be of type string" in shown
    assert 'it has to be "clean" or "issues" or 3' in shown
    assert "notes (string; Enter leaves it out)> " in shown
    assert shown.index("verdict (") < shown.index("tags ("), "as they were declared"


def test_an_answer_that_was_refused_is_offered_again() -> None:
    """Asked once more, Enter keeps what was typed, field by field; the whole object counts as well."""
    typed = Typed("issues", '["a"]', "", "clean", "", "late", '{"verdict": 3, "tags": ["b"]}', "", "", "")
    prompt, asked = Prompt(cast(Terminal, typed), lambda: True), question("agent", REVIEW)
    assert prompt.said(asked) == Written({"verdict": "issues", "tags": ["a"]})
    assert prompt.said(asked) == Written({"verdict": "clean", "tags": ["a"], "notes": "late"})
    assert any(each.endswith('; Enter keeps ["a"])> ') for each in typed.shown)
    assert prompt.said(asked) == Written({"verdict": 3, "tags": ["b"]})
    assert prompt.said(asked) == Written({"verdict": 3, "tags": ["b"]})


def test_a_field_with_choices_goes_by_number_or_name() -> None:
    """As a question that is nothing but choices; a value that is a number goes before the number of another."""
    schema: dict[str, Json] = {"type": "object", "properties": {"tone": {"enum": ["dry", "warm", 1]}}}
    schema["required"] = ["tone"]
    for line, meant in (("2", "warm"), ("dry", "dry"), ("1", 1)):
        assert said(question("agent", schema), line)[0] == Written({"tone": meant})


def test_the_whole_object_may_be_typed_at_the_first_field() -> None:
    """What is wrong with it names the field."""
    bad = ('{"verdict": "clean"', '{"verdict": "clean"}', '{"verdict": "x", "tags": []}', '{"tags": [], "x": 1}')
    answer, shown = said(question("agent", REVIEW), *bad, '{"verdict": 3, "tags": []}')
    assert answer == Written({"verdict": 3, "tags": []})
    for words in ("written as JSON", "`tags` is missing", "`verdict` has to be", "no field `x`; there are notes, tags"):
        assert words in shown


def test_choices_go_by_number_or_name() -> None:
    """Anything else lists them; a text is asked for where the choice takes one."""
    shown: Json = {"choices": [{"name": "yes", "text": None}, {"name": "no", "text": "Why?"}]}
    asked = question("decision", {"type": "string", "enum": ["yes", "no"]}, shown)
    answer, told = said(asked, "3", "", "Yes", "2", " ".strip())
    assert answer == Chosen("no", None)
    assert told.count("There are: 1 yes, 2 no.") == 3
    assert said(asked, "no", "because")[0] == Chosen("no", "because")
    assert said(asked, "1")[0] == Chosen("yes", None)
    assert said(question("agent", {"enum": ["a", 2]}), "2")[0] == Written(2)


def test_texts_and_other_values() -> None:
    """A text is taken as it stands, an empty one is asked again; everything else is JSON."""
    assert said(question("agent", {"type": "string"}), "", "{fine")[0] == Written("{fine")
    assert said(question("agent", {"type": "integer"}), "many", "true", "1.5", "2")[0] == Written(2)
    either: dict[str, Json] = {"anyOf": [{"type": "null"}, {"type": "boolean"}]}
    assert said(question("agent", either), "1", "null")[0] == Written(None)
    assert said(question("agent", {}), "anything")[0] == Written("anything")
    optional: dict[str, Json] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    for line, meant in (("3.5", "3.5"), ("null", None), ("true", "true"), ("fine", "fine")):
        assert said(question("agent", optional), line)[0] == Written(meant)


def test_a_question_that_stands_no_more_is_not_asked_again() -> None:
    """Whatever was typed before is dropped."""
    with pytest.raises(Gone):
        said(question("agent", REVIEW), "[]", None)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (1.0, {"type": "integer"}),
        (1, {"type": "number"}),
        ({"a": 1}, {"type": "object"}),
        ([1], {"type": "array"}),
        (1, {"const": 2}),
        ("x", True),
    ],
)
def test_what_cannot_be_told_is_let_through(value: Json, schema: Json) -> None:
    """Only what is surely wrong is refused here: whatever asks checks the answer whole."""
    assert misfit(value, schema, {}) is None
