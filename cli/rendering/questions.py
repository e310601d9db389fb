"""Open requests as people see them: what is asked, what may be answered, and the line to type."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from runwright.cli.rendering.marks import QUIET
from runwright.cli.rendering.statuses import short_id, us
from runwright.cli.rendering.text import ago, clean
from runwright.engine.schemas import describe_fields, type_words

if TYPE_CHECKING:
    from runwright.engine.reading.requests import Request


def questions_screen(requests: "Iterable[Request]", now: int) -> list[RenderableType]:
    """All of them, the oldest first."""
    parts: list[RenderableType] = []
    for number, each in enumerate(requests):
        if number:
            parts.append("")
        heading = Text.assemble(
            (clean(each.path), "bold"),
            f"  {each.kind}{' (a person has to answer)' if each.protected else ''}",
            (f"  run {short_id(each.run_id)}  {ago(us(each.opened_at), now)}", QUIET),
        )
        parts += [heading, *question_lines(each)]
        parts.append(Text(f"    runwright answer {each.request_id}", style="bold", no_wrap=True, overflow="ignore"))
    return parts


def question_lines(request: "Request") -> list[RenderableType]:
    """What is asked and shown, and what an answer has to be."""
    lines: list[RenderableType] = []
    if request.prompt:
        lines.append(Padding(Text(clean(request.prompt)), (0, 0, 0, 4)))
    if request.presentation is not None:
        lines.append(Padding(Text(clean(shown(request.presentation))), (0, 0, 0, 4)))
    lines.append(Padding(Text(f"answer: {answer_words(request)}", style=QUIET), (0, 0, 0, 4)))
    return lines


def shown(value: object) -> str:
    """A value that a checkpoint shows: a text as it is, else JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def answer_words(request: "Request") -> str:
    """What an answer has to be, in a few words; of an object also its fields."""
    fields = describe_fields(request.schema)
    if not fields:
        return clean(" or ".join(request.choices) if request.choices else type_words(request.schema))
    listed = ", ".join(f"{name}: {words}{'' if needed else ' (optional)'}" for name, words, needed in fields)
    return clean(f"JSON object with {listed}")
