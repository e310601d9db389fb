"""Pages of runs and of rows, as lists are printed."""

from attrs import frozen

from runwright.engine.reading.status import Status
from runwright.eventstore.values import JsonObject


@frozen(kw_only=True)
class RunsPage:
    """A page of runs, newest first; ``next`` is the cursor of the page behind it."""

    items: list[Status]
    position: int
    next: str | None

    def document(self) -> JsonObject:
        """The page as lists are printed."""
        return {"items": [each.document() for each in self.items], "position": self.position, "next": self.next}


@frozen(kw_only=True)
class RowsPage:
    """A page of rows of one projection, as people are shown them."""

    items: list[JsonObject]
    position: int
    next: str | None

    def document(self) -> JsonObject:
        """The page as lists are printed."""
        return {"items": list(self.items), "position": self.position, "next": self.next}
