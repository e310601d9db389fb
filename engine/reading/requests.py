"""Open requests: what waits for an answer, and from whom."""

from datetime import datetime

from attrs import frozen

from runwright.engine.reading.moment import Moment
from runwright.engine.reading.times import moment as as_moment
from runwright.engine.reading.times import moment_or_none, rfc3339
from runwright.eventstore.events.request import RequestOpened
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.requests import REQUESTS, UNSETTLED, RequestRow


@frozen(kw_only=True)
class Request:
    """A question that a run waits on.

    Attributes:
        request_id: The request.
        run_id: The run.
        kind: ``agent``, ``assistant``, ``decision`` or ``checkpoint``.
        path: The node's full path.
        prompt: What is asked; ``None`` where it was erased.
        choices: The answers that are allowed; empty where they are not fixed.
        schema: The JSON Schema that an answer must meet.
        deadline: When it closes, or ``None``.
        opened_at: When it was asked.
        presentation: What a checkpoint shows beside its summary; of a decision its facts, choices and policy.
        protected: Whether only a person may answer.
        session: The conversation that it is put to, or ``None``.
        digest: What binds an answer to a decision to what was shown.
        subject: What is decided on.
    """

    request_id: str
    run_id: str
    kind: str
    path: str
    prompt: str | None
    choices: tuple[str, ...]
    schema: JsonObject
    deadline: datetime | None
    opened_at: datetime
    presentation: Json = None
    protected: bool = False
    session: str | None = None
    digest: str | None = None
    subject: Json = None

    def document(self) -> JsonObject:
        """The request as a JSON object: every field is there."""
        return {
            "request_id": self.request_id,
            "run_id": self.run_id,
            "kind": self.kind,
            "path": self.path,
            "prompt": self.prompt,
            "choices": list(self.choices),
            "schema": self.schema,
            "deadline": rfc3339(self.deadline),
            "opened_at": rfc3339(self.opened_at),
            "presentation": self.presentation,
            "protected": self.protected,
            "session": self.session,
            "digest": self.digest,
            "subject": self.subject,
        }


def read_requests(moment: Moment, run_id: str | None) -> list[Request]:
    """The open requests of a run, or of all, the oldest first."""
    equals = {} if run_id is None else {"run_id": run_id}
    rows = [row for state in UNSETTLED for row in moment.rows.find(REQUESTS, state=state, **equals)]
    return [_request(moment, row) for row in sorted(rows, key=lambda row: row.opened)]


def _request(moment: Moment, row: RequestRow) -> Request:
    recorded = moment.event(row.opened)
    opened = None if recorded is None else recorded.event
    prompt: Json = None
    presentation: Json = None
    subject: Json = None
    schema: JsonObject = {}
    if isinstance(opened, RequestOpened):
        prompt = None if opened.prompt is None else opened.prompt.value
        presentation = None if opened.presentation is None else opened.presentation.value
        subject = None if opened.subject is None else opened.subject.value
        contract = None if opened.contract is None else opened.contract.value
        schema = contract if isinstance(contract, dict) else {}
    choices = schema.get("enum")
    return Request(
        request_id=row.request,
        run_id=row.run_id,
        kind=row.kind,
        path=row.path,
        prompt=prompt if isinstance(prompt, str) else None,
        choices=tuple(str(each) for each in choices) if isinstance(choices, list) else (),
        schema=schema,
        deadline=moment_or_none(row.deadline),
        opened_at=as_moment(row.opened_at),
        presentation=presentation,
        protected=row.protected,
        session=row.session,
        digest=row.digest,
        subject=subject,
    )
