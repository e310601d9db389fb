"""A replayed run as people see it: the run, its visits, its effects, as of one position."""

from collections.abc import Sequence
from typing import cast

from rich.console import RenderableType
from rich.text import Text

from runwright.cli.rendering.marks import QUIET, mark
from runwright.cli.rendering.rows import RowsTable
from runwright.cli.rendering.tables import plain_table
from runwright.cli.rendering.text import clean
from runwright.eventstore.values import Json, JsonObject

#: What is shown in a table of its own, or as one line of the heading.
_SHOWN_ELSEWHERE = {"runs", "queue", "visits", "effects", "terminal"}


def replay_screen(document: JsonObject, last: int) -> list[RenderableType]:
    """What ``replay`` shows of its document.

    Args:
        document: The document that ``--json`` prints.
        last: The last position there is.
    """
    tables = cast("dict[str, list[JsonObject]]", document["rows"])
    run = tables["runs"][0]
    queue = tables["queue"][0]
    heading = Text.assemble(
        (clean(str(run["workflow"])), "bold"),
        (f"  {document['run_id']}", QUIET),
        f"  as of position {document['position']} of {last}",
    )
    status = Text.assemble(
        "  ", mark(str(run["status"])), f"  queue {queue['state']}", f"  steps {run['steps']} of {run['max_steps']}"
    )
    if run["node"] is not None:
        status.append(f"  at {clean(str(run['node']))}, visit {run['visit']}, attempt {run['attempt']}")
    if queue["reason"] is not None:
        status.append(f"  ({queue['reason']})")
    parts: list[RenderableType] = [heading, status]
    if tables["visits"]:
        parts += ["", _visits(tables["visits"])]
    if tables["effects"]:
        parts += ["", _effects(tables["effects"])]
    for name, rows in tables.items():
        if rows and name not in _SHOWN_ELSEWHERE:
            parts += ["", Text(name, style="bold"), RowsTable(rows, leave_out={"run_id"})]
    return parts


def _visits(rows: Sequence[JsonObject]) -> RenderableType:
    cells = [
        (
            _text(row["path"]),
            _text(row["kind"]),
            _text(row["visits"]),
            _text(row["attempt"]),
            mark("running") if row["open"] else mark(_text(row["outcome"])),
        )
        for row in rows
    ]
    return plain_table(("node", "kind", "visits", "attempt", "outcome"), cells, right=("visits", "attempt"))


def _effects(rows: Sequence[JsonObject]) -> RenderableType:
    cells = [
        (
            _text(row["effect"])[-6:],
            _text(row["path"]),
            _text(row["visit"]),
            _text(row["contract"]),
            mark(_text(row["state"])),
            _text(row["applications"]),
        )
        for row in rows
    ]
    return plain_table(("effect", "node", "visit", "contract", "state", "tries"), cells, right=("visit", "tries"))


def _text(value: Json) -> str:
    return "-" if value is None else str(value)
