"""The file of the views: a table for each, and how far each has followed the log."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy
from sqlalchemy import bindparam
from sqlalchemy.dialects import sqlite

from runwright.eventstore import database
from runwright.eventstore.database import Statement, execute
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.errors import EventUnreadable, StoreBusy, StoreCorrupt, StoreError, StoreFull
from runwright.eventstore.home import Home, check_file, create_file
from runwright.eventstore.reader import LogReader
from runwright.projections.errors import ImpossibleEvent, ViewFailed
from runwright.projections.inline import ControlRows
from runwright.projections.projection import Projection
from runwright.projections.statements import statements_of
from runwright.projections.tables import ddl

#: How far each view has come; the one table of the file that is no view's.
CURSORS = sqlalchemy.Table(
    "cursors",
    sqlalchemy.MetaData(),
    sqlalchemy.Column("view", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("layout", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("position", sqlalchemy.Integer, nullable=False),
    sqlalchemy.Column("problem", sqlalchemy.Text),
    sqlalchemy.PrimaryKeyConstraint("view"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_new = sqlite.insert(CURSORS)
_SAVE = Statement.of(
    _new.on_conflict_do_update(
        index_elements=["view"],
        set_={name: _new.excluded[name] for name in ("layout", "position", "problem")},
    )
)
_CURSOR = Statement.of(
    sqlalchemy.select(CURSORS.c.layout, CURSORS.c.position).where(CURSORS.c.view == bindparam("view"))
)
_BEGIN, _COMMIT, _ROLLBACK = Statement("BEGIN IMMEDIATE"), Statement("COMMIT"), Statement("ROLLBACK")


def layout_of(projection: Projection[Any], log_id: str) -> str:
    """Answer what tells a view's table from that of another version, another log or another layout."""
    parts = (log_id, str(projection.version), *ddl([statements_of(projection).table]))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def cursor_of(connection: sqlalchemy.Connection, projection: Projection[Any], log_id: str) -> int | None:
    """Answer how far a view has followed a log; ``None`` where its table is not there or not that view's."""
    rows = execute(connection, _CURSOR, (projection.name,)) if "cursors" in database.schema(connection) else []
    return rows[0][1] if rows and rows[0][0] == layout_of(projection, log_id) else None


class Views:
    """The views of one store, written by the process that holds it.

    Whatever is wrong with the file, it is dropped and filled again: nothing stands in it that the log does not
    say. A view that fails stops where it is, says so, and leaves the others alone.

    Args:
        home: The state directory.
        log: The log to follow.
        projections: The views.
        stopped: Whether to end before the next batch of events; what was followed stays.
    """

    def __init__(
        self,
        home: Home,
        log: LogReader,
        projections: Iterable[Projection[Any]],
        *,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._path = home.views
        self._log = log
        self._projections = tuple(projections)
        self._stopped = stopped
        self._open()

    @property
    def failures(self) -> tuple[ViewFailed, ...]:
        """The views that stand still, and why."""
        return tuple(each.failure for each in self._views if each.failure is not None)

    @property
    def position(self) -> int:
        """How far every view that works has come."""
        working = [each.position for each in self._views if each.failure is None]
        return min(working) if working else self._log.head().position

    def catch_up(self) -> int:
        """Follow the log to its present end.

        Returns:
            How far every view that works has come.
        """
        try:
            self._follow(self._log.head().position)
        except StoreCorrupt:
            self._drop()
            self._follow(self._log.head().position)
        return self.position

    def rebuild(self, names: Sequence[str]) -> int:
        """Fill views anew from the log; answer how far they came."""
        for view in self._views:
            if view.projection.name in names:
                view.reset()
        return self.catch_up()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _open(self) -> None:
        try:
            self._connect()
        except StoreError:
            if not self._path.exists():
                raise
            self._remove()
            self._connect()

    def _connect(self) -> None:
        check_file(self._path)
        if not self._path.exists():
            os.close(create_file(self._path))
        self._connection = database.connect_writer(self._path)
        try:
            # A lost commit is followed again; only a checkpoint has to wait for the disk.
            execute(self._connection, Statement("PRAGMA synchronous=NORMAL"))
            if "cursors" not in database.schema(self._connection):
                execute(self._connection, Statement(ddl([CURSORS])[0]))
            last = self._log.head().position
            self._views = [_View(self._connection, each, self._log.log_id, last) for each in self._projections]
        except BaseException:
            self._connection.close()
            raise

    def _drop(self) -> None:
        self._connection.close()
        self._remove()
        self._connect()

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _follow(self, last: int) -> None:
        try:
            for batch in self._log.facts(after=self.position, upto=last):
                if self._stopped():
                    return
                for view in self._views:
                    view.take(batch)
        except EventUnreadable as error:
            for view in self._views:
                view.stop(ViewFailed(view.projection.name, error.position, error.type, error.problem))


class _View:
    """One view in the file."""

    def __init__(self, connection: sqlalchemy.Connection, projection: Projection[Any], log_id: str, last: int) -> None:
        self.projection = projection
        self.failure: ViewFailed | None = None
        self._connection = connection
        self._layout = layout_of(projection, log_id)
        self._rows = ControlRows((projection,), cached=1024)
        self._rows.attach(connection)
        position = cursor_of(connection, projection, log_id)
        self.position = position or 0
        if position is None or position > last:
            self.reset()

    def reset(self) -> None:
        """Begin anew with an empty table."""
        table = statements_of(self.projection).table
        with _transaction(self._connection):
            drop = sqlalchemy.schema.DropTable(table, if_exists=True)
            execute(self._connection, Statement.of(drop))
            for text in ddl([table]):
                execute(self._connection, Statement(text))
            self._save(0)
        self._rows.discard()
        self.position = 0
        self.failure = None

    def take(self, batch: Iterable[RecordedEvent]) -> None:
        """Follow a batch, up to the first event that the projection cannot take."""
        if self.failure is not None:
            return
        position, failure = self.position, None
        for recorded in batch:
            if recorded.position <= position:
                continue
            mark = self._rows.mark()
            try:
                self._rows.apply(recorded)
            except StoreError:
                self._rows.discard()
                raise
            except Exception as error:  # noqa: BLE001 - a user's projection may raise anything and hurts itself only
                self._rows.undo(mark)
                failure = view_failed(self.projection, recorded, error)
                break
            position = recorded.position
        try:
            with _transaction(self._connection):
                self._rows.flush()
                self._save(position, failure)
        except (StoreBusy, StoreCorrupt, StoreFull):
            self._rows.discard()
            raise
        except Exception as error:  # noqa: BLE001 - its rows break its own constraints, or are none
            self._rows.discard()
            why = f"its rows up to there cannot be written ({type(error).__name__})"
            self.stop(ViewFailed(self.projection.name, position, "in a batch", why))
            return
        self._rows.committed()
        self.position, self.failure = position, failure

    def stop(self, failure: ViewFailed) -> None:
        """Stand still from now on, and write down why."""
        self.failure = self.failure or failure
        with _transaction(self._connection):
            self._save(self.position, self.failure)

    def _save(self, position: int, failure: ViewFailed | None = None) -> None:
        problem = None if failure is None else failure.message
        execute(self._connection, _SAVE, (self.projection.name, self._layout, position, problem))


def view_failed(projection: Projection[Any], recorded: RecordedEvent, error: Exception) -> ViewFailed:
    """Say why a view stopped; text of a foreign exception is not copied, it may hold anything."""
    why = error.why if isinstance(error, ImpossibleEvent) else f"it raised {type(error).__name__}"
    return ViewFailed(projection.name, recorded.position, recorded.type, why)


@contextmanager
def _transaction(connection: sqlalchemy.Connection) -> Iterator[None]:
    execute(connection, _BEGIN)
    try:
        yield
        execute(connection, _COMMIT)
    except BaseException:
        with suppress(StoreError):  # it may be gone already, which is what we want
            execute(connection, _ROLLBACK)
        raise
