"""The one table of events, the head row beside it, and the layout that a store must have."""

import functools
import hashlib
import sqlite3
from importlib import resources

from attrs import frozen
from sqlalchemy import (
    BLOB,
    CheckConstraint,
    Column,
    ColumnElement,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
)

from runwright.eventstore.values import MAX_DATA

#: The number in the header of the file: ``RWLG``.
APPLICATION_ID = 0x52574C47
#: The schema that this version writes; a store with a higher number is refused.
SCHEMA = 1

MAX_STREAM = 300
MAX_TYPE = 64
MAX_ACTOR = 200
MAX_COMMAND = 200

metadata = MetaData()


def _bytes(column: str, most: int) -> str:
    # SQLite counts a text in characters; the bounds are bytes.
    return f"length(CAST({column} AS BLOB)) BETWEEN 1 AND {most}"


events = Table(
    "events",
    metadata,
    Column("position", Integer, primary_key=True),
    Column("stream", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", Integer, nullable=False),
    Column("actor", Text, nullable=False),
    Column("generation", Integer),
    Column("command", Text),
    Column("data", Text, nullable=False),
    Column("digest", BLOB),
    Column("hash", BLOB, nullable=False),
    Column("salt", BLOB),
    Column("body", Text),
    UniqueConstraint("stream", "version"),
    CheckConstraint("position > 0"),
    CheckConstraint("version > 0"),
    CheckConstraint(_bytes("stream", MAX_STREAM)),
    CheckConstraint(_bytes("type", MAX_TYPE)),
    CheckConstraint(_bytes("actor", MAX_ACTOR)),
    CheckConstraint(f"command IS NULL OR {_bytes('command', MAX_COMMAND)}"),
    CheckConstraint(_bytes("data", MAX_DATA)),
    CheckConstraint("digest IS NULL OR length(digest) = 32"),
    CheckConstraint("length(hash) = 32"),
    CheckConstraint("salt IS NULL OR length(salt) = 16"),
    CheckConstraint("(body IS NULL) = (salt IS NULL)"),
    CheckConstraint("body IS NULL OR digest IS NOT NULL"),
    sqlite_strict=True,
)

#: What opens and closes a scrub; in an index of their own, so that finding open scrubs reads no log. A statement has to
#: say it in the very words of the index, or SQLite would not use it.
is_erasure: ColumnElement[bool] = literal_column("type IN ('log.redacted', 'log.scrubbed', 'run.input_erased')")

Index("events_erasures", events.c.position, sqlite_where=is_erasure)

head = Table(
    "head",
    metadata,
    Column("one", Integer, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("hash", BLOB, nullable=False),
    CheckConstraint("one = 1"),
    CheckConstraint("position > 0"),
    CheckConstraint("length(hash) = 32"),
    sqlite_strict=True,
)


@frozen
class Layout:
    """The DDL statements of a store, executed to make one and compared literally to check one.

    Attributes:
        statements: One ``CREATE`` each, without the closing semicolon.
    """

    statements: tuple[str, ...]

    @classmethod
    def parse(cls, *texts: str) -> "Layout":
        """Split checked-in DDL texts into statements; comment lines between statements are dropped."""
        statements: list[str] = []
        for text in texts:
            pending = ""
            for line in text.splitlines(keepends=True):
                if not pending and (not line.strip() or line.startswith("--")):
                    continue
                pending += line
                if sqlite3.complete_statement(pending):
                    statements.append(pending.rstrip().removesuffix(";").rstrip())
                    pending = ""
            if pending:
                raise ValueError("a layout text ends within a statement")
        return cls(tuple(statements))

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of the statements, in hex, as `log.created` holds it."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()


#: The text of the layout of `events` and `head` alone, with their triggers.
EVENTS_DDL = resources.files("runwright.eventstore").joinpath("schema", "events.sql").read_text("utf-8")
EVENTS_LAYOUT = Layout.parse(EVENTS_DDL)
