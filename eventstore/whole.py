"""What SQLite itself can do with a whole store: check every page of it, and copy it."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import sqlalchemy

from runwright.eventstore.database import RAW, driver, path_of, translate, translated
from runwright.eventstore.errors import StoreBusy

#: Pages of a copy between two calls of its progress.
_COPIED_AT_ONCE = 2048

#: What SQLite says of a row's content and not of the file; whoever owns the table checks that better.
_ABOUT_CONTENT = re.compile(r"(?:CHECK constraint failed in|NULL value in|\S+ value in) ")


def is_damaged(connection: sqlalchemy.Connection, *, deep: bool = False) -> bool:
    """Have SQLite check its own file: every page, and with ``deep`` every index against its table.

    Errors on the way count as damage: a check that cannot be made to its end found something.
    """
    try:
        found = driver(connection).execute(f"PRAGMA {'integrity' if deep else 'quick'}_check").fetchall()
    except RAW as error:
        if isinstance(translate(error, path_of(connection)), StoreBusy):
            raise translate(error, path_of(connection)) from None
        return True
    return any(text != "ok" and _ABOUT_CONTENT.match(text) is None for (text,) in found)


def copy(connection: sqlalchemy.Connection, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Copy a store, with what stands in its WAL, into one file: as it is now, whatever commits meanwhile.

    Args:
        connection: A connection to the store that only reads.
        target: An empty file.
        progress: Called now and then with the pages copied and their number.

    Raises:
        StoreError: SQLite could not, in our words.
    """
    source = driver(connection)

    def tell(_status: int, left: int, pages: int) -> None:
        if progress is not None:
            progress(pages - left, pages)

    with translated(target), closing(sqlite3.connect(target, isolation_level=None)) as copied:
        source.execute("BEGIN")  # one moment: without it, the copy begins anew with each commit of the holder
        try:
            source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            source.backup(copied, pages=_COPIED_AT_ONCE, progress=tell)
        finally:
            source.execute("ROLLBACK")
        copied.execute("PRAGMA journal_mode=DELETE")  # whole in one file, so that it can be carried away
