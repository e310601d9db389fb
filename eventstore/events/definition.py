"""Events about what is run: compiled definitions and the source files behind them."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("definition.recorded")
@frozen(kw_only=True)
class DefinitionRecorded(Event):
    """A compiled definition, whole, in the stream ``definition/<digest>``."""

    workflow: str
    snapshot: Content | None = private()


@recorded("sources.recorded")
@frozen(kw_only=True)
class SourcesRecorded(Event):
    """A source set, in the stream ``sources/<digest>``; the body maps each path to its SHA-256."""

    files: int
    paths: Content | None = private()
