"""How often something may happen: at once, and for long."""

from runwright.engine.bucket import Bucket
from support.stage import TestClock


def test_so_many_at_once_and_then_so_many_a_second() -> None:
    """What is refused is not counted, and what nobody used for long is no more than was there at first."""
    clock = TestClock()
    bucket = Bucket(3, 2, clock.monotonic)
    assert [bucket.take() for _ in range(5)] == [True, True, True, False, False]
    assert bucket.delay == 0.5
    clock.advance(0.5)
    assert bucket.delay == 0
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock.advance(3600)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
