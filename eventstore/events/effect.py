"""Events about side effects (stream ``run/<run ID>``)."""

from attrs import frozen

from runwright.eventstore.events.event import Content, Event, private, recorded


@recorded("effect.reserved")
@frozen(kw_only=True)
class EffectReserved(Event):
    """An effect was recorded before it is tried.

    Attributes:
        effect: The effect ID (64 hex digits).
        effect_type: The effect type.
        path: The node's full path.
        visit: The visit.
        fingerprint: HMAC of the canonical request under the run tree's key, in hex.
        contract: ``manual``, ``idempotent`` or ``observed``.
        request: The effect request (application/json).
    """

    effect: str
    effect_type: str
    path: str
    visit: int
    fingerprint: str
    contract: str
    request: Content | None = private()


@recorded("effect.applying")
@frozen(kw_only=True)
class EffectApplying(Event):
    """Application number ``application`` of an effect began under a generation."""

    effect: str
    application: int
    generation: int


@recorded("effect.applied")
@frozen(kw_only=True)
class EffectApplied(Event):
    """An effect happened; ``result`` is the node's output."""

    effect: str
    external_reference: str | None = None
    result: Content | None = private()


@recorded("effect.rejected")
@frozen(kw_only=True)
class EffectRejected(Event):
    """An effect failed for good."""

    effect: str
    code: str
    error: Content | None = private()


@recorded("effect.released")
@frozen(kw_only=True)
class EffectReleased(Event):
    """An effect may be applied again; ``cause`` is ``try``, ``idempotent``, ``absent`` or ``resolved``."""

    effect: str
    cause: str


@recorded("effect.ambiguous")
@frozen(kw_only=True)
class EffectAmbiguous(Event):
    """Nobody can tell whether an effect happened."""

    effect: str
    cause: str


@recorded("effect.cancelled")
@frozen(kw_only=True)
class EffectCancelled(Event):
    """An effect that was not applied went with its visit or its run."""

    effect: str
    cause: str


@recorded("effect.resolved")
@frozen(kw_only=True)
class EffectResolved(Event):
    """An operator said what became of an ambiguous effect (``done``, ``not_done``, ``timed_out``).

    The event that moves the state (``effect.applied``, ``.released``, ``.rejected``, ``.cancelled``) follows
    in the same append.
    """

    effect: str
    resolution: str
    by: str
    reason: Content | None = private()
