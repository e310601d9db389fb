"""Shows runs that the host drives, until they have ended or need somebody."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from runwright.cli.driving import Driven
from runwright.cli.following import follow, told
from runwright.cli.handing import Bound, Handed
from runwright.cli.hosted_changes import HostedChanges
from runwright.cli.hosting import STARTS, NextHost, host_lives
from runwright.cli.interview import Interview, answerable, asking_terminal
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.rendering.run_lines import GOES_ON
from runwright.cli.showing import Feeder, held, screen
from runwright.cli.terminal import NoMoreInput

if TYPE_CHECKING:
    from datetime import datetime
    from types import FrameType

    from runwright.cli.terminal import Terminal
    from runwright.engine.client.client import Client
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.status import Status


class Interrupts:
    """How often Ctrl-C was pressed: the first asks for a pause at the boundary, the second leaves.

    Attributes:
        count: How often.
    """

    def __init__(self) -> None:
        self.count = 0

    def pressed(self, _number: int, _frame: "FrameType | None") -> None:
        """Count one more."""
        self.count += 1


@contextmanager
def heeded_interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C from here on, instead of being ended by it."""
    interrupts = Interrupts()
    before = signal.signal(signal.SIGINT, interrupts.pressed)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def printed_by(call: Invocation, run_ids: Sequence[str]) -> dict[str, int]:
    """How many bytes each run's code has printed so far: what comes later is news."""
    return {run_id: size for run_id in run_ids if (size := _size(_log_of(call.home, run_id)))}


def show_hosted(
    call: Invocation,
    client: "Client",
    run_ids: Sequence[str],
    interrupts: Interrupts,
    *,
    timeout: float | None,
    after: int | None = None,
    printed: Mapping[str, int] = MappingProxyType({}),
) -> Driven:
    """Show runs that the host drives.

    Args:
        call: The invocation.
        client: A connection to the host; it starts one again where that is lost.
        run_ids: The runs.
        interrupts: What was pressed.
        timeout: Seconds to show them; the runs themselves go on.
        after: The position up to which nothing is news; by default everything is, from their first events on.
        printed: The bytes of what a run's code has printed that are no news.
    """
    with reading(call) as store:
        if after is None:
            after = min(each.position for run_id in run_ids for each in store.events(run_id, limit=1)) - 1
        with (
            told(call, store.log, after) as news,
            screen(call, store, run_ids, after) as feeder,
            asking_terminal(call) as terminal,
        ):
            carried = _Carried(call, client, store, feeder, interrupts, terminal, printed)
            found = follow(store, run_ids, news, feeder, rests=carried.rests, timeout=timeout, look=carried.look)
            carried.look(found)
        return Driven(statuses=found, left=interrupts.count > 1)


def needs_somebody(status: "Status") -> bool:
    """Whether nothing more happens to a run unless somebody does something about it; an answer aside."""
    if status.ended or status.status in ("paused", "ambiguous"):
        return True
    if status.held_back:
        return True
    reason = None if status.reason is None else status.reason.code
    if reason == "host_stopped":
        return not status.driven  # somebody stopped the host on purpose
    return status.queue_state == "parked" and not status.eligible and reason not in (None, "waiting", *GOES_ON)


class _Carried:
    """What a command that shows runs does beside it: Ctrl-C, what their code prints, and a host that died."""

    def __init__(
        self,
        call: Invocation,
        client: "Client",
        store: "Reader",
        feeder: Feeder | None,
        interrupts: Interrupts,
        terminal: "Terminal | None",
        printed: Mapping[str, int],
    ) -> None:
        self._call = call
        self._client = client
        self._store = store
        self._feeder = feeder
        self._printed = {run_id: _Tail(_log_of(call.home, run_id), size) for run_id, size in printed.items()}
        self._paused: set[str] = set()
        self._next_host = NextHost(call)
        #: Parks for want of what was handed over once, and whether it was taken again.
        self._parks: dict[tuple[str, datetime], bool] = {}
        self._interrupts = interrupts
        self._terminal = terminal

    def rests(self, status: "Status") -> bool:
        """Whether a run is followed no further: it needs somebody, and nobody can be asked here."""
        if status.reason is not None and self._parks.get((status.run_id, status.reason.since), False):
            return False  # it is about to go on
        return needs_somebody(status) or (self._terminal is None and bool(answerable(self._store, status)))

    def look(self, found: "list[Status]") -> bool:
        """Do what has to be done now; false once somebody left."""
        if self._interrupts.count > 1:
            return False
        if self._interrupts.count:
            self._pause([each for each in found if not each.ended])
        if self._feeder is not None:
            for each in found:
                self._show_printed(each.run_id, self._feeder)
        if any(self._lost(each) for each in found) and not host_lives(self._call):
            self._start_again(found)
        for each in found:
            self._hand_over_again(each)
        for each in found:
            self._ask(each)
        return True

    def _ask(self, status: "Status") -> None:
        """Have the person at this terminal answer what a run waits for; the screen holds still meanwhile."""
        if self._terminal is None or self._interrupts.count:
            return
        for request in answerable(self._store, status):
            # A host that came in the place of another one has nothing of what was handed over to that.
            handed = Handed.of(self._call, self._bound(status))
            with held(self._feeder):
                try:
                    interview = Interview(self._terminal, self._store, HostedChanges(self._client, handed))
                    interview.hold(request, self._asks_on)
                except NoMoreInput:
                    self._terminal = None
                    return

    def _asks_on(self) -> bool:
        """Whether the person is still to be asked; a host that dies meanwhile is followed by the next one."""
        self._next_host.keep()
        return not self._interrupts.count

    def _bound(self, status: "Status") -> Bound:
        return Bound.of(self._store.query("runs", where=[f"run_id={status.run_id}"]).items)

    def _hand_over_again(self, status: "Status") -> None:
        """Hand over what a run was started with where a host lacks it, and all of that is here; once for each park."""
        reason = status.reason
        if status.ended or status.eligible or reason is None or reason.code != "environment_missing":
            return
        park = (status.run_id, reason.since)
        tries = sum(run_id == status.run_id for run_id, _ in self._parks)
        if park in self._parks or tries == STARTS or self._interrupts.count:
            return
        bound = self._bound(status)
        handed = Handed.of(self._call, bound)
        here = handed.agents.keys() >= bound.agents and handed.pass_env.keys() >= bound.variables
        self._parks[park] = here and bool(bound.agents | bound.variables) and self._resume(status.run_id, handed)

    def _resume(self, run_id: str, handed: Handed) -> bool:
        """Have a run go on with what is handed over; a refusal shows in how the run stands."""
        from runwright.engine.errors import ConflictError, PreflightError, RecoveryRequiredError

        try:
            self._client.run_resume(run_id, agents=handed.agents, pass_env=handed.pass_env)
        except (ConflictError, PreflightError, RecoveryRequiredError):
            return False
        return True

    def _pause(self, statuses: "list[Status]") -> None:
        from runwright.engine.errors import ConflictError

        new = [each.run_id for each in statuses if each.run_id not in self._paused]
        if new and not self._paused:
            self._note("pausing at the next step; Ctrl-C again leaves now")
        for run_id in new:
            self._paused.add(run_id)
            try:
                self._client.run_pause(run_id)
            except ConflictError as error:
                if error.code == "not_started":
                    self._paused.discard(run_id)  # asked again, until it has begun

    def _lost(self, status: "Status") -> bool:
        """Whether a run was under way, and nobody drives it any more, though nobody stopped that."""
        stopped = status.reason is not None and status.reason.code == "host_stopped"
        return not (status.ended or status.driven or stopped)

    def _start_again(self, found: "list[Status]") -> None:
        if not self._next_host.start():
            return
        self._call.aside("The host is gone; a new one goes on.")
        for each in found:
            if self._lost(each) and each.started_at is None:  # it keeps its place whatever it lacks, and never parks
                self._resume(each.run_id, Handed.of(self._call, self._bound(each)))

    def _show_printed(self, run_id: str, feeder: Feeder) -> None:
        tail = self._printed.get(run_id)
        if tail is None:
            tail = self._printed[run_id] = _Tail(_log_of(self._call.home, run_id))
        for line in tail.lines():
            path, level, text = _parts(line)
            if not level:
                feeder.progress.printed(path, text)

    def _note(self, text: str) -> None:
        if self._feeder is not None:
            self._feeder.progress.note(text)


class _Tail:
    """The lines of a file as they come, from what is new on.

    Args:
        path: The file.
        place: The bytes at its beginning that are no news.
    """

    def __init__(self, path: Path, place: int = 0) -> None:
        self._path = path
        self._place = place
        self._rest = b""

    def lines(self) -> list[str]:
        """The lines since the last time; none while there is no such file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                new = file.read()
        except OSError:
            return []
        self._place += len(new)
        *whole, self._rest = (self._rest + new).split(b"\n")
        return [each.decode("utf-8", "replace") for each in whole]


def _log_of(home: Path, run_id: str) -> Path:
    from runwright.eventstore.home import Home

    return Home(home).run_folder(run_id) / "output.log"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it has printed nothing


def _parts(line: str) -> tuple[str, str, str]:
    """Whose a line is, its level where a logger wrote it, and its text."""
    source, _, text = line.partition(" ")[2].partition(": ")
    path, _, level = source.partition(" ")
    return path, level, text
