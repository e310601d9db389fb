"""Places for what is quick as a rule: what takes long gives its place up, and holds up nobody behind it."""

import asyncio


class Places:
    """Lets a few work at once, and somewhat more once some of them have turned out to be slow.

    Args:
        few: How many quick ones there are at once.
        most: How many there are in all.
        quick: Seconds after which one is slow.
    """

    def __init__(self, *, few: int, most: int, quick: float) -> None:
        self._few = asyncio.Semaphore(few)
        self._most = asyncio.Semaphore(most)
        self._quick = quick

    async def take(self) -> "Place":
        """Wait for a place."""
        await self._few.acquire()
        try:
            await self._most.acquire()
        except BaseException:
            self._few.release()
            raise
        return Place(self._few, self._most, self._quick)


class Place:
    """Made by `Places.take`, for one that works.

    Args:
        few: The places of the quick.
        most: Those of all.
        quick: Seconds after which it is slow.
    """

    def __init__(self, few: asyncio.Semaphore, most: asyncio.Semaphore, quick: float) -> None:
        self._few = few
        self._most = most
        self._is_quick = True
        self._slow = asyncio.get_running_loop().call_later(quick, self._give_up)

    def close(self) -> None:
        """Give it back; called once."""
        self._slow.cancel()
        self._give_up()
        self._most.release()

    def _give_up(self) -> None:
        if self._is_quick:
            self._is_quick = False
            self._few.release()
