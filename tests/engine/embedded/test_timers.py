"""Timers fire when they are due, on the right clock, with one sleep at a time."""

from collections.abc import Callable

from runwright.engine.embedded.timers import WALL_CHECK, Timers

SECOND = 1_000_000


class Handle:
    """A planned call that can be taken back."""

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at = at
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        """Take it back."""
        self.cancelled = True


class World:
    """Both clocks and the loop, moved by hand."""

    def __init__(self) -> None:
        self.wall = 1_000 * SECOND
        self.steady = 50.0
        self.planned: list[Handle] = []
        self.fired: list[tuple[str, str]] = []
        self.timers = Timers(self, self, lambda run, kind: self.fired.append((run, kind)))  # type: ignore[arg-type]

    def now(self) -> int:
        """The wall clock."""
        return self.wall

    def monotonic(self) -> float:
        """The steady clock."""
        return self.steady

    def call_later(self, delay: float, call: Callable[[], None]) -> Handle:
        """Plan a call as a loop does."""
        handle = Handle(self.steady + delay, call)
        self.planned.append(handle)
        return handle

    @property
    def sleeps(self) -> list[float]:
        """How long the calls that are still planned are away."""
        return [handle.at - self.steady for handle in self.planned if not handle.cancelled]

    def advance(self, seconds: float, *, wall: float | None = None) -> None:
        """Let time pass; the wall clock may go its own way."""
        self.wall += int((seconds if wall is None else wall) * SECOND)
        self.steady += seconds
        for handle in list(self.planned):
            if not handle.cancelled and handle.at <= self.steady:
                self.planned.remove(handle)
                handle.call()


def test_sleeps_once_until_the_next() -> None:
    """However many timers are set, one call is planned, for the earliest."""
    world = World()
    world.timers.set("a", "wait", world.wall + 30 * SECOND)
    world.timers.set("b", "wait", world.wall + 10 * SECOND)
    world.timers.set("c", "retry", world.wall + 20 * SECOND)
    assert world.sleeps == [10.0]
    world.advance(10)
    assert world.fired == [("b", "wait")]
    assert world.sleeps == [10.0]


def test_overdue_fires_at_once() -> None:
    """A timer that fell due while nobody held the store fires as soon as it is restored."""
    world = World()
    world.timers.set("a", "wait", world.wall - SECOND)
    assert world.sleeps == [0.0]
    world.advance(0)
    assert world.fired == [("a", "wait")]


def test_relative_ignores_wall_jumps() -> None:
    """A jump of the wall clock moves no relative timer."""
    world = World()
    world.timers.set("a", "wait", world.wall + 100 * SECOND)
    world.advance(50, wall=7_200)
    assert world.fired == []
    world.advance(50, wall=-7_200)
    assert world.fired == [("a", "wait")]


def test_absolute_follows_the_wall() -> None:
    """A wait until a datetime looks at the wall clock at least once a minute and fires when it is reached."""
    world = World()
    world.timers.set("a", "wait", world.wall + 3_600 * SECOND, absolute=True)
    assert world.sleeps == [WALL_CHECK]
    world.advance(60)
    assert world.fired == []
    world.advance(60, wall=3_540)
    assert world.fired == [("a", "wait")]


def test_equal_timer_goes_on_counting() -> None:
    """Setting the same timer again does not start it anew, even after the wall clock was moved back."""
    world = World()
    due = world.wall + 10 * SECOND
    world.timers.set("a", "wait", due)
    world.advance(5, wall=-100)
    world.timers.set("a", "wait", due)
    assert world.sleeps == [5.0]


def test_replaced_and_dropped_timers_do_not_fire() -> None:
    """Only the last timer of a kind counts, and none of a run that ended."""
    world = World()
    world.timers.set("a", "wait", world.wall + SECOND)
    world.timers.set("a", "wait", world.wall + 5 * SECOND)
    world.timers.set("b", "run", world.wall + SECOND)
    world.timers.keep("b", frozenset())
    world.advance(2)
    assert world.fired == []
    world.advance(3)
    assert world.fired == [("a", "wait")]
    assert len(world.timers) == 0


def test_again_after_a_refusal() -> None:
    """A timer that the store could not take fires once more."""
    world = World()
    world.timers.set("a", "wait", world.wall)
    world.advance(0)
    world.timers.again("a", "wait", 1.0)
    world.advance(1)
    assert world.fired == [("a", "wait"), ("a", "wait")]


def test_closed_fires_nothing() -> None:
    """After close no timer fires."""
    world = World()
    world.timers.set("a", "wait", world.wall)
    world.timers.close()
    world.advance(1)
    assert world.fired == []
