"""What can go wrong between events and rows.

ProjectionError
├── ImpossibleEvent          an event does not fit the row it touches
│   └── AlreadyHeld          another row holds what only one may
├── ProjectionInvalid        a projection is declared wrong
├── ViewFailed               a view could not follow the log
├── PositionUnknown          the log does not reach so far
├── RunUnknown               no event of that run is in what was read
│   └── RunUnbegun           not yet, at the position that was asked for
└── QueryRefused             a query asks for what is not there, or for too much
    ├── UnknownProjection
    ├── UnknownField
    ├── UnknownOperator
    ├── ValueUnfit
    └── QueryTooLong
"""

from collections.abc import Iterable


class ProjectionError(Exception):
    """The parent of all errors of this package.

    Attributes:
        code: The stable code, explained in ``docs/reference/errors.md``.
        message: One sentence, without any private value.
        hint: The next step.
    """

    code = "projection_error"
    hint = "Run `runwright projections verify` to compare the tables with the log."

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ImpossibleEvent(ProjectionError):
    """An event does not fit the row that it touches: the first guard of every law, in every replay too."""

    code = "impossible_event"
    hint = "Nothing was changed; read the facts again, then decide anew."

    def __init__(self, projection: str, event_type: str, position: int, why: str) -> None:
        super().__init__(f"Event {position} ({event_type}) does not fit {projection}: {why}.")
        self.projection = projection
        self.event_type = event_type
        self.position = position
        self.why = why


class AlreadyHeld(ImpossibleEvent):
    """Another row holds what only one row may hold at a time."""

    code = "already_held"

    def __init__(
        self, projection: str, event_type: str, position: int, columns: tuple[str, ...], holder: tuple[str | int, ...]
    ) -> None:
        super().__init__(
            projection,
            event_type,
            position,
            f"{'/'.join(map(str, holder))} holds the one place for {', '.join(columns)}",
        )
        self.columns = columns
        self.holder = holder


class ProjectionInvalid(ProjectionError):
    """A projection is declared in a way that cannot work."""

    code = "projection_invalid"
    hint = "Correct the projection class; docs/guides/audit.md shows a whole one."

    def __init__(self, projection: str, why: str, *, named: str = "") -> None:
        super().__init__(f"Projection {projection} is not usable: {why}.")
        self.projection = projection
        self.why = why
        self.names = frozenset((projection, named)) - {""}


class ViewFailed(ProjectionError):
    """A view could not follow the log; the other views go on."""

    code = "view_failed"
    hint = "Correct the projection, then run `runwright projections rebuild NAME`."

    def __init__(self, projection: str, position: int, event_type: str, why: str) -> None:
        super().__init__(f"View {projection} stopped at event {position} ({event_type}): {why}.")
        self.projection = projection
        self.position = position
        self.event_type = event_type
        self.why = why


class PositionUnknown(ProjectionError):
    """A replay was asked for a position that the events do not reach."""

    code = "position_unknown"

    def __init__(self, position: int, last: int) -> None:
        super().__init__(f"There is no position {position}: the events end at {last}.")
        self.hint = f"Give a position from 1 to {last}."
        self.position = position
        self.last = last


class RunUnknown(ProjectionError):
    """No event of the run stands in what was read."""

    code = "run_unknown"
    hint = "Run `runwright runs`: it lists the runs of this store."

    def __init__(self, run_id: str, message: str = "") -> None:
        super().__init__(message or f"There is no run {run_id} here.")
        self.run_id = run_id


class RunUnbegun(RunUnknown):
    """A run was asked for as of a position before its first event."""

    def __init__(self, run_id: str, first: int, position: int) -> None:
        super().__init__(run_id, f"Run {run_id} was not there yet at position {position}: it was queued at {first}.")
        self.hint = f"Give a position from {first} on."
        self.first = first
        self.position = position


class QueryRefused(ProjectionError):
    """A query names something that is not there."""

    code = "query_refused"
    hint = "Run `runwright query`: it lists the projections and their fields."


class UnknownProjection(QueryRefused):
    """No projection has that name."""

    code = "unknown_projection"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        super().__init__(f"There is no projection {name!r}; there are {', '.join(self.known)}.")
        self.name = name


class UnknownField(QueryRefused):
    """The projection shows no field of that name."""

    code = "unknown_field"

    def __init__(self, projection: str, field: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        super().__init__(f"The projection {projection} has no field {field!r}; it has {', '.join(self.known)}.")
        self.projection = projection
        self.field = field


class UnknownOperator(QueryRefused):
    """A condition is not of the form FIELD OPERATOR VALUE."""

    code = "unknown_operator"

    def __init__(self, condition: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        super().__init__(f"{condition!r} has no operator of {' '.join(self.known)}; write FIELD=VALUE.")
        self.condition = condition


class ValueUnfit(QueryRefused):
    """A value cannot be compared with that field."""

    code = "value_unfit"

    def __init__(self, projection: str, field: str, expected: str) -> None:
        super().__init__(f"{projection}.{field} is compared with {expected}.")
        self.projection = projection
        self.field = field


class QueryTooLong(QueryRefused):
    """A query has more conditions, fields to sort by or characters than the store compares at once."""

    code = "query_too_long"
    hint = "Ask for less at once; the output can be filtered further, with --json by a program."

    def __init__(self, projection: str, what: str, most: int) -> None:
        super().__init__(f"The query of {projection} has {what}, and may have {most:,}.")
        self.projection = projection
        self.most = most
