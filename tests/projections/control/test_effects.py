"""The state machine of side effects."""

import itertools

import pytest

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
from runwright.eventstore.events.event import Event
from runwright.projections.control.effects import EFFECTS, EffectRow
from runwright.projections.errors import ImpossibleEvent
from runwright.projections.rows import MemoryRows
from support.told import Teller, Told, effect_id

STREAM, NAME = "run/r1", effect_id(7)


def row(*events: Event, stream: str = STREAM) -> EffectRow:
    """Fold and answer the effect."""
    rows, teller = MemoryRows([EFFECTS]), Teller()
    for event in events:
        rows.apply(teller.tell(stream, event))
    found = rows.get(EFFECTS, NAME)
    assert found is not None
    return found


RESERVED = EffectReserved(effect=NAME, effect_type="mail", path="a", visit=1, fingerprint="f", contract="manual")
APPLYING = EffectApplying(effect=NAME, application=1, generation=3)
AGAIN = EffectApplying(effect=NAME, application=2, generation=4)
APPLIED = EffectApplied(effect=NAME, external_reference="x-1")
REJECTED = EffectRejected(effect=NAME, code="node_failed")
AMBIGUOUS = EffectAmbiguous(effect=NAME, cause="worker_crashed")
CANCELLED = EffectCancelled(effect=NAME, cause="run_cancelled")
RELEASED = EffectReleased(effect=NAME, cause="idempotent")
RESOLVED = EffectReleased(effect=NAME, cause="resolved")

WAYS: dict[str, list[Event]] = {
    "reserved": [RESERVED],
    "applying": [RESERVED, APPLYING],
    "applied": [RESERVED, APPLYING, APPLIED],
    "rejected": [RESERVED, APPLYING, REJECTED],
    "ambiguous": [RESERVED, APPLYING, AMBIGUOUS],
    "cancelled": [RESERVED, CANCELLED],
}
MOVES: dict[str, tuple[Event, set[str]]] = {
    "applying": (APPLYING, {"reserved"}),
    "applied": (APPLIED, {"applying", "ambiguous"}),
    "rejected": (REJECTED, {"applying", "ambiguous"}),
    "released": (RELEASED, {"applying"}),
    "resolved": (RESOLVED, {"ambiguous"}),
    "ambiguous": (AMBIGUOUS, {"applying"}),
    "cancelled": (CANCELLED, {"reserved", "ambiguous"}),
    "word": (EffectResolved(effect=NAME, resolution="done", by="cli"), {"ambiguous"}),
    "reserved": (RESERVED, set()),
}


@pytest.mark.parametrize(("state", "move"), list(itertools.product(WAYS, MOVES)))
def test_every_pair_of_state_and_move(state: str, move: str) -> None:
    """Exactly the moves of the page's drawing happen; every other pair is refused."""
    assert row(*WAYS[state]).state == state
    event, sources = MOVES[move]
    if state in sources:
        row(*WAYS[state], event)
    else:
        with pytest.raises(ImpossibleEvent):
            row(*WAYS[state], event)


def test_applications_count_one_by_one() -> None:
    """Each names its number and the generation it runs under."""
    found = row(RESERVED, APPLYING, RELEASED, AGAIN)
    assert (found.state, found.applications, found.generation) == ("applying", 2, 4)
    with pytest.raises(ImpossibleEvent, match="application 2"):
        row(RESERVED, APPLYING, RELEASED, APPLYING)


def test_evidence_never_comes_from_before_the_application() -> None:
    """A settlement fits under the application's generation or a later owner's, who observed it."""
    for generation in (3, 4):
        rows, teller = MemoryRows([EFFECTS]), Teller()
        for event in WAYS["ambiguous"]:
            rows.apply(teller.tell(STREAM, event))
        with pytest.raises(ImpossibleEvent, match="generation 3"):
            rows.apply(teller.tell(STREAM, APPLIED, generation=2))
        rows.apply(teller.tell(STREAM, APPLIED, generation=generation))
        found = rows.get(EFFECTS, NAME)
        assert found is not None
        assert (found.state, found.external_reference, found.cause) == ("applied", "x-1", None)


def test_a_settled_effect_knows_where_its_result_stands() -> None:
    """Request and result are positions."""
    found = row(*WAYS["applied"])
    assert (found.request, found.result, found.code) == (1, 3, None)
    assert row(*WAYS["rejected"]).code == "node_failed"


def test_an_effect_of_another_run_is_left_alone() -> None:
    """An event in another run's stream does not touch it."""
    rows, teller = MemoryRows([EFFECTS]), Teller()
    rows.apply(teller.tell(STREAM, RESERVED))
    other: Told = ("run/r2", APPLYING)
    with pytest.raises(ImpossibleEvent, match="another run"):
        rows.apply(teller.tell(*other))
