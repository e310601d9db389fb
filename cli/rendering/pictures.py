"""One run as a picture that evolves with its events: `run`, `watch` and `show` all draw this one object."""

import json
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Self

from attrs import frozen

from runwright.cli.rendering.reasons import shown_word
from runwright.cli.rendering.run_lines import short_id
from runwright.cli.rendering.shapes import Place, Shape
from runwright.cli.rendering.text import one_line
from runwright.cli.rendering.under_way import OVERALL, UnderWay, declared_delay, never_again, update_words
from runwright.engine.reading.status import Status
from runwright.eventstore.values import JsonObject
from runwright.projections.control.mounts import MOUNTS, MountRow
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.visits import VISITS, VisitRow
from runwright.projections.views.lines import NO_SPECS, Specs
from runwright.projections.views.notices import Notices
from runwright.projections.views.run_view import RunView, node_state

if TYPE_CHECKING:
    from runwright.engine.graph.definition import Definition
    from runwright.eventstore.envelope import RecordedEvent

#: How many of the newest notes of a run are kept: the progress that it reported under names of its own.
_NOTES = 5


@frozen(kw_only=True)
class Standing:
    """How one place of the graph stands.

    Attributes:
        place: The node or mount.
        state: ``idle``, the run's word while it is open, or its last outcome; of a mount ``running`` while in it.
        current: Whether the run is there.
        visit: The facts of a node that was visited.
        entered: The facts of a mount that was entered.
        answered_by: Who answered its last question: ``agent``, ``person`` or ``policy``.
    """

    place: Place
    state: str
    current: bool = False
    visit: VisitRow | None = None
    entered: MountRow | None = None
    answered_by: str | None = None


class RunPicture:
    """One run, from its first event on.

    Args:
        run_id: The run.
        definition: What it was compiled to; ``None`` where that cannot be read: then only what was visited is known.
        specs: What `--agent` is given for executors in lines to type.

    Attributes:
        run_id: The run.
        shape: Its graph.
        under_way: What it does now.
        held: Whether a living process holds the store.
    """

    def __init__(self, run_id: str, definition: "Definition | None", specs: Specs = NO_SPECS) -> None:
        self.run_id = run_id
        self._specs = specs
        self.shape = Shape.of(definition)
        self.under_way = UnderWay(short_id(run_id), never_again if definition is None else declared_delay(definition))
        self.held = True
        nodes = {} if definition is None else {path: str(spec.kind) for path, spec in definition.nodes.items()}
        self._view = RunView(run_id, nodes)
        self._notes: dict[str, str] = {}

    def apply(self, recorded: "RecordedEvent") -> None:
        """Take the next event of the run's stream."""
        self._view.apply(recorded)
        data: JsonObject = json.loads(recorded.data)
        notice = self.under_way.take(recorded, data)
        if notice is None and recorded.type == "node.updated" and data["key"] != OVERALL:
            self._note(str(data["key"]), update_words(recorded.body))
        self._changed()

    def follow(self, events: "Iterable[RecordedEvent]") -> Self:
        """Take many events; answer the picture itself."""
        for recorded in events:
            self.apply(recorded)
        return self

    @property
    def revision(self) -> int:
        """The version of the run's stream that the picture stands at."""
        return self._view.revision

    @property
    def begun(self) -> bool:
        """Whether its first event has come."""
        return self._view.revision > 0

    @cached_property
    def status(self) -> Status:
        """The run's facts, worked out from its events."""
        return Status.of(self._view.standing(), held=self.held, specs=self._specs)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """How every place stands, in the order of the shape; what was visited and is not in it comes last."""
        word, known = shown_word(self.status), self.shape.places
        visited = sorted(path for _, path in self._view.rows.table(VISITS) if path not in known)
        others = (Place(path=path, name=path, kind="", depth=0) for path in map(str, visited))
        return tuple(self._standing(each, word) for each in (*known.values(), *others))

    @property
    def notices(self) -> Notices:
        """What it has told people."""
        return self.under_way.notices

    @property
    def notes(self) -> list[str]:
        """The newest reports of progress under names of their own, the newest last."""
        return list(self._notes.values())

    def set_around(self, *, held: bool, turn_open: bool) -> None:
        """Learn what the run's own events do not tell.

        Args:
            held: Whether a living process holds the store.
            turn_open: Whether a connected coordinator of its session has a turn of it open.
        """
        if (held, turn_open) != (self.held, self._view.turn_open):
            self.held, self._view.turn_open = held, turn_open
            self._changed()

    def document(self) -> JsonObject:
        """The run view as ``show --json`` prints it."""
        return {**self._view.document(held=self.held), "notifications": self.notices.document(self._view.rows)}

    def _standing(self, place: Place, word: str) -> Standing:
        rows = self._view.rows
        if place.mount:
            mount = rows.get(MOUNTS, self.run_id, place.path)
            if mount is None:
                return Standing(place=place, state="idle")
            state = word if mount.inside else mount.outcome or "completed"
            return Standing(place=place, state=state, current=mount.inside, entered=mount)
        visit = rows.get(VISITS, self.run_id, place.path)
        current = visit is not None and visit.open and not self.status.ended
        state, source = node_state(visit, word), None if visit is None else self._answered_by(visit)
        return Standing(place=place, state=state, current=current, visit=visit, answered_by=source)

    def _answered_by(self, visit: VisitRow) -> str | None:
        """Who answered the question of a visit that is over."""
        asked = self._view.rows.find(REQUESTS, path=visit.path, visit=visit.visits, state="accepted")
        return asked[-1].source if asked else None

    def _changed(self) -> None:
        self.__dict__.pop("status", None)
        self.__dict__.pop("standings", None)

    def _note(self, key: str, words: str) -> None:
        self._notes.pop(key, None)
        self._notes[key] = one_line(f"{key}  {words}")
        while len(self._notes) > _NOTES:
            del self._notes[next(iter(self._notes))]
