"""Requests as people see them: what is asked, what may be answered, until when, and the line to type."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from runwright.cli.failures import Failure
from runwright.cli.rendering.marks import HELD, QUIET
from runwright.cli.rendering.reasons import shown_word
from runwright.cli.rendering.run_lines import short_id, us
from runwright.cli.rendering.text import ago, clean, local_time, one_line
from runwright.engine.schemas import describe_fields, type_words
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.reading.requests import Request
    from runwright.engine.reading.status import Status

#: How far what belongs to a question is indented in a list.
_INDENT = 4


def questions_screen(requests: "Iterable[Request]", statuses: "Mapping[str, Status]", now: int) -> list[RenderableType]:
    """All of them, the oldest first, each with the line to type, or who answers it where that is nobody's to type.

    Args:
        requests: The questions.
        statuses: Their runs, by ID.
        now: UTC in microseconds.
    """
    parts: list[RenderableType] = []
    for number, each in enumerate(requests):
        if number:
            parts.append("")
        heading = Text.assemble(
            (clean(each.path), "bold"),
            f"  {kind_words(each)}",
            (f"  run {short_id(each.run_id)}  {ago(us(each.opened_at), now)}", QUIET),
        )
        parts.append(heading)
        parts += [Padding(line, (0, 0, 0, _INDENT)) for line in question_lines(each, now)]
        parts += _way_on(each, statuses[each.run_id])
    return parts


def _way_on(request: "Request", status: "Status") -> list[RenderableType]:
    """What to type about a question: its answer, or what its run needs first; else who answers it."""
    of_session = request.session is not None and request.kind not in ("checkpoint", "decision")
    if of_session and status.status != "paused":
        return [Text(f"    session {clean(str(request.session))} answers it", style=QUIET)]
    answer = f"runwright answer {request.request_id}"
    if answer in status.next:
        return [_to_type(answer)]
    if status.next:
        return [Text(f"    its run is {shown_word(status)}; first:", style=QUIET), _to_type(status.next[0])]
    return [Text("    its agent is at work on it", style=QUIET)]


def _to_type(line: str) -> Text:
    return Text(f"    {clean(line)}", style="bold", no_wrap=True, overflow="ignore")


def asked_screen(request: "Request", now: int) -> list[RenderableType]:
    """One question for the person who answers it right here."""
    title = f"{clean(request.path)} · {kind_words(request)} · run {short_id(request.run_id)}"
    return [
        "",
        Rule(Text(title, style="bold"), align="left", style=QUIET),
        *question_lines(request, now, numbered=True),
    ]


def question_lines(request: "Request", now: int, *, numbered: bool = False) -> list[RenderableType]:
    """What is asked and shown, what an answer has to be, and until when.

    Args:
        request: The question.
        now: UTC in microseconds.
        numbered: Whether choices are numbered, for whoever types the number.
    """
    lines: list[RenderableType] = []
    if request.prompt:
        lines.append(Text(clean(request.prompt.rstrip())))
    if request.kind == "decision":
        shown = request.presentation if isinstance(request.presentation, dict) else {}
        lines += _decision_lines(shown, request.subject, numbered=numbered)
    else:
        if request.presentation is not None:
            lines.append(Text(clean(shown_value(request.presentation))))
        lines += _wanted_lines(request, numbered=numbered)
    if numbered:
        lines.append("")
    if request.deadline is not None:
        lines.append(Text(clean(deadline_words(request, request.deadline, now)), style=HELD))
    return lines


def refused_line(failure: Failure, reason: str | None) -> Text:
    """Why an answer was refused, before another one is asked for."""
    return Text(clean(f"Refused: {reason or failure.message}"), style=HELD)


def settled_line(words: str) -> Text:
    """What became of a question that somebody else has answered."""
    return Text(clean(words), style=HELD)


def kind_words(request: "Request") -> str:
    """What kind of question it is, and who has to answer it."""
    kind = "choose" if request.kind == "agent" and request.choices else request.kind
    person = request.kind == "checkpoint" and request.protected
    return f"{kind}{' (a person has to answer)' if person or request.kind == 'decision' else ''}"


def deadline_words(request: "Request", deadline: datetime, now: int) -> str:
    """Until when an answer is taken, and what happens then."""
    due = us(deadline)
    until = f"until {local_time(due, now)} ({ago(due, now)})"
    if request.kind != "decision":
        return f"{until}; then its time is up"
    shown = request.presentation if isinstance(request.presentation, dict) else {}
    policy = shown.get("on_timeout")
    return f"{until}; then policy decides: {policy}" if isinstance(policy, str) else f"{until}; then it is closed"


def shown_value(value: object) -> str:
    """A value that a checkpoint shows: a text as it is, else JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def answer_words(request: "Request") -> str:
    """What an answer has to be, in a few words; of an object also its fields."""
    fields = describe_fields(request.schema)
    if not fields:
        return clean(" or ".join(request.choices) if request.choices else type_words(request.schema))
    listed = ", ".join(f"{name}: {words}{'' if needed else ' (optional)'}" for name, words, needed in fields)
    return clean(f"JSON object with {listed}")


def _wanted_lines(request: "Request", *, numbered: bool) -> list[RenderableType]:
    if not numbered:
        return [Text(f"answer: {answer_words(request)}", style=QUIET)]
    if request.choices:
        return [_choices([(each, "", None) for each in request.choices], numbered=True)]
    if describe_fields(request.schema):
        return [Text("Answer field by field, or with the whole JSON object at the first one.", style=QUIET)]
    return [Text(f"Answer with: {answer_words(request)}", style=QUIET)]


def _decision_lines(shown: Mapping[str, Json], subject: Json, *, numbered: bool) -> list[RenderableType]:
    """The facts of a decision, what exactly it is about, and its choices with their labels."""
    lines: list[RenderableType] = []
    facts, listed = shown.get("facts"), shown.get("choices")
    rows = dict(facts) if isinstance(facts, dict) else {}
    if subject is not None:
        rows["about"] = subject
    if rows:
        table = _columns()
        for name, value in rows.items():
            table.add_row(Text(one_line(name, 60), style=QUIET), Text(clean(_fact(value))))
        lines += ["", table]
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    choices = [(str(each.get("name")), str(each.get("label") or ""), each.get("text")) for each in found]
    return [*lines, "", _choices(choices, numbered=numbered)]


def _choices(choices: Iterable[tuple[str, str, Json]], *, numbered: bool) -> Table:
    """One line for each choice: its name, its label, and what its text is for."""
    table = _columns()
    for number, (name, label, text) in enumerate(choices, 1):
        hint = f"{' ' if label else ''}(takes a text: {one_line(text, 60)})" if isinstance(text, str) else ""
        first = f"{number}  {name}" if numbered else name
        table.add_row(Text(clean(first), style="bold"), Text.assemble(clean(label), (clean(hint), QUIET)))
    return table


def _columns() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _fact(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
