"""Every view that is kept: ours, and those that programs register by entry point."""

from collections.abc import Collection, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from runwright.eventstore import database
from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import ProjectionInvalid
from runwright.projections.projection import Projection
from runwright.projections.statements import statements_of
from runwright.projections.tables import ddl
from runwright.projections.views.activity import ACTIVITY
from runwright.projections.views.run_list import RUN_LIST
from runwright.projections.views.store import CURSORS
from runwright.projections.views.users import users_view

#: The group of entry points by which a program registers projections of its own.
GROUP = "runwright.projections"

VIEWS: tuple[Projection[Any], ...] = (RUN_LIST, ACTIVITY)


def views_for(names: Collection[str] = ()) -> tuple[Projection[Any], ...]:
    """Answer our views and the usable ones of programs, for somebody who asks for some by name.

    Raises:
        ProjectionInvalid: One that is asked for was registered, and cannot be used.
    """
    usable, errors = users_views()
    known = {each.name for each in (*CONTROL, *VIEWS, *usable)}
    for error in errors:
        if error.names & (set(names) - known):
            raise error
    return (*VIEWS, *usable)


def users_views(
    found: Iterable[EntryPoint] | None = None,
) -> tuple[tuple[Projection[Any], ...], tuple[ProjectionInvalid, ...]]:
    """Load the projections that programs registered.

    Args:
        found: The entry points; by default those that are installed.

    Returns:
        The usable ones, and an error for each that is not: it hurts nobody else.
    """
    usable: list[Projection[Any]] = []
    errors: list[ProjectionInvalid] = []
    for entry in entry_points(group=GROUP) if found is None else found:
        try:
            projection = _load(entry)
            _find_place(entry.name, projection, usable)
        except ProjectionInvalid as error:
            errors.append(error)
        else:
            usable.append(projection)
    return tuple(usable), tuple(errors)


def _load(entry: EntryPoint) -> Projection[Any]:
    loaded: object = None
    try:
        loaded = entry.load()
        return users_view(loaded)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is not our code, and must not hurt ours
        why = error.why if isinstance(error, ProjectionInvalid) else f"loading it raised {type(error).__name__}"
        raise ProjectionInvalid(entry.name, why, named=str(getattr(loaded, "name", ""))) from None


def _find_place(entry: str, projection: Projection[Any], others: Iterable[Projection[Any]]) -> None:
    """Refuse a view that SQLite cannot lay out beside the others: to it, names are the same in any case."""
    beside = (*VIEWS, *others)
    names = {CURSORS.name, *(each.name.lower() for each in (*CONTROL, *beside))}
    if projection.name.lower() in names:
        raise ProjectionInvalid(entry, f"the name {projection.name} is taken", named=projection.name)
    if not database.takes(ddl([CURSORS, *(statements_of(each).table for each in (*beside, projection))])):
        why = "SQLite does not take its names, of the table, its fields or its indexes"
        raise ProjectionInvalid(entry, why, named=projection.name)
