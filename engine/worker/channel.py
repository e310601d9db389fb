"""A child's side of its channel: its own thread reads, another renews the lease, and its end is the child's end."""

import itertools
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, NoReturn

from runwright.engine import process_table
from runwright.engine.commands.worker import Authority, WorkerTransition
from runwright.engine.execution.calling import is_held
from runwright.engine.results import Adopted, Applied, Result
from runwright.engine.wire.frames import FrameReader
from runwright.engine.wire.parts import Assembler, frames_of
from runwright.engine.worker.envelope import Launch
from runwright.engine.worker.messages import (
    FROM_CHILD,
    FROM_HOST,
    Answer,
    Exiting,
    FromChild,
    FromHost,
    Renew,
    SayReady,
    Stop,
    Transact,
)
from runwright.engine.worker.transitions import from_data

#: The most bytes of a message from the host: a run's whole saved state.
MAX_FROM_HOST: Final = 2 * 1024**3
#: Seconds that what this child started may take to be killed at its end.
_LAST_GRACE: Final = 2.0
_PAUSE: Final = 0.005


class Channel:
    """Speaks with the host; never connects again.

    Args:
        connection: The socket.
        ended: Called, in the reading thread, when the host is gone or breaks the rules; ends the process.
    """

    def __init__(self, connection: socket.socket, ended: Callable[[], object] | None = None) -> None:
        self._socket = connection
        self._ended = ended or end_everything
        self._over = threading.Event()
        self._told: queue.SimpleQueue[FromHost] = queue.SimpleQueue()
        self._waiting: dict[int, Future[list[Result[object]]]] = {}
        self._ids = itertools.count(1)
        self._revision = 0
        self._launch: Launch | None = None
        self._sending = threading.Lock()
        #: Set once the host wants the run to stop at its next boundary.
        self.stopping = threading.Event()
        threading.Thread(target=self._read, name="runwright-channel", daemon=True).start()

    def receive(self) -> FromHost:
        """Wait for what the host says next, answers and stops aside."""
        told = self._told.get()
        if isinstance(told, Launch):
            self._launch = told
            renewing = threading.Thread(target=self._renew, args=(told.renewal,), name="runwright-renewal", daemon=True)
            renewing.start()
        return told

    def ready(self) -> None:
        """Say that everything was verified; the command is received next."""
        self._send(SayReady(**self._head()))

    def submit(self, authority: Authority, transitions: Sequence[WorkerTransition]) -> "Future[list[Result[object]]]":
        """Have transitions decided in order and committed together; from any thread.

        Args:
            authority: The claim of this channel's own launch.
            transitions: What is asked.
        """
        assert self._launch is not None
        assert authority == self._launch.authority, "a channel speaks for one claim"
        head = self._head()
        answer: Future[list[Result[object]]] = Future()
        answer.set_running_or_notify_cancel()
        self._waiting[head["id"]] = answer
        self._send(Transact(**head, transitions=tuple(transitions)))
        return answer

    def exiting(self, outcome: str, problem: str = "") -> None:
        """Say the last words."""
        self.send(Exiting(**self._head(), outcome=outcome, problem=problem))  # type: ignore[arg-type]

    def send(self, message: FromChild) -> None:
        """Send a message; waits while the host does not take it."""
        self._send(message)

    def _send(self, message: FromChild) -> None:
        try:
            for frame in frames_of(FROM_CHILD.write(message)):
                # Frame by frame, so that a renewal can go between the parts of a large message.
                with self._sending:
                    self._socket.sendall(frame)
        except OSError:
            self._end()

    def _head(self) -> dict[str, Any]:
        launch = self._launch
        assert launch is not None, "nothing is said before the launch"
        return {
            "run_id": launch.run_id,
            "generation": launch.generation,
            "worker": launch.worker,
            "id": next(self._ids),
            "revision": self._revision,
        }

    def _renew(self, pause: float) -> None:
        while not self._over.wait(pause):
            if is_held():
                continue  # a run that nothing here can carry on is given up with its lease
            with suppress(MemoryError):  # a lease lasts for three renewals: the next one may find some
                self._send(Renew(**self._head()))

    def _read(self) -> None:
        reader, assembler = FrameReader(), Assembler(MAX_FROM_HOST)
        try:
            while data := self._socket.recv(65536):
                for frame in reader.feed(data):
                    message = assembler.take(frame)
                    if message is not None:
                        self._take(FROM_HOST.read(message))
        except Exception:  # noqa: BLE001, S110
            # A host that is gone, one that cannot be understood, and one that cannot be heard because memory is full
            # are the same: nobody to work for.
            pass
        self._end()

    def _end(self) -> None:
        self._over.set()
        self._ended()

    def _take(self, message: FromHost) -> None:
        match message:
            case Answer():
                self._answered(message)
            case Stop():
                self.stopping.set()
            case _:
                self._told.put(message)

    def _answered(self, answer: Answer) -> None:
        waiting = self._waiting.pop(answer.id, None)
        if waiting is None:
            return
        results = from_data(answer.results)
        for result in results:
            if isinstance(result, Applied | Adopted):
                self._revision = max(self._revision, result.revision)
        waiting.set_result(results)


def end_everything() -> NoReturn:
    """End what this process started, and then itself, at once: nobody is left who could settle what it does."""
    own, until = os.getpid(), time.monotonic() + _LAST_GRACE
    try:
        while time.monotonic() < until:
            table = [each for each in process_table.every() if each.pid != own and not each.ended]
            mine = {each.pid: each for each in process_table.below([own], table)}
            mine |= {each.pid: each for each in table if each.session == own}
            if not mine:
                break
            for each in mine.values():
                process_table.send(each, signal.SIGKILL)
            time.sleep(_PAUSE)
    finally:
        os._exit(1)  # also where memory is full; whoever started this process ends what is left
