"""Questions that runs wait on (`requests`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.message import MessageDelivered, MessageQueued
from runwright.eventstore.events.request import (
    RequestAccepted,
    RequestClosed,
    RequestOpened,
    RequestRefused,
    RequestRejected,
    RequestSubmitted,
)
from runwright.eventstore.events.turn import TurnEnded
from runwright.projections.projection import Index, Key, Projection, begins, changes, run_of
from runwright.projections.replace import replace

UNSETTLED = ("open", "validating")

#: The code of a candidate whose check nobody could finish.
CRASHED = "worker_crashed"
#: Codes that say nothing about the candidate: the workflow that knows it was not there to be asked.
_UNASKED = frozenset({CRASHED, "source_changed", "environment_missing"})


def is_refusal(code: str) -> bool:
    """Whether a rejection with this code says that the candidate itself will not do."""
    return code not in _UNASKED


@frozen(kw_only=True, weakref_slot=False)
class RequestRow:
    """One request.

    ``opened`` is the position of the event with its prompt and contract, ``candidate`` that of the last
    submission, ``revision`` grows with each event about it. ``message`` is the last step message that asks for it,
    ``messages`` how many there were, ``wake_ups`` the deliveries of them that started a turn, ``errors`` the turns for
    it that ended in an error since one completed. ``refused`` counts the candidates that would not do, ``crashed``
    those whose check nobody could finish.
    """

    request: str
    run_id: str
    kind: str
    path: str
    visit: int
    attempt: int
    session: str | None
    #: ``open``, ``validating``, ``accepted``, ``closed``.
    state: str
    cause: str | None
    deadline: int | None
    protected: bool
    digest: str | None
    revision: int
    refused: int
    unproductive: int
    submission: str | None
    key: str | None
    source: str | None
    opened: int
    candidate: int | None
    rejection: int | None
    opened_at: int
    limit: int | None
    message: str | None
    messages: int
    wake_ups: int
    errors: int
    crashed: int


class Requests(Projection[RequestRow]):
    """``open`` → ``validating`` → ``accepted``, or ``closed``; a refused candidate returns it to ``open``.

    Decided here:

    * A policy's answer is accepted from ``open``, without a candidate; every other one after its submission.
    * ``refused`` counts refused candidates, ``crashed`` those whose check died; a candidate that could not be checked
      because its workflow was not there counts for nothing. An answer refused before it became a candidate changes
      only the revision.
    * A reminder that is queued for the request is the trace of an unproductive end, and counts it.
    """

    name = "requests"
    row = RequestRow
    key_columns = ("request",)
    indexes = (
        # A visit's own among all that its run ever asked, and those that still wait, of all runs or of one.
        Index(columns=("run_id", "path", "visit")),
        Index(columns=("state", "run_id"), where={"state": UNSETTLED}),
        Index(columns=("run_id", "path", "visit", "attempt"), where={"state": ("accepted",)}, unique=True),
    )

    def key(self, recorded: RecordedEvent) -> Key | None:
        """Answer the request; of messages only steps touch one, and of turns only theirs."""
        event = recorded.event
        if isinstance(event, MessageQueued):
            return (event.source,) if event.kind == "step" else None
        request: str | None = event.request  # type: ignore[attr-defined]  # every other class here has it
        return None if request is None else (request,)

    @begins(RequestOpened)
    def request_opened(self, event: RequestOpened, recorded: RecordedEvent) -> RequestRow:
        """The question is asked."""
        return RequestRow(
            request=event.request,
            run_id=run_of(recorded),
            kind=event.kind,
            path=event.path,
            visit=event.visit,
            attempt=event.attempt,
            session=event.session,
            state="open",
            cause=None,
            deadline=event.deadline,
            protected=event.protected,
            digest=event.digest,
            revision=1,
            refused=0,
            unproductive=0,
            submission=None,
            key=None,
            source=None,
            opened=recorded.position,
            candidate=None,
            rejection=None,
            opened_at=recorded.at,
            limit=event.limit,
            message=None,
            messages=0,
            wake_ups=0,
            errors=0,
            crashed=0,
        )

    @changes(RequestSubmitted)
    def submitted(self, row: RequestRow, event: RequestSubmitted, recorded: RecordedEvent) -> RequestRow:
        """A candidate is being checked."""
        self._in(row, ("open",), recorded)
        return replace(
            row,
            state="validating",
            revision=row.revision + 1,
            submission=event.submission,
            key=event.key,
            candidate=recorded.position,
        )

    @changes(RequestRejected)
    def rejected(self, row: RequestRow, event: RequestRejected, recorded: RecordedEvent) -> RequestRow:
        """The candidate is refused, and the question is open again."""
        self._in(row, ("validating",), recorded)
        self._same(row, event.submission, recorded)
        return replace(
            row,
            state="open",
            revision=row.revision + 1,
            refused=row.refused + is_refusal(event.code),
            crashed=row.crashed + (event.code == CRASHED),
            rejection=recorded.position,
        )

    @changes(RequestRefused)
    def turned_away(self, row: RequestRow, event: RequestRefused, recorded: RecordedEvent) -> RequestRow:
        """An answer did not become a candidate."""
        return replace(row, revision=row.revision + 1)

    @changes(RequestAccepted)
    def accepted(self, row: RequestRow, event: RequestAccepted, recorded: RecordedEvent) -> RequestRow:
        """The question is answered."""
        if event.source == "policy":
            self._in(row, ("open",), recorded)
        else:
            self._in(row, ("validating",), recorded)
            self._same(row, event.submission, recorded)
        return replace(
            row,
            state="accepted",
            revision=row.revision + 1,
            submission=event.submission,
            source=event.source,
        )

    @changes(RequestClosed)
    def closed(self, row: RequestRow, event: RequestClosed, recorded: RecordedEvent) -> RequestRow:
        """The question ends without an answer."""
        self._in(row, UNSETTLED, recorded)
        return replace(row, state="closed", cause=event.cause, revision=row.revision + 1)

    @changes(MessageQueued)
    def asked(self, row: RequestRow, event: MessageQueued, recorded: RecordedEvent) -> RequestRow:
        """A message asks for it; a reminder says that a turn for it ended without a candidate."""
        self._in(row, ("open",), recorded)
        asked = replace(row, message=event.message, messages=row.messages + 1)
        if event.reason != "reminder":
            return asked
        return replace(asked, unproductive=row.unproductive + 1, revision=row.revision + 1)

    @changes(MessageDelivered)
    def delivered(self, row: RequestRow, event: MessageDelivered, recorded: RecordedEvent) -> RequestRow:
        """A message that asks for it was handed out."""
        return replace(row, wake_ups=row.wake_ups + 1) if event.starts_turn else row

    @changes(TurnEnded)
    def turn_ended(self, row: RequestRow, event: TurnEnded, recorded: RecordedEvent) -> RequestRow:
        """A turn for it ended: one that completed ends a row of errors, one that was aborted counts for nothing."""
        match event.stop_reason:
            case "error":
                return replace(row, errors=row.errors + 1)
            case "completed" if row.errors:
                return replace(row, errors=0)
            case _:
                return row

    def _in(self, row: RequestRow, states: tuple[str, ...], recorded: RecordedEvent) -> None:
        if row.state not in states or row.run_id != run_of(recorded):
            self.refuse(recorded, f"the request is {row.state}")

    def _same(self, row: RequestRow, submission: str, recorded: RecordedEvent) -> None:
        if row.submission != submission:
            self.refuse(recorded, "another submission is being checked")


REQUESTS = Requests()
