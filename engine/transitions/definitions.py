"""Compiled definitions by digest, read from the log once."""

from collections.abc import Callable
from typing import Final

from runwright.engine.graph.definition import Definition
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.projections.control.definitions import DEFINITIONS
from runwright.projections.rows import Rows

#: Definitions that are remembered; the one unused for longest goes.
REMEMBERED: Final = 128


class DefinitionUnreadable(Exception):
    """The log holds no definition of that digest that this version can read."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"definition {digest} cannot be read")
        self.digest = digest


class Definitions:
    """A cache over the log; what a digest names never changes."""

    def __init__(self, *, remembered: int = REMEMBERED) -> None:
        self._known: dict[str, Definition] = {}
        self._remembered = remembered

    def get(self, event_at: Callable[[int], RecordedEvent | None], rows: Rows, digest: str) -> Definition:
        """Answer a definition.

        Args:
            event_at: Answers the event at a position.
            rows: The control rows.
            digest: The definition's.

        Raises:
            DefinitionUnreadable: The log has none, or a newer version wrote it.
        """
        known = self._known.get(digest)
        if known is not None:
            return known
        row = rows.get(DEFINITIONS, digest)
        recorded = None if row is None else event_at(row.snapshot)
        event = None if recorded is None else recorded.event
        if not isinstance(event, DefinitionRecorded) or event.snapshot is None:
            raise DefinitionUnreadable(digest)
        try:
            definition = Definition.from_snapshot(event.snapshot.value)
        except ValueError:
            raise DefinitionUnreadable(digest) from None
        if len(self._known) >= self._remembered:
            del self._known[next(iter(self._known))]
        self._known[digest] = definition
        return definition
