"""What a list of runs could be shown by alone: the facts of a run as its row of `run_list` holds them."""

import json

from attrs import frozen

from runwright.projections.views.run_list import RunListRow
from runwright.projections.views.status import Standing, standing_reason


@frozen(kw_only=True)
class ListedRequest:
    """An unsettled request as a list knows it."""

    request: str
    kind: str
    path: str
    deadline: int | None


def listed_standing(row: RunListRow) -> Standing:
    """Answer the facts that a listed run is shown by."""
    ambiguous: tuple[str, ...] = tuple(json.loads(row.effects))
    return Standing(
        run=row,
        queue_state=row.queue_state,
        reason=standing_reason(row.reason, ambiguous),
        detail=row.detail,
        since=row.since,
        ambiguous=ambiguous,
        requests=tuple(ListedRequest(**each) for each in json.loads(row.requests)),
        timers=tuple(json.loads(row.timers)),
        ready=row.ready,
        presentation=None if row.presentation is None else (row.presentation, row.presentation_at or 0),
        revision=row.revision,
        position=row.position,
    )
