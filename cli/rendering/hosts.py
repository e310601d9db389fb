"""How a host stands, as people see it."""

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, sign
from runwright.cli.rendering.text import ago, clean, plural, span
from runwright.cli.rendering.timelines import microseconds


def host_lines(facts: Mapping[str, Any], now: int) -> list[RenderableType]:
    """What it is at, in counts.

    Args:
        facts: What the host says of itself.
        now: UTC in microseconds.
    """
    serves = facts["state"] == "serving"
    heading = Text.assemble(
        sign("running" if serves else "paused"),
        f" {clean(str(facts['state']))}",
        (f"  for {span(facts['uptime'] * 1_000_000)}  version {clean(str(facts['version']))}", QUIET),
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _facts(facts, now):
        table.add_row(name, Text(clean(value)))
    return [heading, Padding(table, (0, 0, 0, 2))]


def _facts(facts: Mapping[str, Any], now: int) -> list[tuple[str, str]]:
    runs = [f"{number:,} {state.replace('_', ' ')}" for state, number in facts["runs"].items() if number]
    rows = [
        ("runs", ", ".join(runs) or "none that live"),
        ("workers", f"{facts['workers']} of at most {facts['capacity']}" + _launching(facts["launching"])),
    ]
    if facts["requests"]:
        rows.append(("asked", f"{plural(facts['requests'], 'open request')}; `runwright requests` says of whom"))
    if facts["ambiguous_effects"]:
        rows.append(("uncertain", plural(facts["ambiguous_effects"], "effect")))
    if facts["expired_claims"]:
        rows.append(("expired claims", f"{facts['expired_claims']}"))
    rows.append(("clients", f"{facts['connections']}"))
    rows.append(("epoch", str(facts["epoch"])))
    rows += [("error", f"{each['code']}  {ago(microseconds(each['at']) or now, now)}") for each in facts["errors"][:5]]
    return rows


def _launching(count: int) -> str:
    return f", {count} starting" if count else ""
