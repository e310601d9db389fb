"""The console executor: what it shows, and that it asks until the answer can be read."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.agents.console import ConsoleAgent
from support.asking import asking


async def typed(text: str, folder: Path, **how: Any) -> tuple[object, str]:
    """What is answered when a person types so, and what they were shown."""
    shown = io.StringIO()
    answer = await ConsoleAgent(input=io.StringIO(text), output=shown).run(asking(folder, **how))
    return answer, shown.getvalue()


async def test_text_is_taken_as_it_is(tmp_path: Path) -> None:
    """An empty line is asked again."""
    answer, shown = await typed("\nfine, thanks\n", tmp_path, prompt="How are you?", schema={"type": "string"})
    assert answer == "fine, thanks"
    assert "review asks:\n\nHow are you?" in shown
    assert "Write something." in shown


async def test_choices_are_numbered(tmp_path: Path) -> None:
    """By number or by name; anything else is asked again."""
    schema: Any = {"enum": ["yes", "no"]}
    answer, shown = await typed("maybe\n2\n", tmp_path, schema=schema)
    assert answer == "no"
    assert "  1. yes\n  2. no" in shown
    assert (await typed("yes\n", tmp_path, schema=schema))[0] == "yes"


async def test_json_is_read_strictly(tmp_path: Path) -> None:
    """What is no JSON is asked again, saying why in plain words."""
    answer, shown = await typed('{"a": NaN}\n{"a": 1}\n', tmp_path, schema={"type": "object"}, refused="$.a: no")
    assert answer == {"a": 1}
    assert "The last answer was refused: the field `a`: no." in shown
    assert "NaN" in shown
    assert "$" not in shown


async def test_an_object_is_asked_for_by_its_fields(tmp_path: Path) -> None:
    """Each field with its type in words, and no schema."""
    schema: Any = {
        "type": "object",
        "properties": {"verdict": {"enum": ["clean", "issues"]}, "notes": {"type": "string"}},
        "required": ["verdict"],
    }
    _, shown = await typed('{"verdict": "clean"}\n', tmp_path, schema=schema)
    assert '  verdict  "clean" or "issues"\n  notes    string, optional\n' in shown
    assert "properties" not in shown


async def test_nothing_else_is_shown_between_question_and_answer(tmp_path: Path) -> None:
    """Whoever hands in a terminal is told when it is in use."""
    held: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        held.append("asked")
        yield
        held.append("answered")

    agent = ConsoleAgent(input=io.StringIO("fine\n"), output=io.StringIO(), asking=turn)
    assert await agent.run(asking(tmp_path, schema={"type": "string"})) == "fine"
    assert held == ["asked", "answered"]


async def test_nobody_is_there(tmp_path: Path) -> None:
    """The end of the input is an error, and no answer."""
    with pytest.raises(EOFError):
        await typed("", tmp_path)
