"""One bounded document per run: its nodes with their states, what it does now, what may be done with it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.mounts import MOUNTS, MountRow
from runwright.projections.control.visits import VISITS, VisitRow
from runwright.projections.replay import OF_RUN
from runwright.projections.rows import MemoryRows, Rows
from runwright.projections.shown import shown_time
from runwright.projections.views.status import Standing, display_status, standing, status_document
from runwright.projections.views.timeline import Timeline

#: Nodes that a document holds; of a larger graph the rest is counted.
MOST_NODES: Final = 500


class RunView:
    """One run, folded from its own stream on demand and kept while somebody looks.

    Args:
        run_id: The run.
        nodes: The full paths of its graph's nodes in the order to show them, with the kind of each; nodes that
            were visited and are not among them come after.

    Attributes:
        turn_open: Whether a connected coordinator has a turn of it open. That follows from its session's stream, too:
            whoever looks at both says it.
    """

    def __init__(self, run_id: str, nodes: Mapping[str, str] | None = None) -> None:
        self.run_id = run_id
        self.turn_open = False
        self.rows = MemoryRows(OF_RUN)
        self._nodes = dict(nodes or {})
        self._timeline = Timeline()
        self._revision = 0

    @property
    def revision(self) -> int:
        """The version of the run's stream that the view stands at; 0 before its first event."""
        return self._revision

    def apply(self, recorded: RecordedEvent) -> None:
        """Take the next event of the run's stream."""
        self.rows.apply(recorded)
        self._timeline.apply(recorded)
        self._revision = recorded.version

    def follow(self, events: Iterable[RecordedEvent]) -> "RunView":
        """Take many events; answer the view itself."""
        for recorded in events:
            self.apply(recorded)
        return self

    def standing(self) -> Standing:
        """Answer the facts that the run is shown by.

        Raises:
            RunUnknown: Its first event has not come yet.
        """
        return standing(
            self.rows,
            self.run_id,
            revision=self._revision,
            position=self.rows.position,
            turn_open=self.turn_open,
        )

    def document(self, *, held: bool) -> JsonObject:
        """Answer the whole document: status, nodes, mounts that were entered, and timeline.

        Args:
            held: Whether a process holds the store and can have the run's worker at work right now.

        Raises:
            RunUnknown: Its first event has not come yet.
        """
        nodes = self.nodes(held=held)
        kept: Sequence[Json] = nodes[:MOST_NODES]
        mounts: Sequence[Json] = self.mounts()[:MOST_NODES]
        return {
            "status": self.status(held=held),
            "nodes": list(kept),
            "nodes_left_out": len(nodes) - len(kept),
            "mounts": list(mounts),
            "timeline": self.timeline(),
        }

    def status(self, *, held: bool) -> JsonObject:
        """Answer the run's status; raises as `document`."""
        return status_document(self.standing(), held=held)

    def nodes(self, *, held: bool) -> list[JsonObject]:
        """Answer every node, however many; raises as `document`."""
        of = self.standing()
        return _nodes(self.rows, of, self._nodes, display_status(of, held=held))

    def mounts(self) -> list[JsonObject]:
        """Answer every mount that was entered."""
        return [_mount(each) for each in self.rows.find(MOUNTS, run_id=self.run_id)]

    def timeline(self) -> JsonObject:
        """Answer the visits in the order in which they began, and how many older ones are left out."""
        return self._timeline.document()


def node_state(row: VisitRow | None, status: str) -> str:
    """Answer what a node is shown as: ``idle``, the run's display status while it is open, or its last outcome."""
    if row is None:
        return "idle"
    return status if row.open else row.outcome or "idle"


def _nodes(rows: Rows, of: Standing, known: Mapping[str, str], status: str) -> list[JsonObject]:
    visits = {each.path: each for each in rows.find(VISITS, run_id=of.run.run_id)}
    paths = [*known, *sorted(visits.keys() - known.keys())]
    return [_node(path, known.get(path), visits.get(path), of, status) for path in paths]


def _node(path: str, kind: str | None, row: VisitRow | None, of: Standing, status: str) -> JsonObject:
    """Answer one node."""
    return {
        "node": path,
        "kind": row.kind if row is not None else kind,
        "state": node_state(row, status),
        "current": row is not None and row.open and of.run.finished_at is None,
        "visits": 0 if row is None else row.visits,
        "attempt": None if row is None else row.attempt or None,
        "outcome": None if row is None else row.outcome,
        "code": None if row is None else row.code,
        "started_at": None if row is None else shown_time(row.started_at),
        "finished_at": None if row is None or row.open else shown_time(row.finished_at),
        "deadline": None if row is None else shown_time(row.deadline),
    }


def _mount(row: MountRow) -> JsonObject:
    return {
        "mount": row.path,
        "inside": row.inside,
        "invocations": row.invocation,
        "exit": row.exit,
        "outcome": row.outcome,
        "code": row.code,
        "entered_at": shown_time(row.entered_at),
        "exited_at": shown_time(row.exited_at),
    }
