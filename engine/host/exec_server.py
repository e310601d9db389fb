"""The process of a fork server, begun by exec: light enough to be a host's very first act."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from runwright.engine.host.unusable import unusable
from runwright.engine.run_mark import RUN_MARK
from runwright.engine.worker.marking import ROOM

#: Children that a fork server keeps ready.
IDLE: Final = 2


@frozen(kw_only=True)
class Start:
    """How a fork server is started.

    Attributes:
        interpreter: The Python.
        environment: What its children find in theirs.
        idle: How many children it keeps ready.
        afresh: Whether children are started afresh where they could be forked.
    """

    interpreter: str
    environment: Mapping[str, str]
    idle: int = IDLE
    afresh: bool = False


@frozen
class Begun:
    """A fork server on its way; it ends once the control socket closes.

    Attributes:
        process: Its process.
        control: The host's end.
    """

    process: "subprocess.Popen[bytes]"
    control: socket.socket


def begin_own() -> Begun:
    """Start that of this very interpreter, with this process's environment."""
    return begin(Start(interpreter=sys.executable, environment=own_environment()))


def begin(how: Start) -> Begun:
    """Start the process of a fork server, and wait for nothing.

    Raises:
        InterpreterUnusable: It cannot be run.
    """
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        try:
            return Begun(_exec(how, theirs.fileno()), ours)
        except OSError:
            ours.close()
            raise unusable(how.interpreter, "it cannot be run") from None


def _exec(how: Start, control: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 (the interpreter is the project's own)
        [
            how.interpreter,
            "-P",  # nothing is imported from the folder that the host happens to stand in
            "-m",
            "runwright.engine.worker.forkserver",
            str(control),
            str(how.idle),
            *(["--afresh"] if how.afresh else []),
        ],
        pass_fds=[control],
        env={**how.environment, RUN_MARK: ROOM},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def own_environment() -> dict[str, str]:
    """This process's own environment, for the children of its fork servers."""
    return dict(os.environ)
