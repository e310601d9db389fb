"""The answer of a verification, for people and for machines."""

from typing import TYPE_CHECKING

from rich.text import Text

from runwright.cli.rendering.marks import BAD, GOOD, QUIET
from runwright.cli.rendering.text import clean, plural
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from runwright.eventstore.verdict import Verdict


def verdict_document(verdict: "Verdict") -> JsonObject:
    """A verdict as ``log verify --json`` prints it."""
    from runwright.eventstore.verdict import format_head

    return {
        "ok": verdict.ok,
        "problem": verdict.problem,
        "position": verdict.position,
        "detail": verdict.detail or None,
        "faults": [
            {"problem": each.problem, "position": each.position, "detail": each.detail} for each in verdict.faults
        ],
        "events": verdict.events,
        "log_id": verdict.log_id,
        "head": None if verdict.head is None else format_head(verdict.head),
        "complete": verdict.complete,
        "values": verdict.values,
    }


def verdict_lines(verdict: "Verdict") -> list[Text]:
    """A verdict as people read it: one line for each fault, then how much holds."""
    from runwright.eventstore.verdict import format_head

    lines: list[Text] = []
    for fault in verdict.faults:
        place = "the head line" if fault.position == 0 else f"position {fault.position}"
        where = "" if fault.position is None else f" at {place}"
        lines.append(Text.assemble(("✗ ", BAD), (f"{fault.problem}{where}", "bold"), f": {clean(fault.detail)}"))
    if verdict.ok:
        what = "the whole log" if verdict.complete else "a part of the log"
        values = "with its private values" if verdict.values else "without private values"
        lines.append(Text.assemble(("✓ ", GOOD), f"{plural(verdict.events, 'event')} hold: {what}, {values}."))
    elif verdict.problem == "no_export":
        lines.append(Text("  Name what `runwright log export` wrote in its native format.", style=QUIET))
    else:
        lines.append(Text(f"  {plural(verdict.events, 'event')} before that hold.", style=QUIET))
    if verdict.head is not None:
        lines.append(Text.assemble(("  head ", QUIET), format_head(verdict.head), no_wrap=True, overflow="ignore"))
    return lines
