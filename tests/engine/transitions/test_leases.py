"""How long a claim lasts, and that a holder which stood still itself holds nobody to that time."""

from runwright.engine.transitions.leases import LEASE, Leases
from support.stage import TestClock


def leases() -> tuple[TestClock, Leases]:
    """Leases on a clock that a test moves."""
    clock = TestClock()
    return clock, Leases(clock.monotonic)


def test_a_lease_ends_without_a_renewal() -> None:
    """And one that ended cannot be renewed in effect: whoever renews has checked the claim before."""
    clock, held = leases()
    held.grant("run", 1)
    clock.advance(LEASE - 1)
    assert held.holds("run", 1)
    assert not held.holds("run", 2)
    held.renew("run", 1)
    clock.advance(LEASE - 1)
    assert held.holds("run", 1)
    clock.advance(1)
    assert not held.holds("run", 1)


def test_a_holder_that_stood_still_counts_none_of_that_time() -> None:
    """Three lease periods in which nobody could be heard."""
    clock, held = leases()
    held.beat()
    held.grant("run", 1)
    clock.advance(5)
    held.beat()
    clock.advance(3 * LEASE)
    assert held.holds("run", 1)
    for _ in range(4):
        held.beat()
        clock.advance(5)
    assert held.holds("run", 1)
    clock.advance(5)
    assert not held.holds("run", 1)


def test_standing_still_brings_back_no_lease_that_had_ended() -> None:
    """It was over while the holder was awake."""
    clock, held = leases()
    held.grant("run", 1)
    for _ in range(7):
        held.beat()
        clock.advance(5)
    assert not held.holds("run", 1)
    held.beat()
    clock.advance(3 * LEASE)
    assert not held.holds("run", 1)


def test_without_a_beat_all_time_counts() -> None:
    """A holder without workers of its own, or one that rests, is not looked after."""
    clock, held = leases()
    held.beat()
    held.rest()
    held.grant("run", 1)
    clock.advance(LEASE)
    assert not held.holds("run", 1)
