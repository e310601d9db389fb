"""Events as people see them: one line each, with the facts that stand in ``data``."""

import json
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from runwright.cli.rendering.marks import BAD, BUSY, DOUBT, GOOD, HELD, QUIET
from runwright.cli.rendering.run_lines import SHORT, short_id
from runwright.cli.rendering.text import clean, local_time, one_line

if TYPE_CHECKING:
    from runwright.eventstore.envelope import RecordedEvent

_ENDINGS: Mapping[str, str] = {
    "completed": GOOD, "applied": GOOD, "accepted": GOOD, "failed": BAD, "timed_out": BAD, "rejected": BAD,
    "ambiguous": DOUBT, "parked": HELD, "paused": HELD, "cancelled": QUIET, "started": BUSY,
}  # fmt: skip
#: Longer hexadecimal digests and IDs are cut in the middle of a line; `--json` has them whole.
_LONG = 24
#: A first visit and attempt go without saying.
_FIRSTS = (("visit", 1), ("attempt", 1), ("invocation", 0))
_ID = re.compile(r"[0-9a-f]{64}|0[0-9a-hjkmnp-tv-z]{19}")
#: The facts that tell most stand first.
_FIRST = ("path", "outcome", "reason", "code", "next", "visit", "attempt", "workflow", "effect_type", "operation")


def event_line(recorded: "RecordedEvent", now: int) -> Text:
    """One event on one line: position, time, subject, type, facts."""
    kind, dot, ending = recorded.type.partition(".")
    style = _ENDINGS.get(ending, "")
    outcome = json.loads(recorded.data).get("outcome")
    if isinstance(outcome, str):
        style = _ENDINGS.get(outcome, style)
    return Text.assemble(
        (f"{recorded.position:>6}  ", QUIET),
        (f"{local_time(recorded.at, now)}  ", QUIET),
        (f"{subject(recorded.stream):<6.6}  ", "bold"),
        f"{kind}{dot}",
        (f"{ending:<{max(17 - len(kind), 0)}}", style),
        " ",
        (facts(recorded), ""),
        overflow="ellipsis",
        no_wrap=True,
    )


def subject(stream: str) -> str:
    """Whom an event is about: a run's last six characters, else the stream's kind."""
    kind, _, name = stream.partition("/")
    return short_id(name) if kind == "run" else clean(kind)


def facts(recorded: "RecordedEvent") -> str:
    """The facts in an event's data, without what is absent."""
    data = json.loads(recorded.data)
    order = [*(name for name in _FIRST if name in data), *(name for name in data if name not in _FIRST)]
    shown = [
        (name, data[name])
        for name in order
        if not (data[name] in (None, "", []) or data[name] is False or isinstance(data[name], dict))
        and (name, data[name]) not in _FIRSTS
    ]
    return "  ".join(_fact(name, each) for name, each in shown)


def value_lines(recorded: "RecordedEvent") -> list[Text]:
    """The private values of an event, each on lines of its own; says so where they were erased."""
    if recorded.digest is None:
        return []
    if recorded.body is None:
        return [Text("          (erased)", style=QUIET)]
    lines: list[Text] = []
    for name, content in json.loads(recorded.body).items():
        value = content.get("value") if isinstance(content, dict) else content
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(Text.assemble((f"          {name}  ", QUIET), one_line(text, 2000)))
    return lines


def _fact(name: str, value: object) -> str:
    """One fact; a node's path says by itself what it is."""
    if name in ("deadline", "due") and isinstance(value, int):
        return f"{name}={local_time(value, time.time_ns() // 1000)}"
    text = one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 120)
    if _ID.fullmatch(text):
        text = text[-SHORT:]  # as everywhere, the end of an ID tells it from others
    elif len(text) > _LONG and " " not in text and "/" not in text:
        text = f"{text[:12]}…"
    return text if name == "path" else f"{name}={text}"
