"""The host of a state directory: reached where one lives, started where a command needs one."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from runwright.cli.failures import UNAVAILABLE, Failure, Refused
from runwright.cli.invocation import Invocation
from runwright.engine.run_mark import RUN_MARK

if TYPE_CHECKING:
    from runwright.engine.client.client import Client

T = TypeVar("T")

#: Seconds that steps under way get when a host is stopped, and further ones for it to give its store back.
GRACE, MARGIN = 10.0, 30.0
#: Seconds that another command may keep the store, and that many of them may in turn.
_TURN: Final = 2.0
_TURNS: Final = 30.0
#: How often a host that died is followed by another one for one command, and the seconds between two looks for it.
STARTS: Final = 3
_LOOK: Final = 1.0


def host_lives(call: Invocation) -> bool:
    """Whether a host serves the state directory right now."""
    from runwright.engine.client.connect import find_host

    return find_host(call.home) is not None


def stop_host(home: Path, client: "Client", grace: float, margin: float = MARGIN) -> bool:
    """Have the host of a state directory stop, and wait until it writes nothing there any more; whether it does not.

    Args:
        home: The state directory.
        client: A connection to its host, which somebody else may have told to stop as well.
        grace: Seconds for the steps under way.
        margin: Further seconds for the host itself.
    """
    from runwright.engine.protocol.errors import HostUnavailable
    from runwright.eventstore.home import Home
    from runwright.eventstore.lock import given_back, holder

    place = Home(home)
    process = holder(place)
    with suppress(HostUnavailable):
        client.host_stop(grace=grace)
    # The connection ends a moment before the store is free for whoever comes next.
    return client.gone(grace + margin) and given_back(place, process, wait=margin)


@contextmanager
def host_if_any(call: Invocation, *, staying: bool = False) -> "Iterator[Client | None]":
    """A connection to the host, and ``None`` where none lives.

    Args:
        call: The invocation.
        staying: Whether one that is about to stop is none: it takes nothing in that would go on there. Its end is
            waited for.
    """
    if staying and _leaves(call):
        yield None
        return
    client = _reached(call)
    if client is None:
        yield None
        return
    with client:
        yield client


def _reached(call: Invocation, *, patience: float | None = None) -> "Client | None":
    if not host_lives(call):
        return None
    from runwright.engine.client.client import PATIENCE, Client
    from runwright.engine.protocol.errors import HostUnavailable

    try:
        return Client.connect(call.home, client="cli", patience=PATIENCE if patience is None else patience)
    except HostUnavailable:
        if host_lives(call):
            raise
        return None  # it has ended since


def _leaves(call: Invocation) -> bool:
    """Whether there is a host that was told to stop; then it is gone."""
    from runwright.engine.protocol.errors import HostUnavailable

    client = _reached(call, patience=0.0)
    if client is None:
        return False
    with client:
        try:
            return client.host_status()["state"] == "draining" and client.gone(GRACE + MARGIN)
        except HostUnavailable:
            return not host_lives(call)


def when_free(call: Invocation, take: Callable[[], T]) -> T:
    """Take the store, once the commands that have it for a moment have given it back.

    Args:
        call: The invocation.
        take: Takes it, and raises where somebody has it, before anything else is done.

    Raises:
        StoreInUse: A host has it, or somebody who keeps it.
    """
    from runwright.eventstore.errors import StoreInUse
    from runwright.eventstore.home import Home
    from runwright.eventstore.lock import given_back

    until = time.monotonic() + _TURNS
    while True:
        try:
            return take()
        except StoreInUse as held:
            if host_lives(call) or time.monotonic() >= until:
                raise
            if not given_back(Home(call.home), held.pid, wait=_TURN):
                raise


@contextmanager
def needed_host(call: Invocation) -> "Iterator[Client]":
    """A connection to the host, which is started where none lives, and again where it is lost meanwhile.

    Raises:
        Refused: It does not serve: a program holds the store, for one.
    """
    from runwright.engine.client.client import Client

    if start_if_none(call):
        call.aside("Started a host in the background; `runwright host stop` ends it.")
    with Client.connect(call.home, client="cli", start=True) as client:
        yield client


def start_if_none(call: Invocation, *, old_host_gone: bool = False) -> bool:
    """Start a host in the background where none lives, and wait until it serves; whether it was started here.

    Args:
        call: The invocation.
        old_host_gone: Whether somebody vouches for it that nothing of an earlier one lives in another container.

    Raises:
        Refused: It does not serve, and why.
    """
    if host_lives(call):
        return False
    _check_store(call)
    from runwright.engine.host.starting import start_host
    from runwright.engine.host.unstarted import HostUnstarted

    command = [sys.executable, "-m", "runwright.cli.main", "host", "run"]
    command += ["--home", str(call.home), "--project", str(call.project)]
    command += ["--unsafe-filesystem"] if call.flags.unsafe_filesystem else []
    command += ["--old-host-gone"] if old_host_gone else []
    try:
        start_host(call.home, command=command)
    except HostUnstarted as error:
        if error.code == "store_in_use":
            raise held_elsewhere(call, error.message) from None
        raise
    if (run_id := os.environ.get(RUN_MARK)) is not None:
        call.out.say(
            f"This host was started inside run {run_id}, and ends with it. What it has taken in goes on with the next "
            "one; one that is to stay is started outside of a run: `runwright host start`."
        )
    return True


def host_died(call: Invocation) -> bool:
    """Whether a host ended without a word: one that is stopped takes its socket away."""
    from runwright.engine.client.connect import find_host, place_of

    place = place_of(call.home)
    return place is not None and place.is_socket() and find_host(call.home) is None


class NextHost:
    """Starts the next host where the one before it is gone, a few times for one command.

    Args:
        call: The invocation.
    """

    def __init__(self, call: Invocation) -> None:
        self._call = call
        self._left = STARTS
        self._looked = time.monotonic()

    def start(self) -> bool:
        """Start one where none lives; whether this did.

        Raises:
            Refused: It does not serve, and why.
        """
        if self._left == 0 or host_lives(self._call):
            return False
        self._left -= 1
        return start_if_none(self._call)

    def keep(self) -> None:
        """Start one where the last one died, while somebody thinks about an answer: deadlines go on meanwhile.

        Nothing is said, for a prompt stands on the screen; whoever answers hears why a host does not serve.
        """
        from runwright.engine.host.unstarted import HostUnstarted

        if time.monotonic() - self._looked < _LOOK:
            return
        self._looked = time.monotonic()
        if host_died(self._call):
            with suppress(Refused, HostUnstarted):
                self.start()


def _check_store(call: Invocation) -> None:
    """Refuse a store that no host could open, while nothing in its folder has been touched."""
    from runwright.engine.reading.reader import Reader
    from runwright.eventstore.errors import StoreMissing

    with suppress(StoreMissing):
        Reader.open(call.home).close()


def held_elsewhere(call: Invocation, message: str) -> Refused:
    """Somebody else holds the store, a host or a program that serves nobody: what can be done about it."""
    hint = (
        "A host holds it, and carries out what other commands ask of it. Leave --inline out, or stop it first: "
        "`runwright host stop`."
        if host_lives(call)
        else "That process drives its runs itself and serves no other command. Press Ctrl-C there to pause at the "
        "next step, wait with `runwright wait RUN`, or use another --home."
    )
    return Refused(Failure(code="store_in_use", message=message, hint=hint, exit_code=UNAVAILABLE))
