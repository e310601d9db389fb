"""What rows hold that only one row may hold: the same check for every set of rows."""

from collections.abc import Callable
from typing import Any

from runwright.eventstore.envelope import RecordedEvent
from runwright.projections.errors import AlreadyHeld
from runwright.projections.projection import Index, Key, Projection

#: Asks the rows outside for who holds a value of a guard.
Lookup = Callable[[Index, Any], Key | None]


class Held:
    """Who holds what, of one projection, as far as it was asked or changed.

    A guard that lasts is left to the table's own constraint: what is never let go cannot be taken and given
    back between two writes, which is all that the constraint would miss.

    Args:
        projection: The projection whose guards are watched.
        lookup: Asks for a holder that is not known here; ``None`` when all rows pass through here.
    """

    def __init__(self, projection: Projection[Any], lookup: Lookup | None = None) -> None:
        self._projection = projection
        self._lookup = lookup
        self._guards = tuple((guard, {}) for guard in projection.guards if not guard.lasting)  # type: tuple[tuple[Index, dict[Any, Key | None]], ...]

    @property
    def watches(self) -> bool:
        """Whether there is anything to watch at all."""
        return bool(self._guards)

    def move(self, key: Key, before: Any, after: Any, recorded: RecordedEvent) -> list[tuple[Any, ...]]:
        """Note what a changed row lets go and takes.

        Args:
            key: The row's key.
            before: The row before, or ``None``.
            after: The row after, or ``None``.
            recorded: The event that changed it.

        Returns:
            What `undo` needs to take it back.

        Raises:
            AlreadyHeld: Another row holds what this one would take; nothing is noted then.
        """
        undo: list[tuple[Any, ...]] = []
        for guard, holders in self._guards:
            old = None if before is None else guard.held_by(before)
            new = None if after is None else guard.held_by(after)
            if old == new:
                continue
            if new is not None:
                holder = self._holder(guard, holders, new)
                if holder is not None and holder != key:
                    self.undo(undo)
                    raise AlreadyHeld(self._projection.name, recorded.type, recorded.position, guard.columns, holder)
                undo.append((holders, new, holders.get(new, _UNKNOWN)))
                holders[new] = key
            if old is not None:
                undo.append((holders, old, holders.get(old, _UNKNOWN)))
                holders[old] = None
        return undo

    def _holder(self, guard: Index, holders: dict[Any, Key | None], value: Any) -> Key | None:
        if value in holders:
            return holders[value]
        return None if self._lookup is None else self._lookup(guard, value)

    @staticmethod
    def undo(moves: list[tuple[Any, ...]]) -> None:
        """Take back what `move` noted."""
        for holders, value, holder in reversed(moves):
            if holder is _UNKNOWN:
                holders.pop(value, None)
            else:
                holders[value] = holder

    def forget(self) -> None:
        """Drop everything that is known."""
        for _, holders in self._guards:
            holders.clear()


_UNKNOWN: Any = object()
