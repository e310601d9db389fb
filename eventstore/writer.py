"""The one writer: units that wait together share a commit, and each is answered after it."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError

from runwright.eventstore import connected, database
from runwright.eventstore.envelope import Head
from runwright.eventstore.errors import LOST, StoreBusy, StoreError, StoreFull, StoreUnavailable
from runwright.eventstore.events.log import LogBarrier
from runwright.eventstore.materializer import Materializer
from runwright.eventstore.queue import Chore, Queue, Work
from runwright.eventstore.transaction import Batch, Salts, Tx, read_head

T = TypeVar("T")

#: Units that may share a commit.
MOST_UNITS = 256
#: Bytes of events after which a commit takes no further unit.
MOST_BYTES = 4 * 1024 * 1024

#: Who is said to have caused what the store records of itself.
STORE_ACTOR = "host:store"


class _GroundLostError(Exception):
    """The files under the store's names are no longer the ones that were opened."""


class Writer:
    """The thread that owns the one write connection.

    Args:
        path: The log's file.
        control: The rows that commit with the events.
        empty: The head that stands for a log without events.
        clock: UTC microseconds.
        random: Where salts come from.
        notify: Told the new head after each commit, and whether that erased anything, on the writer's thread.
        wal: Whether the store keeps a WAL.
    """

    def __init__(
        self,
        path: Path,
        control: Materializer,
        empty: Head,
        *,
        clock: Callable[[], int],
        random: Callable[[int], bytes],
        notify: Callable[[Head, bool], None],
        wal: bool = True,
    ) -> None:
        self.queue = Queue()
        self.failed: StoreError | None = None
        #: Called once when it gives up, on its own thread.
        self.gave_up: Callable[[], object] = lambda: None
        self._path = path
        self.wal = wal
        self._watched = [os.fspath(path), f"{path}-wal"] if wal else [os.fspath(path)]
        self._control = control
        self._empty = empty
        self._clock = clock
        self._salts = Salts(random)
        self._notify = notify
        self._versions: dict[str, int] = {}
        self._doubt: set[Head] = set()
        self._data_version = 0
        self._ground: tuple[connected.Identity | None, ...] | None = None
        self._connection = self._connect()
        self.head = read_head(self._connection) or empty
        self._thread = threading.Thread(target=self._run, name="runwright-writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish what waits, then close the connection."""
        self.queue.refuse_nested()
        self.queue.close()
        self._thread.join()

    def checkpoint(self, *, truncate: bool) -> bool:
        """Move the WAL into the file; answer whether all of it went. Only as a `Chore`."""
        self._execute("PRAGMA busy_timeout=0")  # an open reader is a reason to come back, not to wait
        try:
            ((busy, _, _),) = self._execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if truncate else 'PASSIVE'})")
        finally:
            self._execute(f"PRAGMA busy_timeout={database.BUSY_TIMEOUT}")
        return not busy

    def maintain(self, change: Callable[[sqlalchemy.Connection], T], beside: Path) -> T:
        """Change rows beside the log, in a transaction of its own. Only as a `Chore`.

        Args:
            change: Changes them on the connection it gets.
            beside: A database that the change finds attached as ``beside``.
        """
        try:
            self._driver.execute("ATTACH ? AS beside", (os.fsencode(beside.absolute()),))  # names need be no text
            self._begin()
            result = change(self._connection)
            self._check_ground()
            self._execute("COMMIT")
            self._forget()
            self._execute("DETACH beside")
        except BaseException:
            # Rows that follow from the log are right before and after it, whatever became of the COMMIT.
            self._back_out()
            self._reconnect()
            raise
        return result

    # --- the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        self.queue.writer = threading.get_ident()
        while (taken := self.queue.take(MOST_UNITS)) is not None:
            if isinstance(taken, Chore):
                self._do(taken)
            else:
                self._serve(taken)
        with suppress(StoreError, sqlite3.Error, SQLAlchemyError):
            # What closing could not do (a last checkpoint), the next opening does.
            self._connection.close()

    def _do(self, chore: Chore) -> None:
        try:
            result = chore.do()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever asked for the chore
            chore.future.set_exception(self._ours(error))
        else:
            chore.future.set_result(result)

    def _serve(self, works: list[Work]) -> None:
        try:
            self._commit_together(works)
        except BaseException as error:  # noqa: BLE001 - a caller must never wait for a writer that is gone
            self._give_up(self._ours(error))
        for work in works:
            if not work.future.done() and self.failed is not None:
                work.error = self.failed
                work.answer()

    def _commit_together(self, works: list[Work]) -> None:
        try:
            self._begin()
        except StoreError as error:
            self._answer(works, error)
            return
        batch = Batch(self._connection, self._control, self.head, self._versions, self._salts)
        ran = self._run_units(batch, works)
        try:
            if batch.empty:
                self._execute("ROLLBACK")
            else:
                batch.write()
                self._check_ground()
        except _GroundLostError:
            self._back_out()
            raise StoreUnavailable(LOST) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, the transaction goes, and each unit runs alone
            self._back_out()
            if len(ran) == 1:
                self._answer(ran, self._ours(error))
            else:
                for work in ran:
                    self._commit_together([work])
        else:
            self._finish(batch, ran)

    def _run_units(self, batch: Batch, works: list[Work]) -> list[Work]:
        """Run units on the overlay; those that find no room go back into the queue."""
        for index, work in enumerate(works):
            if index and batch.size > MOST_BYTES:
                self.queue.put_back(works[index:])
                return works[:index]
            mark = batch.mark()
            tx = Tx(batch, self._clock())
            try:
                work.result = work.unit(tx)
                work.error = None
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever handed the unit in
                batch.undo(mark)
                work.error = self._ours(error)
            finally:
                tx.end()
        return works

    def _finish(self, batch: Batch, ran: list[Work]) -> None:
        """Commit what was written, and answer."""
        if not batch.empty:
            try:
                self._execute("COMMIT")
            except StoreError as error:
                if isinstance(error, StoreBusy) and self._in_transaction:
                    self._back_out()  # a reader in DELETE mode: nothing was written yet
                else:
                    self._find_out(batch, ran, error)
                    return
                self._answer(ran, error)
                return
        batch.committed()
        self.head = batch.head
        for work in ran:
            work.answer()
        if not batch.empty:
            self._notify(self.head, batch.erases)

    # --- one transaction ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        if self._doubt:
            self._settle()
        self._execute("BEGIN IMMEDIATE")
        try:
            self._look_around()
        except StoreError:
            self._back_out()
            raise
        if self._ground is None:
            self._ground = self._look()

    def _look_around(self) -> None:
        """Notice what somebody else wrote: remembered rows may be old, and the log must be where it was left."""
        version = database.data_version(self._connection)
        if version != self._data_version:
            self._forget()
            self._data_version = version
            if (read_head(self._connection) or self._empty) != self.head:
                raise self._give_up(StoreUnavailable("another program wrote to the log"))

    def _check_ground(self) -> None:
        if not self._in_transaction:  # SQLite ended it by itself: a COMMIT now would say yes to nothing
            raise StoreUnavailable("the transaction was lost")
        if self._ground != self._look():
            raise _GroundLostError

    def _back_out(self) -> None:
        """End the transaction, whatever state it is in, and forget what depended on it."""
        self._forget()
        try:
            if self._in_transaction:
                self._execute("ROLLBACK")
        except StoreError:
            self._reconnect()

    def _forget(self) -> None:
        self._versions.clear()
        self._control.discard()

    @property
    def _in_transaction(self) -> bool:
        return self._driver.in_transaction

    def _execute(self, text: str) -> list[database.Row]:
        try:
            return self._driver.execute(text).fetchall()
        except sqlite3.Error as error:
            raise database.translate(error, self._path) from None

    # --- a COMMIT that failed -----------------------------------------------------------------------------

    def _find_out(self, batch: Batch, ran: list[Work], error: StoreError) -> None:
        """Learn by a barrier what became of a COMMIT that failed: an error is no proof that it did not happen."""
        before, after = self.head, batch.head
        self._doubt = {before, after}
        try:
            found = self._settle()
        except StoreError:
            self._answer(ran, StoreUnavailable("outcome unknown"))
            return
        if found == before:
            self._answer(ran, error)
        else:
            for work in ran:
                work.answer()
            self._notify(self.head, batch.erases)

    def _settle(self) -> Head:
        """Reopen, see which head the store has, commit a barrier behind it, and answer that head.

        Raises:
            StoreError: That did not succeed. The doubt remains; where the disk is full or the store locked,
                the next unit tries again before it runs, and else the writer gives up.
        """
        try:
            return self._commit_barrier()
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no barrier
            trouble = self._ours(error)
            if isinstance(trouble, StoreFull | StoreBusy):
                raise trouble from None
            raise self._give_up(trouble) from None

    def _commit_barrier(self) -> Head:
        self._reconnect()
        self._execute("BEGIN IMMEDIATE")
        found = read_head(self._connection) or self._empty
        if found not in self._doubt:
            raise StoreUnavailable("the log is not where it was left")
        batch = Batch(self._connection, self._control, found, self._versions, self._salts)
        barrier = LogBarrier(position=found.position, hash=found.hash.hex(), by=STORE_ACTOR)
        batch.append("log", batch.version("log"), [barrier], self._clock(), STORE_ACTOR, None, None)
        batch.write()
        self._doubt.add(batch.head)
        self._execute("COMMIT")
        self._doubt.clear()
        batch.committed()
        self.head = batch.head
        self._notify(self.head, False)
        return found

    # --- the connection -----------------------------------------------------------------------------------

    def _connect(self) -> sqlalchemy.Connection:
        connection = database.connect_writer(self._path, wal=self.wal)
        self._driver = database.driver(connection)
        self._ground = None
        self._data_version = database.data_version(connection)
        self._versions.clear()
        self._control.attach(connection)
        return connection

    def _reconnect(self) -> None:
        with suppress(StoreError, sqlite3.Error, SQLAlchemyError):
            # It is in trouble already, and nothing of it is used again.
            self._connection.close()
        self._connection = self._connect()

    def _look(self) -> tuple[connected.Identity | None, ...]:
        """Answer which files stand under the store's names."""
        return tuple([connected.identity(path) for path in self._watched])

    # --- answers ------------------------------------------------------------------------------------------

    def _answer(self, works: list[Work], error: BaseException) -> None:
        for work in works:
            work.error = error
            work.answer()

    def _give_up(self, error: BaseException) -> StoreError:
        """Serve nobody any more: what waits and whoever comes later hears why."""
        reason = error if isinstance(error, StoreError) else StoreUnavailable("the writer stopped")
        first, self.failed = self.failed is None, self.failed or reason
        for left in self.queue.close(self.failed):
            left.future.set_exception(self.failed)
        if first:
            self.gave_up()
        return self.failed

    def _ours(self, error: BaseException) -> BaseException:
        """Answer our error for a raw one of the database; others are their caller's own."""
        if isinstance(error, sqlite3.Error | SQLAlchemyError):
            return database.translate(error, self._path)
        return error
