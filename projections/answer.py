"""One question to a store, whichever rows answer it: control tables, our views or a program's own."""

from attrs import frozen

from runwright.eventstore.reader import LogReader
from runwright.eventstore.values import JsonObject
from runwright.projections.control.registry import CONTROL
from runwright.projections.query import Query, query_table
from runwright.projections.views.reading import view_page


@frozen(kw_only=True)
class Answer:
    """A page of rows as people are shown them.

    Attributes:
        items: The rows.
        position: The position that they stand at.
        next: The cursor of the page behind it, if there is one.
    """

    items: list[JsonObject]
    position: int
    next: str | None


def answer(reader: LogReader, query: Query) -> Answer:
    """Answer a query, as of one moment.

    Raises:
        ViewFailed: It asks for a view that cannot follow the log.
    """
    if any(query.projection is each for each in CONTROL):
        with reader.snapshot() as moment:
            position, page = moment.position(), query_table(moment.connection, query)
    else:
        page, position = view_page(reader, query)
    return Answer(items=page.items, position=position, next=page.next)
