"""From a question at the terminal to what could be its answer: each line is held against the question at once."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import frozen

from runwright.cli.answers import read_answer
from runwright.cli.failures import Refused
from runwright.cli.misfits import misfit
from runwright.engine.schemas import describe_fields, resolved, type_words
from runwright.eventstore.values import Json, JsonObject, encode

if TYPE_CHECKING:
    from runwright.cli.terminal import Terminal
    from runwright.engine.reading.requests import Request

#: What stands before a line to type.
_ANSWER: Final = "answer> "
_CHOICE: Final = "choice> "
#: Characters of an earlier answer that a prompt shows.
_KEPT: Final = 40
#: How what is no plain value is written, said where something else was typed.
_FORMS: Final = {
    "array": ', written as JSON: ["one", "two"]',
    "object": ', written as JSON: {"name": "value"}',
}


@frozen
class Chosen:
    """What somebody decided: the name of a choice, and the text beside it where it takes one."""

    choice: str
    text: str | None


@frozen
class Written:
    """What somebody answered, as JSON."""

    value: Json


Said: TypeAlias = Chosen | Written


class Gone(Exception):
    """The question stands no more; nothing was answered."""


class Prompt:
    """Asks for one answer at the terminal.

    Args:
        terminal: The terminal.
        stands: Whether the question still stands.
    """

    def __init__(self, terminal: "Terminal", stands: Callable[[], bool]) -> None:
        self._terminal = terminal
        self._stands = stands
        self._before: JsonObject = {}

    def said(self, request: "Request") -> Said:
        """Ask until what is typed could be the answer.

        Raises:
            Gone: The question stands no more.
            NoMoreInput: The terminal's input was ended.
        """
        if request.kind == "decision":
            return self._decided(request)
        schema = resolved(request.schema, request.schema)
        if describe_fields(schema):
            return Written(self._object(schema))
        values = schema.get("enum")
        if isinstance(values, list):
            return Written(self._one_of(_CHOICE, values))
        return Written(self._value(_ANSWER, schema, schema))

    def _decided(self, request: "Request") -> Chosen:
        choice = str(self._one_of(_CHOICE, list(request.choices)))
        hint = texts_of(request).get(choice)
        if hint is None:
            return Chosen(choice, None)
        return Chosen(choice, self._typed(f"{hint.strip() or 'text'} (Enter for nothing)> ") or None)

    def _object(self, schema: JsonObject) -> Json:
        """Ask for each field in turn; whoever has the whole object types that at the first.

        Asked again, each field offers what it was answered before, for only what was refused needs another answer.
        """
        before: JsonObject = self._before
        answer: JsonObject = {}
        properties = schema["properties"]
        assert isinstance(properties, dict), "it has fields"
        for number, (name, words, needed) in enumerate(describe_fields(schema)):
            prompt = f"{name} ({words}{_on_enter(name, before, needed=needed)})> "
            while True:
                line = self._typed(prompt)
                if not line and name in before:
                    answer[name] = before[name]
                    break
                if not line and not needed:
                    break
                if number == 0 and line.startswith("{"):
                    whole = self._understood(line, schema, schema)
                    if whole is not None:
                        self._before = whole.value if isinstance(whole.value, dict) else {}
                        return whole.value
                    continue
                found = self._understood(line, properties[name], schema)
                if found is not None:
                    answer[name] = found.value
                    break
        self._before = answer
        return answer

    def _value(self, prompt: str, schema: JsonObject, whole: JsonObject) -> Json:
        while (found := self._understood(self._typed(prompt), schema, whole)) is None:
            pass
        return found.value

    def _one_of(self, prompt: str, values: list[Json]) -> Json:
        """One of several values, by its number or as it is written."""
        while True:
            line = self._typed(prompt)
            if chosen := chosen_from(values, line):
                return chosen[0].value
            legal = ", ".join(f"{number} {written(each)}" for number, each in enumerate(values, 1))
            self._say(f"That is none of the choices. There are: {legal}.")

    def _understood(self, line: str, schema: Json, whole: JsonObject) -> Written | None:
        """What a line means, where it fits; else what is wrong is said."""
        schema = resolved(schema, whole) if isinstance(schema, dict) else {}
        if not line and schema.get("type") == "string":
            self._say("Write something.")
            return None
        values = schema.get("enum")
        if isinstance(values, list) and (chosen := chosen_from(values, line)):
            return chosen[0]
        try:
            value = read_answer(line, schema)
        except Refused:
            form = _FORMS.get(str(schema.get("type")), "")
            self._say(f"That will not do: it has to be of type {type_words(schema)}{form}.")
            return None
        problem = misfit(value, schema, whole, "it")
        if problem is not None:
            self._say(f"That will not do: {problem}.")
            return None
        return Written(value)

    def _typed(self, prompt: str) -> str:
        line = self._terminal.ask(prompt, self._stands)
        if line is None:
            raise Gone
        return line

    def _say(self, text: str) -> None:
        from rich.text import Text

        from runwright.cli.rendering.marks import HELD
        from runwright.cli.rendering.text import clean

        self._terminal.show(Text(clean(text), style=HELD))


def _on_enter(name: str, before: JsonObject, *, needed: bool) -> str:
    """What Enter alone does at a field."""
    if name in before:
        text = written(before[name])
        return f"; Enter keeps {text if len(text) <= _KEPT else text[:_KEPT] + '…'}"
    return "" if needed else "; Enter leaves it out"


def texts_of(request: "Request") -> dict[str, str | None]:
    """The names of a decision's choices, each with the hint of its text where it takes one."""
    shown = request.presentation if isinstance(request.presentation, dict) else {}
    listed = shown.get("choices")
    found: dict[str, str | None] = {}
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            hint = each.get("text")
            found[str(each.get("name"))] = hint if isinstance(hint, str) else None
    return found


def chosen_from(values: list[Json], line: str) -> list[Written]:
    """The one of several values that a line means: as it is written, or else by its number."""
    named = [each for each in values if line in (written(each), encode(each))]
    numbered = [each for number, each in enumerate(values, 1) if line == str(number)]
    return [Written(each) for each in (named + numbered)[:1]]


def written(value: Json) -> str:
    """A value as somebody types it: a text as it is, else JSON."""
    return value if isinstance(value, str) else encode(value)
