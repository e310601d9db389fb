"""Every view that is kept: ours, and those that programs register by entry point."""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import ProjectionError, ProjectionInvalid
from runwright.projections.projection import Projection
from runwright.projections.replace import field_types
from runwright.projections.views.activity import ACTIVITY
from runwright.projections.views.run_list import RUN_LIST

#: The group of entry points by which a program registers projections of its own.
GROUP = "runwright.projections"

VIEWS: tuple[Projection[Any], ...] = (RUN_LIST, ACTIVITY)

#: Names of tables that the file of the views keeps for itself.
RESERVED = frozenset({"cursors"})


def users_views(
    found: Iterable[EntryPoint] | None = None,
) -> tuple[tuple[Projection[Any], ...], tuple[ProjectionError, ...]]:
    """Load the projections that programs registered.

    Args:
        found: The entry points; by default those that are installed.

    Returns:
        The usable ones, and an error for each that is not: it hurts nobody else.
    """
    usable: dict[str, Projection[Any]] = {}
    errors: list[ProjectionError] = []
    taken = {*RESERVED, *(each.name for each in (*CONTROL, *VIEWS))}
    for entry in entry_points(group=GROUP) if found is None else found:
        try:
            projection = _load(entry)
            if projection.name in taken or projection.name in usable:
                raise ProjectionInvalid(entry.name, f"the name {projection.name} is taken")
        except ProjectionError as error:
            errors.append(error)
        else:
            usable[projection.name] = projection
    return tuple(usable.values()), tuple(errors)


def _load(entry: EntryPoint) -> Projection[Any]:
    try:
        loaded = entry.load()
        projection = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # noqa: BLE001 - it is not our code, and whatever it raises must not hurt ours
        raise ProjectionInvalid(entry.name, f"loading it raised {type(error).__name__}") from None
    if not isinstance(projection, Projection):
        raise ProjectionInvalid(entry.name, "it is no Projection")
    check_view(projection)
    return projection


def check_view(projection: Projection[Any]) -> None:
    """Check that a projection can be kept as a view.

    Raises:
        ProjectionInvalid: It cannot.
    """
    name = getattr(projection, "name", None)
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("sqlite_"):
        raise ProjectionInvalid(str(name), "its name is not one that a table can have")
    try:
        types = field_types(projection.row)
    except (AttributeError, NameError, TypeError):
        raise ProjectionInvalid(name, "its row is no attrs class of plain fields") from None
    columns = {*projection.key_columns, *(each for index in projection.indexes for each in index.columns)}
    if not projection.key_columns or not columns <= types.keys():
        raise ProjectionInvalid(name, "its key columns and indexes do not name fields of its row")
