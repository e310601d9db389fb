"""One node's visits and attempts, gathered from the events of its run."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from runwright.cli.rendering.text import rfc3339
from runwright.engine.errors import NotFound
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.messages import MESSAGES
from runwright.projections.rows import MemoryRows
from runwright.projections.views.notices import Notice, Notices

if TYPE_CHECKING:
    from runwright.eventstore.envelope import RecordedEvent


def node_document(events: "Iterable[RecordedEvent]", run_id: str, node: str, *, values: bool) -> JsonObject:
    """What ``show RUN NODE --json`` prints.

    Args:
        events: The run's stream.
        run_id: The run.
        node: The node's full path.
        values: Whether outputs and updates go along.

    Raises:
        NotFound: The run never started that node.
    """
    kind: Json = None
    visits: dict[int, JsonObject] = {}
    notices, rows = Notices(), MemoryRows((MESSAGES,))
    told: list[tuple[JsonObject, Notice]] = []
    for recorded in events:
        rows.apply(recorded)
        notice = notices.apply(recorded)
        if notice is not None and notice.path == node and notice.visit in visits:
            told.append((_last_attempt(visits[notice.visit]), notice))
        if notice is not None or recorded.type not in ("node.started", "node.finished", "node.updated"):
            continue
        data: JsonObject = json.loads(recorded.data)
        if data["path"] != node:
            continue
        visit = visits.setdefault(cast(int, data["visit"]), {"visit": data["visit"], "attempts": []})
        attempts = cast("list[JsonObject]", visit["attempts"])
        if recorded.type == "node.started":
            kind = data["kind"]
            attempts.append(_started(recorded, data, values=values))
        elif attempts and recorded.type == "node.finished":
            _finish(attempts[-1], recorded, data, values=values)
        elif attempts and values:
            cast("list[Json]", attempts[-1]["updates"]).append(
                {"key": data["key"], "update": _body(recorded, "update")}
            )
    if not visits:
        raise NotFound("visit of node", node)
    for attempt, notice in told:
        attempt["notification"] = notice.document(rows)
    return {"run_id": run_id, "node": node, "kind": kind, "visits": list(visits.values())}


def _last_attempt(visit: JsonObject) -> JsonObject:
    return cast("list[JsonObject]", visit["attempts"])[-1]


def _started(recorded: "RecordedEvent", data: JsonObject, *, values: bool) -> JsonObject:
    deadline = data.get("deadline")
    attempt: JsonObject = {
        "attempt": data["attempt"],
        "started_at": rfc3339(recorded.at),
        "finished_at": None,
        "deadline": rfc3339(deadline) if isinstance(deadline, int) else None,
        "outcome": None,
        "code": None,
        "error": None,
        "next": None,
        "notification": None,
    }
    return attempt | ({"output": None, "updates": []} if values else {})


def _finish(attempt: JsonObject, recorded: "RecordedEvent", data: JsonObject, *, values: bool) -> None:
    attempt["finished_at"] = rfc3339(recorded.at)
    attempt |= {name: data.get(name) for name in ("outcome", "code", "next")}
    attempt["error"] = _body(recorded, "error")
    if values:
        attempt["output"] = _body(recorded, "output")


def _body(recorded: "RecordedEvent", name: str) -> Json:
    """A private value; where it was erased, the fact that it was."""
    if recorded.erased:
        return {"erased": True}
    content = json.loads(recorded.body or "{}").get(name)
    return cast(Json, content["value"]) if isinstance(content, dict) else None
