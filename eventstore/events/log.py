"""Events about the log itself (stream ``log``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("log.created")
@frozen(kw_only=True)
class LogCreated(Event):
    """The first event of every log."""

    product: str
    schema: int
    layout: str
    log_id: str


@recorded("log.redacted")
@frozen(kw_only=True)
class LogRedacted(Event):
    """The bodies of a terminal run tree were erased; ``run`` is its root, ``events`` how many."""

    run: str
    events: int
    by: str
    reason: Content | None = private()


@recorded("log.scrubbed")
@frozen(kw_only=True)
class LogScrubbed(Event):
    """A truncating checkpoint went through after an erasure: the bytes are gone from every file."""

    run: str
    events: int
    by: str


@recorded("log.imported")
@frozen(kw_only=True)
class LogImported(Event):
    """An operator adopted a copied, restored or imported store; the head it had then."""

    position: int
    hash: str
    by: str


@recorded("log.barrier")
@frozen(kw_only=True)
class LogBarrier(Event):
    """Proves after a COMMIT of unknown outcome which head the store really has."""

    position: int
    hash: str
    by: str
