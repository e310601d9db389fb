"""A store as people and machines see it."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from runwright.cli.rendering.marks import QUIET
from runwright.cli.rendering.text import byte_size, clean
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader


def store_facts(store: "Reader") -> JsonObject:
    """What ``store status --json`` prints."""
    from runwright.engine.reading.moment import is_held
    from runwright.eventstore.adoption import store_standing
    from runwright.eventstore.erasure import open_scrubs
    from runwright.eventstore.identity import Standing
    from runwright.eventstore.lock import holder
    from runwright.eventstore.verdict import format_head

    home = store.log.home
    standing = store_standing(home.path)
    held = is_held(store.log)
    return {
        "home": str(home.path),
        "log_id": store.log.log_id,
        "head": format_head(store.head()),
        "bytes": _size(home.log) + _size(home.wal),
        "writable": standing is Standing.OWN,
        "standing": standing.value,
        "held": held,
        "pid": holder(home) if held else None,
        "wal": not store.log.without_wal,
        "erasures_pending": len(open_scrubs(store.log)),
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # the WAL goes when its last user has


def store_table(facts: JsonObject) -> Table:
    """The facts of a store, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    size = facts["bytes"]
    assert isinstance(size, int)
    rows: list[tuple[str, Json]] = [
        ("home", facts["home"]),
        ("log", facts["log_id"]),
        ("head", facts["head"]),
        ("size", byte_size(size)),
        ("held by", f"process {facts['pid']}" if facts["held"] else "nobody"),
        ("writable", "yes" if facts["writable"] else f"no: {facts['standing']}"),
    ]
    if facts["writable"] and not facts["wal"]:
        # A copy has none before it is adopted, and that says nothing about where it stands.
        rows.append(("journal", "without a WAL, as --unsafe-filesystem keeps it"))
    if facts["erasures_pending"]:
        rows.append(("erasures", f"{facts['erasures_pending']} pending until no reader is in the way"))
    for name, value in rows:
        table.add_row(name, Text(clean(str(value))))
    return table
