"""One fork server as its host sees it: started by exec, asked for children, and told of their ends."""

import asyncio
import itertools
import logging
import signal
import socket
import subprocess
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, assert_never

from runwright import __version__
from runwright.engine.host.child import Child
from runwright.engine.host.exec_server import Begun, Start, begin
from runwright.engine.host.unusable import NoProcess, unusable
from runwright.engine.processes import is_alive
from runwright.engine.tasks import end_task, own_task
from runwright.engine.wire.errors import WireError
from runwright.engine.wire.frames import FrameReader, encode_frame
from runwright.engine.worker.control import (
    FROM_SERVER,
    TO_SERVER,
    Exited,
    FindOrphans,
    FromServer,
    Hello,
    Orphans,
    Spawn,
    Spawned,
    ToServer,
)
from runwright.eventstore.events.event import ProcessIdentity

_log = logging.getLogger("runwright.host")

#: Seconds that an interpreter has to import runwright's own code.
_START_UP: Final = 60.0
#: Seconds that a fork server has to end itself and everything of its own once its control socket is closed.
_END: Final = 15.0
_POLL: Final = 0.05
#: Seconds in which one that was asked has said something: an answer takes milliseconds. One that has not is listened to
#: for some more, as this process may itself have stood still, and is then taken for stopped.
_SILENCE: Final = 4.0
_HEARING: Final = 1.0


class ForkServer:
    """Made by `start`.

    Attributes:
        alive: Whether it can be asked for children.
        children: Those that live, by process ID.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", control: socket.socket, rests: Callable[[], object]) -> None:
        self.alive = True
        self.children: dict[int, Child] = {}
        self._rests = rests
        self._process = process
        self._control = control
        self._reader = FrameReader()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[FromServer | Child | None]] = {}
        #: The host's ends of channels that were sent to be handed over.
        self._offered: dict[int, socket.socket] = {}
        self._sending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        #: Since when nothing is heard of it that somebody waits for, and who looks how long that lasts.
        self._since = 0.0
        self._silence: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, how: Start, rests: Callable[[], object], begun: Begun | None = None) -> "ForkServer":
        """Start one and wait until it is there.

        Args:
            how: Which, and how.
            rests: Called whenever the last of its children has exited.
            begun: Its process, where that was begun already.

        Raises:
            InterpreterUnusable: Its interpreter is none, or has not this runwright.
        """
        if begun is None:
            begun = await asyncio.to_thread(begin, how)
        server = cls(begun.process, begun.control, rests)
        greeted = server._waiting[0] = asyncio.get_running_loop().create_future()
        server._begin(server._hear())
        try:
            async with asyncio.timeout(_START_UP):
                _check(how.interpreter, await greeted)
        except BaseException as error:
            await server.close()
            if isinstance(error, TimeoutError):
                raise unusable(how.interpreter, "it did not start in time") from None
            raise
        return server

    async def spawn(self) -> Child:
        """Have a child that leads its own process session and waits for its first message.

        Raises:
            NoProcess: The system gives no process now, or the fork server is gone.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        id = next(self._ids)
        self._offered[id] = ours
        with theirs:
            child = await self._ask(id, Spawn(id=id), theirs)
        if not isinstance(child, Child):
            self._withdraw(id)
            raise NoProcess
        return child

    async def orphans(self, pid: int) -> tuple[ProcessIdentity, ...]:
        """What is left of an ended child and has no parent; nothing where the fork server is gone and cannot tell."""
        id = next(self._ids)
        answer = await self._ask(id, FindOrphans(id=id, pid=pid))
        return answer.processes if isinstance(answer, Orphans) else ()

    async def close(self) -> None:
        """End it with everything of its own, and wait for that; where it was killed, for its children's own ends."""
        self.alive = False
        self._hang_up()
        self._process.send_signal(signal.SIGCONT)  # one that was stopped does not see its control socket close
        try:
            await asyncio.to_thread(self._process.wait, _END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        try:
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                end_task(task)

    # --- asking -----------------------------------------------------------------------------------------------

    async def _ask(self, id: int, message: ToServer, channel: socket.socket | None = None) -> FromServer | Child | None:
        """Ask; ``None`` where the server is gone, or was given up because nothing is heard of it."""
        if not self.alive:
            return None
        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._since = loop.time()
        answer: asyncio.Future[FromServer | Child | None] = loop.create_future()
        self._waiting[id] = answer
        if self._silence is None:
            self._silence = loop.call_later(_SILENCE, self._look)
        try:
            await self._send(message, channel)
            return await answer
        except OSError:
            self._give_up()
            return None
        finally:
            self._waiting.pop(id, None)

    def _look(self, before: float | None = None) -> None:
        """Look, while somebody waits for an answer, whether anything was heard of it since the last look."""
        self._silence = None
        if not self.alive or not self._waiting:
            return
        if self._since == before:
            self._give_up()
            return
        loop = asyncio.get_running_loop()
        left = self._since + _SILENCE - loop.time()
        self._silence = (
            loop.call_later(left, self._look) if left > 0 else loop.call_later(_HEARING, self._look, self._since)
        )

    def _give_up(self) -> None:
        """Kill it: it stands still, or is beside itself. Its children live on, and the next ones come from another."""
        _log.warning("a fork server was given up, and is replaced")
        self.alive = False
        self._process.kill()
        self._hang_up()

    def _hang_up(self) -> None:
        with suppress(OSError):  # it may have closed its own end
            self._control.shutdown(socket.SHUT_RDWR)

    async def _send(self, message: ToServer, channel: socket.socket | None) -> None:
        frame = encode_frame(TO_SERVER.write(message))
        async with self._sending:
            if channel is not None:
                # A descriptor goes with its frame's first bytes, of which the server has always taken those before.
                frame = frame[await self._hand(frame, channel) :]
            await asyncio.get_running_loop().sock_sendall(self._control, frame)

    async def _hand(self, frame: bytes, channel: socket.socket) -> int:
        """Send what there is room for of a frame, with a channel; answer how many bytes that was."""
        while True:
            try:
                return socket.send_fds(self._control, [frame], [channel.fileno()])
            except BlockingIOError:
                await _room(self._control)

    # --- hearing ----------------------------------------------------------------------------------------------

    async def _hear(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while data := await loop.sock_recv(self._control, 65536):
                for frame in self._reader.feed(data):
                    self._since = loop.time()
                    self._take(FROM_SERVER.read(frame))
        except OSError:
            pass  # gone: its children are served on, and the next one comes from another
        except WireError:
            self._give_up()
        finally:
            self._gone()

    def _take(self, message: FromServer) -> None:
        match message:
            case Hello():
                self._answer(0, message)
            case Orphans():
                self._answer(message.id, message)
            case Spawned():
                self._spawned(message)
            case Exited():
                self._ended(message.process.pid, message.status, alone=message.alone)
            case never:
                assert_never(never)

    def _answer(self, id: int, message: FromServer | Child | None) -> bool:
        """Answer whoever asked; whether anybody still waits."""
        waiting = self._waiting.pop(id, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(message)
        return True

    def _spawned(self, message: Spawned) -> None:
        if message.process is None:
            self._answer(message.id, None)
            return
        child = Child(message.process, self._offered.pop(message.id), self.orphans)
        self.children[child.identity.pid] = child
        if not self._answer(message.id, child):
            child.close()  # nobody waits for it any more: it ends by itself

    def _withdraw(self, id: int) -> None:
        offered = self._offered.pop(id, None)
        if offered is not None:
            offered.close()

    def _ended(self, pid: int, status: int | None, *, alone: bool = False) -> None:
        child = self.children.pop(pid, None)
        if child is not None:
            child.told_exit(status, alone=alone)
            if not self.children:
                self._rests()

    def _gone(self) -> None:
        self.alive = False
        self._control.close()
        for id in list(self._waiting):
            self._answer(id, None)
        for id in list(self._offered):
            self._withdraw(id)
        for child in list(self.children.values()):
            self._begin(self._watch(child))

    async def _watch(self, child: Child) -> None:
        """Look for the end of a child that nobody tells of any more."""
        while is_alive(child.identity):
            await asyncio.sleep(_POLL)
        self._ended(child.identity.pid, None)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = own_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _room(connection: socket.socket) -> None:
    """Wait until a socket takes more: many may be asking at once."""
    loop = asyncio.get_running_loop()
    there = asyncio.Event()
    loop.add_writer(connection, there.set)
    try:
        await there.wait()
    finally:
        loop.remove_writer(connection)


def _check(interpreter: str, greeting: FromServer | Child | None) -> None:
    if not isinstance(greeting, Hello):
        raise unusable(interpreter, "it has no runwright")
    if greeting.version != __version__:
        problem = f"it has runwright {greeting.version}, and this is {__version__}"
        raise unusable(interpreter, problem)
