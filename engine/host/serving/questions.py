"""Questions about runs, requests, effects and projections, each answered in a thread from one moment of the store."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from runwright.engine.errors import NotFound
from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.fitting import fitted
from runwright.engine.host.serving.values import field_of, json_value, value_of
from runwright.engine.protocol.errors import MessageInvalid
from runwright.engine.protocol.limits import MOST_ITEMS
from runwright.engine.protocol.payloads import (
    EffectGet,
    ProjectionNames,
    ProjectionQuery,
    RequestGet,
    RunList,
    RunOutput,
    RunStatusOf,
)
from runwright.engine.reading.effects import Effect
from runwright.engine.reading.find import find_effect, find_request
from runwright.engine.reading.moment import Moment, moment_of
from runwright.engine.reading.reader import Reader
from runwright.engine.reading.times import microseconds, rfc3339_us
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.requests import REQUESTS, UNSETTLED, RequestRow
from runwright.projections.control.runs import LIVE, RUNS

#: Bytes of a value that stands in a list itself; there may be hundreds beside it.
_IN_LISTS: Final = 2 * 1024

Question: TypeAlias = Callable[[Reader, Asked], JsonObject]


def run_status(reader: Reader, asked: Asked) -> JsonObject:
    """One run's facts."""
    payload: RunStatusOf = asked.payload
    run_id = asked.call.run_id
    if [run_id, payload.session, payload.name].count(None) != 2:
        raise MessageInvalid("$.run_id", "or the payload's session or name has to be there, and only one of them")
    if payload.session is not None:
        return reader.session_status(payload.session).document()
    if payload.name is not None:
        run_id = reader.find_run(payload.name, project=payload.project, cwd=payload.cwd)
    assert run_id is not None, "one of them is there"
    return reader.status(run_id).document()


def run_list(reader: Reader, asked: Asked) -> JsonObject:
    """A page of runs."""
    payload: RunList = asked.payload
    if payload.live:
        found = live_runs(reader)
        return {"items": found["items"], "position": found["position"], "next": None}
    page = reader.runs(
        statuses=payload.statuses,
        workflow=payload.workflow,
        since=_time(payload.since),
        limit=payload.limit,
        cursor=payload.cursor,
    )
    items = fitted(each.document() for each in page.items)
    more = page.items[len(items) - 1].run_id if len(items) < len(page.items) else page.next
    return {"items": items, "position": page.position, "next": more}


def live_runs(reader: Reader) -> JsonObject:
    """Every run that has not ended, newest first, as far as a frame has room."""
    with moment_of(reader.log) as moment:
        ids = sorted((row.run_id for state in LIVE for row in moment.rows.find(RUNS, status=state)), reverse=True)
        statuses = (moment.status(run_id, held=True).document() for run_id in ids)
        items = fitted(statuses) if ids else []
        return {"items": items, "left_out": len(ids) - len(items), "position": moment.position}


def run_output(reader: Reader, asked: Asked) -> JsonObject:
    """A run's output, or that of a node's visit."""
    payload: RunOutput = asked.payload
    if payload.node is None and payload.visit is not None:
        raise MessageInvalid("$.payload.visit", "is about a node, and none is named")
    found = reader.stored_output(asked.run_id, payload.node, payload.visit)
    run_id = asked.run_id if payload.visit is not None else reader.last_of_chain(asked.run_id)
    return {"run_id": run_id, "output": json_value(found.position, "output", found.value)}


def request_list(reader: Reader, asked: Asked) -> JsonObject:
    """Open requests, the oldest first, as far as a frame has room."""
    with moment_of(reader.log) as moment:
        equals: dict[str, Any] = {}
        if asked.call.run_id is not None:
            moment.run(asked.call.run_id)
            equals["run_id"] = asked.call.run_id
        rows = [row for state in UNSETTLED for row in moment.rows.find(REQUESTS, state=state, **equals)]
        rows.sort(key=lambda row: row.opened)
        items = fitted(_request(moment, row, _IN_LISTS) for row in rows[:MOST_ITEMS])
        return {"items": items, "left_out": len(rows) - len(items), "position": moment.position}


def request_get(reader: Reader, asked: Asked) -> JsonObject:
    """One open request."""
    payload: RequestGet = asked.payload
    with moment_of(reader.log) as moment:
        row = moment.rows.get(REQUESTS, find_request(moment, payload.request_id))
        if row is None or row.state not in UNSETTLED:
            raise NotFound("open request", payload.request_id)
        return _request(moment, row)


def effect_get(reader: Reader, asked: Asked) -> JsonObject:
    """One side effect."""
    payload: EffectGet = asked.payload
    with moment_of(reader.log) as moment:
        row = moment.rows.get(EFFECTS, find_effect(moment, payload.effect_id))
        assert row is not None, "it was found"
        request, result = field_of(moment.event(row.request), "request"), field_of(moment.event(row.result), "result")
        return {
            **Effect.of(row).document(),
            "request": value_of(row.request, "request", request),
            "result": value_of(row.result, "result", result),
        }


def projection_list(reader: Reader, _: Asked) -> JsonObject:
    """What can be queried."""
    items: list[Json] = list(reader.projections())
    return {"items": items}


def projection_query(reader: Reader, asked: Asked) -> JsonObject:
    """A page of rows."""
    payload: ProjectionQuery = asked.payload
    page = reader.query(
        payload.projection, where=payload.where, sort=payload.sort, limit=payload.limit, cursor=payload.cursor
    )
    items = fitted(page.items) if page.items else []
    more = page.next
    if len(items) < len(page.items):
        more = str(int(payload.cursor or 0) + len(items))
    return {"items": items, "position": page.position, "next": more}


def projection_verify(reader: Reader, asked: Asked) -> JsonObject:
    """The tables against a replay of the log."""
    from runwright.projections.verify import verify

    payload: ProjectionNames = asked.payload
    found = verify(reader.log, payload.names or None)
    differences: list[Json] = [
        {
            "projection": each.projection,
            "key": each.key,
            "field": each.field,
            "live": each.live,
            "replayed": each.replayed,
            "position": each.position,
            "event_type": each.event_type,
        }
        for each in found.differences[:MOST_ITEMS]
    ]
    items = fitted(differences) if differences else []
    return {
        "ok": found.ok,
        "position": found.position,
        "rows": found.rows,
        "differences": items,
        "left_out": len(found.differences) - len(items),
    }


def log_head(reader: Reader, _: Asked) -> JsonObject:
    """The log's last position and its hash."""
    head = reader.head()
    return {"position": head.position, "hash": head.hash.hex()}


QUESTIONS: Final[Mapping[str, Question]] = {
    "run.status": run_status,
    "run.list": run_list,
    "run.output": run_output,
    "request.list": request_list,
    "request.get": request_get,
    "effect.get": effect_get,
    "projection.list": projection_list,
    "projection.query": projection_query,
    "projection.verify": projection_verify,
    "log.head": log_head,
}


def _request(moment: Moment, row: RequestRow, room: int | None = None) -> JsonObject:
    opened = moment.event(row.opened)
    options = {} if room is None else {"room": room}
    values = {
        name: value_of(row.opened, name, field_of(opened, name), **options)
        for name in ("prompt", "contract", "presentation")
    }
    reason = value_of(row.rejection, "reason", field_of(moment.event(row.rejection), "reason"), **options)
    return {
        "request_id": row.request,
        "run_id": row.run_id,
        "kind": row.kind,
        "path": row.path,
        "state": row.state,
        "session": row.session,
        "deadline": rfc3339_us(row.deadline),
        "opened_at": rfc3339_us(row.opened_at),
        "protected": row.protected,
        "digest": row.digest,
        "refused": row.refused,
        **values,
        "reason": reason,
    }


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return microseconds(text)
    except ValueError:
        raise MessageInvalid("$.payload.since", "is no time in RFC 3339 with its zone") from None
