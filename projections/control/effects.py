"""Side effects and how sure we are of them (`effects`)."""

from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.effect import (
    EffectAmbiguous,
    EffectApplied,
    EffectApplying,
    EffectCancelled,
    EffectRejected,
    EffectReleased,
    EffectReserved,
    EffectResolved,
)
from runwright.projections.projection import Index, Key, Projection, begins, changes, run_of
from runwright.projections.replace import replace

#: The states that each event may find, and the one it leaves. What is not here cannot happen.
MOVES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "effect.applying": (("reserved",), "applying"),
    "effect.applied": (("applying", "ambiguous"), "applied"),
    "effect.rejected": (("applying", "ambiguous"), "rejected"),
    "effect.released": (("applying", "ambiguous"), "reserved"),
    "effect.ambiguous": (("applying",), "ambiguous"),
    "effect.cancelled": (("reserved", "ambiguous"), "cancelled"),
}

#: Why an effect may be applied again, by the state it is released from.
RELEASES: Final = {"applying": ("try", "idempotent", "absent"), "ambiguous": ("resolved",)}


@frozen(kw_only=True, weakref_slot=False)
class EffectRow:
    """One managed effect; ``request`` and ``result`` are positions of the events that hold the values."""

    effect: str
    run_id: str
    effect_type: str
    path: str
    visit: int
    fingerprint: str
    contract: str
    #: ``reserved``, ``applying``, ``applied``, ``rejected``, ``ambiguous``, ``cancelled``.
    state: str
    applications: int
    generation: int | None
    external_reference: str | None
    code: str | None
    cause: str | None
    request: int
    result: int | None
    since: int


class Effects(Projection[EffectRow]):
    """The state machine of page "Effects".

    Decided here:

    * ``generation`` is that of the last application and stays: late evidence names it.
    * A settlement written under an earlier generation than the last application's does not fit; a later owner may
      settle what it observed.
    * ``cause`` is why the effect was last released, became ambiguous or was cancelled; settling it clears it.
    * `EffectResolved` says who decided what about an ambiguous effect; the event behind it moves the state.
    """

    name = "effects"
    row = EffectRow
    key_columns = ("effect",)
    indexes = (
        Index(columns=("run_id", "path", "visit", "effect_type"), unique=True, lasting=True),
        Index(columns=("state",), where={"state": ("ambiguous",)}),
    )

    def key(self, recorded: RecordedEvent) -> Key:
        """Answer the effect."""
        effect: str = recorded.event.effect  # type: ignore[attr-defined]  # all eight event classes have it
        return (effect,)

    @begins(EffectReserved)
    def reserved(self, event: EffectReserved, recorded: RecordedEvent) -> EffectRow:
        """The effect is recorded before it is tried."""
        return EffectRow(
            effect=event.effect,
            run_id=run_of(recorded),
            effect_type=event.effect_type,
            path=event.path,
            visit=event.visit,
            fingerprint=event.fingerprint,
            contract=event.contract,
            state="reserved",
            applications=0,
            generation=None,
            external_reference=None,
            code=None,
            cause=None,
            request=recorded.position,
            result=None,
            since=recorded.at,
        )

    @changes(EffectApplying)
    def applying(self, row: EffectRow, event: EffectApplying, recorded: RecordedEvent) -> EffectRow:
        """The next application begins."""
        state = self._move(row, recorded)
        if event.application != row.applications + 1:
            self.refuse(recorded, f"the next is application {row.applications + 1}")
        return replace(
            row,
            state=state,
            since=recorded.at,
            applications=event.application,
            generation=event.generation,
            cause=None,
        )

    @changes(EffectApplied)
    def applied(self, row: EffectRow, event: EffectApplied, recorded: RecordedEvent) -> EffectRow:
        """The effect happened, and its result stands here."""
        return replace(
            row,
            state=self._settle(row, recorded),
            since=recorded.at,
            external_reference=event.external_reference,
            cause=None,
            result=recorded.position,
        )

    @changes(EffectRejected)
    def rejected(self, row: EffectRow, event: EffectRejected, recorded: RecordedEvent) -> EffectRow:
        """The effect failed for good."""
        return replace(row, state=self._settle(row, recorded), since=recorded.at, code=event.code, cause=None)

    @changes(EffectReleased)
    def released(self, row: EffectRow, event: EffectReleased, recorded: RecordedEvent) -> EffectRow:
        """The effect may be applied again."""
        state = self._move(row, recorded)
        if event.cause not in RELEASES[row.state]:
            self.refuse(recorded, f"an effect that is {row.state} is not released for {event.cause}")
        return replace(row, state=state, since=recorded.at, cause=event.cause)

    @changes(EffectAmbiguous, EffectCancelled)
    def doubted(self, row: EffectRow, event: EffectAmbiguous | EffectCancelled, recorded: RecordedEvent) -> EffectRow:
        """Nobody can tell any more, or nobody needs it any more."""
        return replace(row, state=self._move(row, recorded), since=recorded.at, cause=event.cause)

    @changes(EffectResolved)
    def resolved(self, row: EffectRow, event: EffectResolved, recorded: RecordedEvent) -> EffectRow:
        """An operator decided; the next event moves the state."""
        if row.state != "ambiguous":
            self.refuse(recorded, f"the effect is {row.state}")
        return row

    def _settle(self, row: EffectRow, recorded: RecordedEvent) -> str:
        if recorded.generation is not None and recorded.generation < (row.generation or 0):
            self.refuse(recorded, f"its last application ran under generation {row.generation}")
        return self._move(row, recorded)

    def _move(self, row: EffectRow, recorded: RecordedEvent) -> str:
        sources, target = MOVES[recorded.type]
        if row.state not in sources:
            self.refuse(recorded, f"the effect is {row.state}")
        if row.run_id != run_of(recorded):
            self.refuse(recorded, "the effect belongs to another run")
        return target


EFFECTS = Effects()
