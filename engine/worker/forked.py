"""A child of the fork server: leads a process session of its own, and waits for the channel that it works for."""

import atexit
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from runwright.engine.worker.marking import keep_orphans

#: What a child says once it leads its session.
LEADS: Final = b"!"
#: What comes with the channel.
HANDED: Final = b">"
#: By how much rather than its host a child, with all that it starts, is ended when the system runs out of memory, in
#: thousandths of that memory (Linux).
_RATHER: Final = 100
_OOM_SCORE: Final = Path("/proc/self/oom_score_adj")


def become_child(handover: socket.socket) -> NoReturn:
    """Go on as a child, whether forked or started afresh; never returns.

    Args:
        handover: Where the channel comes in; its end means that nothing is left to do.
    """
    status = 1
    try:
        _leave_parent(handover.fileno())
        handover.sendall(LEADS)
        _rehearse(handover)
        channel = _channel(handover)
        if channel is None:
            status = 0
        else:
            # Imported by the fork server already; here for a child that was started afresh.
            from runwright.engine.worker.entry import serve

            status = serve(channel)
    finally:
        # Past everything that the fork server's own frames, further up, would do on the way out.
        os._exit(status)


def _leave_parent(handover: int) -> None:
    if os.getsid(0) != os.getpid():
        os.setsid()
    keep_orphans()
    with suppress(OSError, ValueError):  # where the system has no such thing
        _OOM_SCORE.write_text(str(min(1000, int(_OOM_SCORE.read_text()) + _RATHER)))
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    atexit._clear()
    os.closerange(3, handover)
    os.closerange(handover + 1, os.sysconf("SC_OPEN_MAX"))


def _rehearse(handover: socket.socket) -> None:
    """Do once what comes first, unless the channel is there already."""
    # Imported by the fork server already; here for a child that was started afresh.
    from runwright.engine.worker.rehearsal import rehearse

    if not select.select([handover], [], [], 0)[0]:
        rehearse()


def _channel(handover: socket.socket) -> socket.socket | None:
    told, descriptors, _, _ = socket.recv_fds(handover, 1, 1)
    handover.close()
    if told != HANDED or len(descriptors) != 1:
        return None
    channel = socket.socket(fileno=descriptors[0])
    channel.set_inheritable(False)
    return channel


if __name__ == "__main__":
    become_child(socket.socket(fileno=int(sys.argv[1])))
