"""Events about accepted commands (stream ``command/<client>/<key>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Event, recorded


@recorded("command.settled")
@frozen(kw_only=True)
class CommandSettled(Event):
    """The receipt of an accepted command, committed with what it did.

    Attributes:
        operation: The operation's name, ``run.start``.
        fingerprint: HMAC of the payload under the key in the state directory, in hex.
        outcome: ``accepted`` or ``adopted``.
        run: The run it acted on or made.
        first: Position of the first event that the command appended, or ``None``.
    """

    operation: str
    fingerprint: str
    outcome: str
    run: str | None = None
    first: int | None = None
