"""The status of one run: the one shape that `status`, `run`, `wait` and the items of `runs` share (page 09)."""

from datetime import datetime

from attrs import frozen

from runwright.engine.reading.times import rfc3339
from runwright.eventstore.values import JsonObject


@frozen(kw_only=True)
class Reason:
    """Why a run is parked, and since when."""

    code: str
    detail: str | None
    since: datetime


@frozen(kw_only=True)
class RunError:
    """Why a run ended badly: a stable code and a safe message."""

    code: str
    message: str


@frozen(kw_only=True)
class OpenRequest:
    """A question that the run waits on."""

    request_id: str
    kind: str
    node: str
    deadline: datetime | None


@frozen(kw_only=True)
class Steps:
    """Steps used, the chain's included, and the bound on them."""

    used: int
    max: int


@frozen(kw_only=True)
class EffectCounts:
    """How many of the run's effects nobody can tell the outcome of."""

    ambiguous: int


@frozen(kw_only=True)
class Presentation:
    """How far telling people about the end is; ``none`` while the run lives."""

    state: str
    since: datetime | None


@frozen(kw_only=True)
class Status:
    """One run's facts, as ``status RUN --json`` prints them.

    Attributes:
        status: The display status, one of the ten words of page 03.
        run_status: How far the run is.
        queue_state: What the scheduler may do with it.
        reason: Why it is parked, or ``None``.
        node: The full path of the node started last.
        controls: The commands that would do something now.
        next: The lines to type, the most useful first.
        revision: The version of the run's stream.
        position: The log's head that all of this was read at.
    """

    run_id: str
    workflow: str
    status: str
    run_status: str
    queue_state: str
    reason: Reason | None
    node: str | None
    visit: int | None
    attempt: int | None
    steps: Steps
    session: str | None
    parent_run_id: str | None
    root_run_id: str
    restart_number: int
    continued_by: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: RunError | None
    requests: tuple[OpenRequest, ...]
    effects: EffectCounts
    presentation: Presentation
    controls: tuple[str, ...]
    next: tuple[str, ...]
    revision: int
    position: int

    @property
    def ended(self) -> bool:
        """Whether the run is over for good."""
        return self.run_status in ENDED

    def document(self) -> JsonObject:
        """The status as a JSON object: every field is there, ``null`` where there is nothing."""
        reason: JsonObject | None = None
        if self.reason is not None:
            reason = {"code": self.reason.code, "detail": self.reason.detail, "since": rfc3339(self.reason.since)}
        error: JsonObject | None = None
        if self.error is not None:
            error = {"code": self.error.code, "message": self.error.message}
        return {
            "run_id": self.run_id,
            "workflow": self.workflow,
            "status": self.status,
            "run_status": self.run_status,
            "queue_state": self.queue_state,
            "reason": reason,
            "node": self.node,
            "visit": self.visit,
            "attempt": self.attempt,
            "steps": {"used": self.steps.used, "max": self.steps.max},
            "session": self.session,
            "parent_run_id": self.parent_run_id,
            "root_run_id": self.root_run_id,
            "restart_number": self.restart_number,
            "continued_by": self.continued_by,
            "created_at": rfc3339(self.created_at),
            "started_at": rfc3339(self.started_at),
            "finished_at": rfc3339(self.finished_at),
            "error": error,
            "requests": [
                {
                    "request_id": each.request_id,
                    "kind": each.kind,
                    "node": each.node,
                    "deadline": rfc3339(each.deadline),
                }
                for each in self.requests
            ],
            "effects": {"ambiguous": self.effects.ambiguous},
            "presentation": {"state": self.presentation.state, "since": rfc3339(self.presentation.since)},
            "controls": list(self.controls),
            "next": list(self.next),
            "revision": self.revision,
            "position": self.position,
        }


#: Run statuses that are final.
ENDED = frozenset({"completed", "continued", "failed", "timed_out", "cancelled"})
