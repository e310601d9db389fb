"""The loop of an engine for programs without one, on a thread of its own."""

import asyncio
import logging
import threading

from runwright.engine.tasks import end_task, new_loop

_log = logging.getLogger("runwright.engine")


class Background(threading.Thread):
    """Runs a loop until `end`, whatever a task or a callback of the user's on it does.

    Without that, one that stops the loop, or lets SystemExit out of a task, would leave every caller waiting for ever.
    """

    def __init__(self) -> None:
        super().__init__(name="runwright-engine", daemon=True)
        self.loop = new_loop()
        self._over = False
        self.start()

    def run(self) -> None:
        """Serve the loop; in the thread."""
        while not self._over:
            try:
                self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                _log.warning("%s got out of a task on the engine's loop", type(error).__name__)

    def end(self) -> None:
        """Stop the loop and everything that is left on it; twice does no harm."""
        if self.loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._finish(), self.loop).result()
        self.loop.call_soon_threadsafe(self._stop)
        self.join()
        self.loop.close()

    async def _finish(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            end_task(task)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.loop.shutdown_asyncgens()

    def _stop(self) -> None:
        self._over = True
        self.loop.stop()
