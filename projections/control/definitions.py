"""Compiled definitions that runs refer to (`definitions`)."""

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.definition import DefinitionRecorded
from runwright.projections.projection import Key, Projection, begins


@frozen(kw_only=True, weakref_slot=False)
class DefinitionRow:
    """One definition; ``snapshot`` is the position of the event that holds it."""

    digest: str
    workflow: str
    snapshot: int


class Definitions(Projection[DefinitionRow]):
    """Each definition once, under its digest."""

    name = "definitions"
    row = DefinitionRow
    key_columns = ("digest",)

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the digest, which the stream names."""
        return (recorded.stream.removeprefix("definition/"),)

    @begins(DefinitionRecorded)
    def recorded(self, event: DefinitionRecorded, recorded: RecordedEvent) -> DefinitionRow:
        """The definition is known."""
        return DefinitionRow(
            digest=recorded.stream.removeprefix("definition/"),
            workflow=event.workflow,
            snapshot=recorded.position,
        )


DEFINITIONS = Definitions()
