"""The fork server: one thread that forks children from an interpreter with our code and nobody else's.

It is started by exec with a control socket, and ends, with everything of its own, when that closes.
"""

import gc
import os
import selectors
import signal
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from typing import Final, NoReturn, assert_never

from attrs import frozen

from runwright import __version__
from runwright.engine import process_table
from runwright.engine.processes import identify, own_identity
from runwright.engine.run_mark import RUN_MARK
from runwright.engine.sources.recording import look_around
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
)
from runwright.engine.worker.forked import HANDED, LEADS, become_child
from runwright.engine.worker.marking import ROOM, keep_orphans, take_room, wake_with_parents_end
from runwright.eventstore.events.event import ProcessIdentity

#: Seconds that what is left at the end may take to go.
_LAST_GRACE: Final = 10.0
_PAUSE: Final = 0.005
#: Where forking a process that has used the system's own frameworks is not safe, each child is started afresh.
FORKS: Final = sys.platform != "darwin"


@frozen
class _Idle:
    """A child that waits for its channel."""

    process: ProcessIdentity
    handover: socket.socket


class ForkServer:
    """Keeps a few children ready, hands them their channels, and tells of their ends.

    Args:
        control: The host's end closes when nothing is wanted any more.
        idle: How many children are kept ready.
        forks: Whether children are forked, and not started afresh.
        keeps: Whether processes whose parent ends are given to this one.
    """

    def __init__(self, control: socket.socket, *, idle: int, forks: bool, keeps: bool) -> None:
        self._control = control
        self._wanted = idle
        self._forks = forks
        self._keeps = keeps
        self._reader = FrameReader()
        self._channels: deque[int] = deque()
        self._idle: deque[_Idle] = deque()
        self._handed: dict[int, ProcessIdentity] = {}
        #: Whose each orphan is.
        self._orphans: dict[int, int] = {}
        #: Whether some of them ended while they were looked at: they may have left others.
        self._passing = False
        self._wake, self._woken = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._selector.register(self._wake, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the control socket closes; nothing of its own lives after it."""
        self._watch_children()
        try:
            self._say(Hello(version=__version__, process=own_identity()))
            while True:
                lacking = len(self._idle) < self._wanted
                ready = [key.fd for key, _ in self._selector.select(0 if lacking else None)]
                if self._wake in ready:
                    os.read(self._wake, 4096)
                    self._reap()
                if self._control.fileno() in ready and not self._hear():
                    return
                if lacking and not ready and (child := self._start()) is not None:
                    self._idle.append(child)
        except (BrokenPipeError, ConnectionResetError):
            return  # the host is gone, which ends this server
        finally:
            self._end_everything()

    def _watch_children(self) -> None:
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, _quit)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)

    # the host

    def _hear(self) -> bool:
        """Do what the host asks; whether it is still there."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 16)
        self._channels.extend(descriptors)
        for frame in self._reader.feed(data):
            match TO_SERVER.read(frame):
                case Spawn(id=id):
                    self._say(Spawned(id=id, process=self._hand_over(self._channels.popleft())))
                case FindOrphans(id=id, pid=pid):
                    self._say(Orphans(id=id, processes=self._left_of(pid)))
                case never:
                    assert_never(never)
        return bool(data)

    def _say(self, message: FromServer) -> None:
        self._control.sendall(encode_frame(FROM_SERVER.write(message)))

    # children

    def _hand_over(self, channel: int) -> ProcessIdentity | None:
        try:
            while (child := self._idle.popleft() if self._idle else self._start()) is not None:
                with child.handover, suppress(OSError):  # one that has died meanwhile; the next one is as good
                    if child.handover.recv(1) == LEADS:
                        socket.send_fds(child.handover, [HANDED], [channel])
                        self._handed[child.process.pid] = child.process
                        return child.process
            return None
        finally:
            os.close(channel)

    def _start(self) -> _Idle | None:
        """Start a child; ``None`` where the system gives no process now."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = self._fork(theirs) if self._forks else _spawn(theirs)
            except OSError:
                self._wanted = 0  # not asked for again until a child is really needed
                ours.close()
                return None
        process = identify(pid)
        if process is None:
            ours.close()
            return None
        return _Idle(process, ours)

    def _fork(self, theirs: socket.socket) -> int:
        pid = os.fork()
        if pid == 0:
            become_child(theirs)
        return pid

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._orphans.pop(pid, None)
            for child in [each for each in self._idle if each.process.pid == pid]:
                self._idle.remove(child)
                child.handover.close()
            process = self._handed.pop(pid, None)
            if process is not None:
                # Everything that has no other parent now was this child's: each keeps the orphans of its own.
                self._left_of(pid)
                alone = self._keeps and not self._orphans and not self._passing
                self._say(Exited(process=process, status=os.waitstatus_to_exitcode(status), alone=alone))

    def _left_of(self, pid: int) -> tuple[ProcessIdentity, ...]:
        known = {child.process.pid for child in self._idle} | self._handed.keys()
        named = {orphan: identify(orphan) for orphan in process_table.children() if orphan not in known}
        living = {orphan: process for orphan, process in named.items() if process is not None}
        self._passing = len(living) < len(named)
        self._orphans = {orphan: self._orphans.get(orphan, pid) for orphan in living}
        return tuple(process for orphan, process in living.items() if self._orphans[orphan] == pid)

    # the end

    def _end_everything(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        until = time.monotonic() + _LAST_GRACE
        groups = set(self._handed)  # each leads its session and a group
        while time.monotonic() < until:
            for each in process_table.below([os.getpid()], list(process_table.every())):
                if not each.ended:
                    process_table.send(each, signal.SIGKILL)
                    groups.add(each.group)
            while groups:
                process_table.kill_group(groups.pop())
            try:
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            except ChildProcessError:
                return  # nothing is left
            time.sleep(_PAUSE)


def _spawn(theirs: socket.socket) -> int:
    theirs.set_inheritable(True)
    argv = [sys.executable, "-P", "-m", "runwright.engine.worker.forked", str(theirs.fileno())]
    return os.posix_spawn(sys.executable, argv, {**os.environ, RUN_MARK: ROOM})


def _quit(*_: object) -> NoReturn:
    raise SystemExit


def main() -> None:
    """Serve the control socket whose descriptor is the first argument; the second says how many are kept ready."""
    take_room()
    keeps = keep_orphans()
    wake_with_parents_end()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    import runwright.engine.worker.entry  # noqa: F401 (what every child needs is there before it is forked)
    from runwright.engine.worker.rehearsal import rehearse

    look_around()
    rehearse()
    gc.collect()
    gc.freeze()  # no collection of a child's touches, and so copies, what all of them share
    ForkServer(control, idle=int(sys.argv[2]), forks=FORKS and "--afresh" not in sys.argv[3:], keeps=keeps).run()


if __name__ == "__main__":
    main()
