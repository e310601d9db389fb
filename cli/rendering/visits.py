"""One node's visits, attempts and errors as people see them."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, mark
from runwright.cli.rendering.notices import ERASED
from runwright.cli.rendering.reasons import answered_words
from runwright.cli.rendering.run_lines import SHORT
from runwright.cli.rendering.text import clean, local_time, span
from runwright.cli.rendering.timelines import microseconds
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from runwright.engine.reading.effects import Effect


def visits_screen(
    document: JsonObject,
    now: int,
    effects: "Sequence[Effect]" = (),
    *,
    word: str = "running",
    answered: "Mapping[int, str]" = MappingProxyType({}),
) -> list[RenderableType]:
    """Every attempt on a line, its error below it, and its values where they were asked for.

    Args:
        document: What ``--json`` prints.
        now: UTC in microseconds.
        effects: The node's effects: how often each was applied stands below its visit.
        word: What the run is shown as; an attempt that is open is the same.
        answered: Who answered the question of a visit.
    """
    parts: list[RenderableType] = [
        Text.assemble(
            (clean(str(document["node"])), "bold"), (f"  {document['kind']}  run {document['run_id']}", QUIET)
        )
    ]
    for visit in cast("list[JsonObject]", document["visits"]):
        for attempt in cast("list[JsonObject]", visit["attempts"]):
            parts.append(_attempt(visit, attempt, now, word))
            parts += _told(cast("JsonObject | None", attempt["notification"]))
            parts += [_block(name, attempt[name]) for name in ("error", "output") if attempt.get(name) is not None]
            for update in cast("list[JsonObject]", attempt.get("updates", [])):
                parts.append(_block(f"update {update['key']}", update["update"]))
        if words := answered_words(answered.get(cast(int, visit["visit"]))):
            parts.append(Text(f"      answered {words}", style=QUIET))
        parts += [_effect(each) for each in effects if each.visit == visit["visit"]]
    return parts


def _told(notification: JsonObject | None) -> list[RenderableType]:
    """What a notify node told, whole, and how far it has come on its way to the session."""
    if notification is None:
        return []
    words = {"pending": "told, and not yet seen in its session", "sent": "told, and seen in its session"}
    text = notification["text"]
    shown = ERASED if isinstance(text, dict) else text
    return [_block(words.get(str(notification["delivery"]), "told"), shown)]


def _effect(effect: "Effect") -> Text:
    times = {0: "never tried", 1: "tried once", 2: "tried twice"}
    words = times.get(effect.applications, f"tried {effect.applications} times")
    return Text.assemble("      ", mark(effect.state), f"  effect {effect.effect[-SHORT:]}", (f"  {words}", QUIET))


def _attempt(visit: JsonObject, attempt: JsonObject, now: int, word: str) -> Text:
    begun, ended = microseconds(attempt["started_at"]) or now, microseconds(attempt["finished_at"])
    line = Text.assemble("  ", mark(str(attempt["outcome"] or word)), f"  visit {visit['visit']}")
    if attempt["attempt"] != 1:
        line.append(f", attempt {attempt['attempt']}")
    line.append(f"  {local_time(begun, now)}  {span((ended or now) - begun)}", style=QUIET)
    if attempt["code"]:
        line.append(f"  {attempt['code']}")
    if attempt["next"]:
        line.append(f"  → {clean(str(attempt['next']))}", style=QUIET)
    return line


def _block(name: str, value: Json) -> RenderableType:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return Padding(Text.assemble((f"{name}\n", QUIET), clean(text)), (0, 0, 0, 6))
