"""Views of single runs: folded from a run's own events, kept up while somebody follows, and cut to a frame."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from attrs import define, field, frozen

from runwright.engine.authoring.conversion import NotConvertible
from runwright.engine.errors import ConflictError
from runwright.engine.graph.definition import Definition
from runwright.engine.graph.draw import edges
from runwright.engine.host.serving.fitting import fitted, last_fitted, size_of
from runwright.engine.protocol.limits import MOST_ITEMS
from runwright.engine.protocol.payloads import ViewPage
from runwright.engine.reading.moment import moment_of
from runwright.engine.results import Conflict
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.runs import RUNS
from runwright.projections.views.run_view import RunView

#: Bytes of a view's parts; together with the status they stay far below a frame.
_NODES: Final = 160 * 1024
_MOUNTS: Final = 48 * 1024
_VISITS: Final = 128 * 1024
#: Visits that a view shows; `view.page` has the others.
_MOST_VISITS: Final = 100


@define
class Look:
    """One run's view, as far as it has been folded.

    Attributes:
        view: The fold.
        definition: The digest of the run's definition.
        saved: The definition; ``None`` where another version wrote it in a form of its own.
    """

    view: RunView
    definition: str
    saved: Definition | None
    lock: threading.Lock = field(factory=threading.Lock)

    @property
    def ended(self) -> bool:
        """Whether the run has ended, as far as it has been folded."""
        row = self.view.rows.get(RUNS, self.view.run_id)
        return row is not None and row.finished_at is not None

    def catch_up(self, log: LogReader) -> None:
        """Fold what came since; with its lock held."""
        self.view.follow(log.read(f"run/{self.view.run_id}", self.view.revision + 1))


@frozen
class Seen:
    """One look at a run.

    Attributes:
        view: Its view; ``None`` where there is nothing new in it.
        position: The position of its last event.
        ended: Whether it has ended.
    """

    view: JsonObject | None
    position: int
    ended: bool


class Looks:
    """The views that somebody follows, and the ways to look at any run once.

    Args:
        log: The log.
    """

    def __init__(self, log: LogReader) -> None:
        self._log = log
        self._kept: dict[str, Look] = {}
        self._followers: dict[str, int] = {}
        self._lock = threading.Lock()

    def begin(self, run_id: str) -> None:
        """Keep a run's view up from the next look on."""
        with self._lock:
            self._followers[run_id] = self._followers.get(run_id, 0) + 1

    def end(self, run_id: str) -> None:
        """One follower less; the view of the last one is dropped."""
        with self._lock:
            self._followers[run_id] -= 1
            if not self._followers[run_id]:
                del self._followers[run_id]
                self._kept.pop(run_id, None)

    def document(self, run_id: str, after: int = 0) -> Seen:
        """A run's bounded view as of now; none where it is not after a position.

        Raises:
            NotFound: There is no such run.
        """
        with self._up_to_date(run_id) as look:
            position = look.view.rows.position
            view = None if after >= position else _bounded(look, self._status(look))
            return Seen(view, position, look.ended)

    def page(self, run_id: str, asked: ViewPage) -> JsonObject:
        """A page of a part of a run's view.

        Raises:
            NotFound: There is no such run.
            ConflictError: The run has moved on since the pages before.
        """
        with self._up_to_date(run_id) as look:
            if asked.revision not in (None, look.view.revision):
                facts: JsonObject = {"run": run_id, "expected": asked.revision, "actual": look.view.revision}
                raise ConflictError(Conflict("revision_changed", facts))
            self._status(look)
            items = _part(look, asked.part)
            page = fitted(items[asked.after :]) if items[asked.after :] else []
            end = asked.after + len(page)
            return {"items": page, "next": end if end < len(items) else None, "revision": look.view.revision}

    @contextmanager
    def _up_to_date(self, run_id: str) -> Iterator[Look]:
        with self._lock:
            look = self._kept.get(run_id)
        if look is None:
            look = self._look(run_id)
            with self._lock:
                if run_id in self._followers:
                    look = self._kept.setdefault(run_id, look)
        with look.lock:
            look.catch_up(self._log)
            yield look

    def _status(self, look: Look) -> JsonObject:
        """The run's status, of the fold where the tables are ahead; the view learns what only its session tells."""
        with moment_of(self._log) as moment:
            status = moment.status(look.view.run_id, held=True)
        look.view.turn_open = status.turn_open
        return status.document() if status.revision == look.view.revision else look.view.status(held=True)

    def _look(self, run_id: str) -> Look:
        with moment_of(self._log) as moment:
            digest = moment.run(run_id).definition
        saved = self._definition(digest)
        kinds = {} if saved is None else {path: str(spec.kind) for path, spec in saved.nodes.items()}
        return Look(RunView(run_id, kinds), digest, saved)

    def _definition(self, digest: str) -> Definition | None:
        for recorded in self._log.read(f"definition/{digest}"):
            event = recorded.event
            if isinstance(event, DefinitionRecorded) and event.snapshot is not None:
                try:
                    return Definition.from_snapshot(event.snapshot.value)
                except NotConvertible:
                    return None
        return None


def _bounded(look: Look, status: JsonObject) -> JsonObject:
    timeline = look.view.timeline()
    nodes, mounts, visits = _part(look, "nodes"), _part(look, "mounts"), _part(look, "visits")
    dropped = timeline["dropped"]
    assert isinstance(dropped, int)
    shown = last_fitted(visits, most=_MOST_VISITS, budget=_VISITS)
    kept = _chosen(nodes)
    entered = last_fitted(mounts, budget=_MOUNTS)
    return {
        "status": status,
        "definition": look.definition,
        "entry": None if look.saved is None else look.saved.entry,
        "nodes": kept,
        "nodes_left_out": len(nodes) - len(kept),
        "mounts": list(entered),
        "mounts_left_out": len(mounts) - len(entered),
        "timeline": {"visits": list(shown), "dropped": dropped + len(visits) - len(shown)},
    }


def _chosen(nodes: list[Json]) -> list[Json]:
    """The nodes that a view has room for, in their order: those at work or visited last before all others."""
    order = sorted(range(len(nodes)), key=lambda index: _urgency(nodes[index]), reverse=True)
    budget, chosen = _NODES, set[int]()
    for index in order[:MOST_ITEMS]:
        budget -= size_of(nodes[index])
        if budget < 0:
            break
        chosen.add(index)
    return [node for index, node in enumerate(nodes) if index in chosen]


def _urgency(node: Json) -> tuple[bool, str]:
    assert isinstance(node, dict)
    return bool(node["current"]), str(node["started_at"] or "")


def _part(look: Look, part: str) -> list[Json]:
    match part:
        case "nodes":
            return list(look.view.nodes(held=True))
        case "mounts":
            return list(look.view.mounts())
        case "visits":
            visits = look.view.timeline()["visits"]
            assert isinstance(visits, list)
            return visits
        case _:
            found = () if look.saved is None else edges(look.saved)
            return [{"from": source, "on": when, "to": to} for source, when, to in found]
