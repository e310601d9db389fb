"""Where it is told that a test and its workflow do not fit; the first that is told ends the run."""

import asyncio
from collections.abc import Callable
from typing import NoReturn

from runwright.engine.testing.errors import StandInMissing, StandInWrong


class Faults:
    """What does not fit, as it is found while a run goes on.

    Whoever tells of a fault from inside the run never gets an answer: an exception would be recorded as the node's own
    bad end, and the run would go on with it.

    Args:
        kind_of: The kind of the node at a path.
        end: Ends what is under way.
    """

    def __init__(self, kind_of: Callable[[str], str], end: Callable[[], None]) -> None:
        self._kind_of = kind_of
        self._end = end
        self.first: BaseException | None = None

    async def missing(self, path: str, said: str) -> NoReturn:
        """The test has nothing, or nothing more, for a node that was reached."""
        await self.tell(StandInMissing(path, self._kind_of(path), said))

    async def wrong(self, path: str, problem: str, give: str) -> NoReturn:
        """What the test has for a node does not fit it; as `StandInWrong.of`."""
        await self.tell(StandInWrong.of(path, self._kind_of(path), problem, give))

    async def tell(self, fault: BaseException) -> NoReturn:
        """Have the test end with an exception."""
        if self.first is None:
            self.first = fault
        self._end()
        await asyncio.get_running_loop().create_future()
        raise AssertionError("the run is over")
