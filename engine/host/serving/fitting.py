"""Pages that fit into a frame, whatever stands in them."""

from collections.abc import Iterable, Sequence

from runwright.engine.protocol.limits import MOST_ITEMS, PAGE_BYTES
from runwright.eventstore.errors import PayloadTooLarge
from runwright.eventstore.values import Json, encode


def size_of(item: Json) -> int:
    """The bytes of an item in a frame."""
    return len(encode(item).encode())


def fitted(items: Iterable[Json], *, most: int = MOST_ITEMS, budget: int = PAGE_BYTES) -> list[Json]:
    """The first items that a page has room for, and at least one.

    Raises:
        PayloadTooLarge: The first one alone is larger than a page may be.
    """
    found: list[Json] = []
    left = budget
    for item in items:
        if len(found) == most:
            break
        size = size_of(item)
        if size > left:
            if not found:
                raise PayloadTooLarge("One row", budget, size)
            break
        left -= size
        found.append(item)
    return found


def last_fitted(items: Sequence[Json], *, most: int = MOST_ITEMS, budget: int = PAGE_BYTES) -> list[Json]:
    """The last items that a page has room for, in their order; none where not even the last fits."""
    found: list[Json] = []
    for item in reversed(items[-most:] if most else []):
        budget -= size_of(item)
        if budget < 0:
            break
        found.append(item)
    return found[::-1]
