"""Progress updates are bounded in rate, size and number, and the newest of a key wins."""

from runwright.engine.execution.updates import UpdateBuffer
from runwright.engine.progress import A_SECOND, BURST, MAX_UPDATE, MOST_NAMES


class Clock:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Now."""
        return self.now


def buffer() -> tuple[UpdateBuffer, Clock, list[None]]:
    """An empty buffer, its clock, and a note for each time it asked to be emptied."""
    clock = Clock()
    wakes: list[None] = []
    return UpdateBuffer(clock, lambda: wakes.append(None)), clock, wakes


def test_the_newest_of_a_key_wins() -> None:
    """Between two writes a key keeps its last update, in the order of the last news."""
    updates, _, wakes = buffer()
    for key, value in (("a", 1), ("b", 1), ("a", 2)):
        updates.put("n", 1, 1, key, value)
    assert [(each.key, each.update) for each in updates.take("n", 1, 1)] == [("b", 1), ("a", 2)]
    assert len(wakes) == 1
    updates.put("n", 1, 1, "a", 3)
    assert len(wakes) == 2


def test_a_burst_and_then_a_rate() -> None:
    """A hundred at once, then twenty a second."""
    updates, clock, _ = buffer()
    for number in range(BURST + 10):
        updates.put("n", 1, 1, f"k{number}", 0)
    assert len(updates.take("n", 1, 1)) == BURST
    assert updates.take("n", 1, 1) == []
    assert updates.delay == 1 / A_SECOND
    clock.now = 0.25
    assert len(updates.take("n", 1, 1)) == 5


def test_an_update_waits_for_its_attempt() -> None:
    """What comes before the attempt's start is written after it; what comes after its end never."""
    updates, _, _ = buffer()
    updates.put("n", 1, 2, "a", 1)
    assert updates.take("n", 1, 1) == []
    assert [each.attempt for each in updates.take("n", 1, 2)] == [2]
    updates.put("n", 1, 2, "a", 2)
    updates.end("n", 1, 2)
    updates.put("n", 1, 2, "a", 3)
    assert updates.take("n", 1, 2) == []
    assert updates.delay is None


def test_what_is_over_a_limit_is_left_out() -> None:
    """Too large, too many keys, or no JSON: counted and left out, because progress must not fail a node."""
    updates, _, _ = buffer()
    updates.put("n", 1, 1, "a", "x" * MAX_UPDATE)
    updates.put("n", 1, 1, "a", float("nan"))
    for number in range(MOST_NAMES + 1):
        updates.put("n", 1, 1, f"k{number}", 0)
    assert updates.refused == 3
