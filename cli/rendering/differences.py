"""What the tables say and the log does not, for people."""

import json
from typing import TYPE_CHECKING

from rich.text import Text

from runwright.cli.rendering.marks import BAD, GOOD, QUIET
from runwright.cli.rendering.text import clean, one_line, plural
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.projections.verify import Difference, Verification


def difference_lines(found: "Verification") -> list[Text]:
    """Each difference with its row, field, both values and the event that touched the row last."""
    if found.ok:
        agree = "agrees" if found.rows == 1 else "agree"
        return [Text.assemble(("✓ ", GOOD), f"{plural(found.rows, 'row')} {agree} with the log at {found.position}.")]
    lines: list[Text] = []
    for each in found.differences:
        lines.extend(_difference(each))
    lines.append(Text(f"{plural(len(found.differences), 'difference')}: `runwright projections rebuild` mends them."))
    return lines


def _difference(each: "Difference") -> list[Text]:
    key = ", ".join(f"{name}={_value(value)}" for name, value in each.key.items())
    what = "the row" if each.field is None else each.field
    lines = [
        Text.assemble(("✗ ", BAD), (each.projection, "bold"), f"  {clean(key)}  ", (what, "bold")),
        Text.assemble(("    the table says    ", QUIET), _value(each.live) if each.live is not None else "nothing"),
        Text.assemble(
            ("    the log says      ", QUIET), _value(each.replayed) if each.replayed is not None else "nothing"
        ),
    ]
    if each.position is not None:
        lines.append(Text(f"    last touched at   {each.position} by {each.event_type}", style=QUIET))
    return lines


def _value(value: Json) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 400)
