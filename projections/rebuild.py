"""Rebuild: the control tables made anew from the log, all of them changed in one transaction or none."""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy
from attrs import frozen

from runwright.eventstore import database
from runwright.eventstore.database import Statement, execute
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.home import create_file
from runwright.eventstore.log import EventLog
from runwright.projections.inline import ControlRows
from runwright.projections.projection import Projection
from runwright.projections.statements import statements_of
from runwright.projections.tables import ddl
from runwright.projections.verify import control_named

#: Told how far a rebuild is: the position that was folded, and the last one.
Progress = Callable[[int, int], None]

#: The name under which the writer attaches what was built.
_BESIDE = "beside"


@frozen(kw_only=True)
class Rebuilt:
    """What a rebuild did: up to which position, and how many rows stand now, per projection."""

    position: int
    rows: dict[str, int]


def rebuild(
    log: EventLog, names: Collection[str] | None = None, *, progress: Progress = lambda _done, _last: None
) -> Rebuilt:
    """Make control tables anew from the log.

    The rows are built at one position in a file of their own, chunk by chunk, while the log goes on. Then, in
    one transaction of the writer, they take the place of the old ones and what came since is folded on. A
    crash anywhere before its commit leaves the old rows.

    Args:
        log: The log, held by this process.
        names: Only these projections.
        progress: Told after each chunk.

    Raises:
        UnknownProjection: There is no control projection of that name.
        ImpossibleEvent: The log itself cannot be folded; nothing was changed.
    """
    projections = control_named(names)
    place = log.home.path / "rebuild.sqlite"
    _remove(place)
    try:
        position = _build(log, place, projections, progress)
        return log.maintain(lambda connection: _exchange(connection, log, projections, position), place)
    finally:
        _remove(place)


def _build(log: EventLog, place: Path, projections: Iterable[Projection[Any]], progress: Progress) -> int:
    last = log.head().position
    os.close(create_file(place))
    with closing(database.connect_writer(place, wal=False)) as connection:
        # Nothing here has to outlive a crash.
        execute(connection, Statement("PRAGMA synchronous=OFF"))
        for text in ddl(statements_of(each).table for each in projections):
            execute(connection, Statement(text))
        rows = ControlRows(projections)
        rows.attach(connection)
        for batch in log.facts(upto=last):
            _write(connection, rows, batch)
            progress(batch[-1].position, last)
    return last


def _write(connection: sqlalchemy.Connection, rows: ControlRows, batch: Iterable[RecordedEvent]) -> None:
    execute(connection, Statement("BEGIN"))
    for recorded in batch:
        rows.apply(recorded)
    rows.flush()
    execute(connection, Statement("COMMIT"))
    rows.committed()


def _exchange(
    connection: sqlalchemy.Connection, log: EventLog, projections: tuple[Projection[Any], ...], position: int
) -> Rebuilt:
    """Put the built rows in the place of the old ones, on the writer's connection, inside its transaction."""
    for projection in projections:
        table = statements_of(projection).table
        built = table.to_metadata(sqlalchemy.MetaData(), schema=_BESIDE)
        execute(connection, Statement.of(sqlalchemy.delete(table)))
        names = [column.name for column in table.columns]
        taken = sqlalchemy.insert(table).from_select(names, sqlalchemy.select(built))
        execute(connection, Statement.of(taken))
    rows = ControlRows(projections)
    rows.attach(connection)
    for batch in log.facts(after=position):  # the log stands still: this is its writer's thread
        for recorded in batch:
            rows.apply(recorded)
        position = batch[-1].position
    rows.flush()
    return Rebuilt(position=position, rows={each.name: _count(connection, each) for each in projections})


def _count(connection: sqlalchemy.Connection, projection: Projection[Any]) -> int:
    table = statements_of(projection).table
    ((count,),) = execute(connection, Statement.of(sqlalchemy.select(sqlalchemy.func.count()).select_from(table)))
    return int(count)


def _remove(place: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
