"""``runwright query``: the facts that follow from the log."""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.pages import print_list
from runwright.cli.texts import WholeNumber
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader


@intent(
    "query", example="runwright query\nrunwright query runs --where status=failed --sort -created_at --csv", lines=True
)
@click.argument("projection", required=False)
@click.option(
    "--where",
    multiple=True,
    metavar="F=V",
    help="Only rows where this holds (= != < <= > >= ~, null); quote it: 'steps>3'.",
)
@click.option("--sort", multiple=True, metavar="F", help="Sort by this field, with - before it descending.")
@click.option("--limit", type=WholeNumber(1, 1_000_000), default=100, metavar="N", help="At most N rows.")
@click.option("--cursor", metavar="C", help="The `next` of the page before.")
@click.option("--csv", "as_csv", is_flag=True, help="Comma-separated values with a heading.")
def command(
    call: Invocation,
    projection: str | None,
    where: Sequence[str],
    sort: Sequence[str],
    limit: int,
    cursor: str | None,
    as_csv: bool,
) -> None:
    """Filter, sort and page what follows from the log.

    Without a name: which projections there are, and their fields. A terminal shows the fields that matter most
    as far as they fit, and names the others; one row alone, --json and --csv have them all.
    """
    if as_csv and call.out.for_machines:
        raise Refused.usage("--csv and --json are two forms.", "Leave one of them out.")
    with reading(call) as store:
        if projection is None:
            _list_projections(call, store.projections(), as_csv)
            return
        page = store.query(projection, where=where, sort=sort, limit=limit, cursor=cursor)
        fields = _fields(store, projection) if as_csv and not page.items else list(page.items[0]) if page.items else []
    if as_csv:
        call.out.raw(_csv(page.items, fields))
    elif call.out.for_machines:
        print_list(call.out, page.items, position=page.position, following=page.next)
    else:
        from runwright.cli.rendering.rows import RowsTable

        call.out.show(RowsTable(page.items)) if page.items else call.out.say("No rows.")
        if page.next is not None:
            call.out.say(f"There are more: --cursor {page.next}")


def _list_projections(call: Invocation, found: Sequence[JsonObject], as_csv: bool) -> None:
    if call.out.for_machines:
        print_list(call.out, found, position=None)
        return
    if as_csv:
        call.out.raw(_csv(found, list(found[0])))
        return
    from runwright.cli.rendering.projections import projection_lines

    for each in found:
        call.out.show(*projection_lines(str(each["projection"]), str(each["holds"]), _words(each["fields"])))


def _words(value: Json) -> str:
    return ", ".join(str(each) for each in value) if isinstance(value, list) else str(value)


def _fields(store: "Reader", projection: str) -> list[str]:
    found = next(each["fields"] for each in store.projections() if each["projection"] == projection)
    assert isinstance(found, list)
    return [str(each) for each in found]


def _csv(rows: Sequence[JsonObject], fields: Sequence[str]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _csv_cell(value) for name, value in row.items()})
    return text.getvalue()


def _csv_cell(value: Json) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    text = _words(value) if not isinstance(value, bool) else str(value).lower()
    return f"'{text}" if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
