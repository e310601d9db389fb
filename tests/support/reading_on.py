"""A process that reads a store beside its holder until it is told to stop."""

import multiprocessing
from pathlib import Path
from typing import Any

from runwright import Engine, StoreInUse
from runwright.engine.reading.reader import Reader

context = multiprocessing.get_context("forkserver")
# What an installed package can import; this module itself is on no path that the fork server knows.
context.set_forkserver_preload(["runwright.engine.embedded.engine"])


def read(home: str, done: Any, said: Any) -> None:
    """Ask what can be asked until told to stop; every answer is whole, and a write says who holds the store."""
    asked = 0
    try:
        with Reader.open(Path(home)) as reader:
            while not done.is_set():
                page = reader.runs(limit=10)
                for status in page.items:
                    assert status.run_id in {str(row["run_id"]) for row in reader.query("runs", limit=1000).items}
                head = reader.head().position
                assert sum(1 for _ in reader.events(after=max(0, head - 20))) >= min(20, head)
                asked += 1
        try:
            Engine.open(home)
        except StoreInUse as refused:
            said.put((asked, refused.code))
            return
        said.put((asked, "opened"))
    except BaseException as error:  # noqa: BLE001 - it is handed to the test
        said.put((asked, f"{type(error).__name__}: {error}"))
