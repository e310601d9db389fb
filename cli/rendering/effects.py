"""Side effects as people see them."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, mark
from runwright.cli.rendering.run_lines import short_id, us
from runwright.cli.rendering.statuses import next_lines
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import ago, clean
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.reading.effects import Effect, EffectValues


def effects_table(effects: Iterable["Effect"], now: int) -> Table:
    """The table of effects."""
    rows = [
        (
            Text(each.effect[-6:], style="bold"),
            short_id(each.run_id),
            each.path + (f" (visit {each.visit})" if each.visit > 1 else ""),
            each.contract,
            mark(each.state),
            str(each.applications),
            ago(us(each.since), now),
        )
        for each in effects
    ]
    headings = ("effect", "run", "node", "contract", "state", "tries", "since")
    return plain_table(headings, rows, whole=("effect", "run", "state", "since"), right=("tries",))


def effect_screen(found: "EffectValues", now: int, *, values: bool) -> list[RenderableType]:
    """One effect in full, with the lines that settle it where nobody is sure of it."""
    effect = found.effect
    heading = Text.assemble(mark(effect.state), "  ", (clean(effect.path), "bold"), f"  visit {effect.visit}")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=QUIET, no_wrap=True)
    grid.add_column(overflow="fold")
    facts: list[tuple[str, str | None]] = [
        ("effect", effect.effect),
        ("run", effect.run_id),
        ("type", effect.type),
        ("contract", effect.contract),
        ("tries", str(effect.applications)),
        ("since", ago(us(effect.since), now)),
        ("why", effect.cause),
        ("code", effect.code),
        ("elsewhere", effect.external_reference),
    ]
    if values:
        facts += [("request", _text(found.request)), ("result", _text(found.result))]
    for name, value in facts:
        if value is not None:
            grid.add_row(name, Text(clean(value)))
    parts: list[RenderableType] = [heading, Padding(grid, (0, 0, 0, 2))]
    if effect.state == "ambiguous":
        short = effect.effect[-12:]
        parts.append(Text("  find out what happened, then", style=QUIET))
        parts += next_lines(
            [
                f"runwright resolve {short} done --result JSON --reason TEXT",
                f"runwright resolve {short} not-done --reason TEXT",
                f"runwright resolve {short} timed-out --reason TEXT",
            ]
        )
    return parts


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
