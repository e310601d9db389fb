"""What `demo` shows: a run through a host of its own, its worker killed, the recovery, and the replay."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, frozen

from runwright.cli.failures import Failure, Refused
from runwright.cli.following import follow, told
from runwright.cli.hosting import stop_host
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.showing import screen
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.status import Status
    from runwright.eventstore.events.event import ProcessIdentity

_TEMPLATE = Path(__file__).parent / "templates" / "report.py"
#: The node whose worker is killed, and how many of its reports of progress are waited for before.
_VICTIM, _REPORTS = "count_lines", 3
#: Seconds that all of it may take at most, and that the host has to end.
_LIMIT, _END = 60.0, 15.0
#: What is told of the log around the kill.
_TOLD = frozenset(
    {"worker.launched", "worker.ready", "worker.exited", "run.parked", "run.eligible", "run.claimed", "run.completed"}
)
_WHO = ("-c", "user.name=demo", "-c", "user.email=demo@example.org", "-c", "commit.gpgsign=false")


@frozen(kw_only=True)
class Shown:
    """What came of it.

    Attributes:
        status: How the run ended.
        workers: How many workers it took.
        killed_at: The position of the log at which the worker was killed; ``None`` where it was too quick for that.
    """

    status: str
    workers: int
    killed_at: int | None

    @property
    def recovered(self) -> bool:
        """Whether the run completed although its worker was killed."""
        return self.status == "completed" and self.killed_at is not None

    def document(self) -> JsonObject:
        """What ``--json`` prints."""
        return {"status": self.status, "workers": self.workers, "killed_at": self.killed_at}


def copy_repository(here: Path, target: Path) -> bool:
    """Make a copy of the repository around a folder, or a tiny one where there is none; whether there was one.

    Raises:
        Refused: There is no git.
    """
    if shutil.which("git") is None:
        raise Refused.usage("The demo needs git, and there is none on the PATH.", "Install git, then try again.")
    if _git("-C", str(here), "rev-parse", "--verify", "--quiet", "HEAD"):
        root = subprocess.run(  # noqa: S603 (git, found on the PATH)
            ["git", "-C", str(here), "rev-parse", "--show-toplevel"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        ).stdout.rstrip("\n")
        if root and _git("clone", "--quiet", "--no-hardlinks", root, str(target)):
            return True
        shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for number in range(30):
        (target / f"chapter-{number:02}.md").write_text(f"# Chapter {number}\n" + "A line.\n" * number)
    _git("init", "--quiet", str(target))
    _git("-C", str(target), "add", ".")
    _git("-C", str(target), *_WHO, "commit", "--quiet", "-m", "The first draft")
    return False


def _git(*arguments: str) -> bool:
    quiet = subprocess.DEVNULL
    done = subprocess.run(["git", *arguments], stdin=quiet, stdout=quiet, stderr=quiet, check=False)  # noqa: S603, S607
    return done.returncode == 0


@define
class Demonstration:
    """One run of the demo in a folder of its own.

    Args:
        call: The invocation; its state directory becomes one in the folder.
        folder: The folder, with the repository in it.
    """

    call: Invocation
    folder: Path
    killed_at: int | None = None

    def show(self) -> Shown:
        """Start a host, run the workflow in it, kill its worker, follow it to its end, and show what the log says."""
        from runwright.engine.client.client import Client
        from runwright.engine.host.starting import start_host

        home = self.folder / "state"
        self.call.flags.home = str(home)
        shutil.copy(_TEMPLATE, self.folder / "report.py")
        start_host(home)
        try:
            with Client.connect(home, client="cli") as client:
                run_id = client.run_start(
                    "report.py",
                    {"path": "repository", "output": "report.md"},
                    cwd=self.folder,
                    project=self.folder,
                    interpreter=sys.executable,
                ).value
                status = self._followed(run_id)
            with reading(self.call) as store:
                launched = sum(1 for _ in store.events(run_id, types=["worker.launched"]))
                if not self.call.out.for_machines:
                    self._tell(store, run_id)
            return Shown(status=status.status, workers=launched, killed_at=self.killed_at)
        finally:
            _end_host(home)

    def _followed(self, run_id: str) -> "Status":
        """Show the run until it has ended, and kill its worker on the way."""
        with reading(self.call) as store:
            after = store.head().position
            with told(self.call, store.log, after) as news, screen(self.call, store, [run_id], after) as feeder:

                def look(_: "list[Status]") -> bool:
                    if self.killed_at is None and self._kill_in_the_middle(store, run_id) and feeder is not None:
                        feeder.progress.note("its worker was killed (SIGKILL); the host launches another one")
                    return True

                (status,) = follow(
                    store, [run_id], news, feeder, rests=lambda each: each.ended, timeout=_LIMIT, look=look
                )
                if feeder is not None:
                    feeder.progress.note("")
        return status

    def _kill_in_the_middle(self, store: "Reader", run_id: str) -> bool:
        """Kill the worker once it is well in the middle of the node; whether it was done just now."""
        reports = [each for each in store.events(run_id, types=["node.updated"]) if f'"{_VICTIM}"' in each.data]
        if len(reports) < _REPORTS:
            return False
        launched = list(store.events(run_id, types=["worker.launched"]))[-1].event
        process: ProcessIdentity = launched.process  # type: ignore[attr-defined]  # the class of that event
        at = store.head().position  # before it: the host may record the end of the worker at once
        if not _kill(process):
            return False
        self.killed_at = at
        return True

    def _tell(self, store: "Reader", run_id: str) -> None:
        """What the log says of it, and the run as it stood when its worker was killed."""
        from rich.text import Text

        from runwright.cli.definitions import saved_definition
        from runwright.cli.rendering.events import event_line
        from runwright.cli.rendering.pictures import RunPicture
        from runwright.cli.rendering.standings import standing_lines

        now, out = time.time_ns() // 1000, self.call.out
        out.show("", Text("What the log says of its workers", style="bold"))
        out.show(*(event_line(each, now) for each in store.events(run_id, types=sorted(_TOLD))))
        if self.killed_at is None:
            out.show("The run had ended before its worker could be killed.")
            return
        picture = RunPicture(run_id, saved_definition(store, run_id))
        picture.follow(each for each in store.events(run_id) if each.position <= (self.killed_at or 0))
        at = store.log.read_all(self.killed_at - 1, limit=1)
        moment = next((each.at for each in at), now)
        out.show("", Text(f"Replayed as of position {self.killed_at}, when it was killed", style="bold"))
        console = out.console(stderr=False)
        out.show(*standing_lines(picture, moment, width=console.width, room=20), "")


def _kill(process: "ProcessIdentity") -> bool:
    """End exactly this process; false where it has ended already."""
    from runwright.engine.process_table import look, send
    from runwright.engine.processes import is_alive

    found = look(process.pid)
    if found is None or not is_alive(process):
        return False
    send(found, signal.SIGKILL)
    return True


def _end_host(home: Path) -> None:
    """Stop the host of the demo, and wait until it is gone, so that its folder can be removed."""
    from runwright.engine.client.client import Client
    from runwright.engine.protocol.errors import HostUnavailable

    try:
        with Client.connect(home, client="cli", patience=1.0) as client:
            if stop_host(home, client, 1.0, _END):
                return
    except HostUnavailable:
        return  # it ended by itself
    raise Refused(
        Failure(
            code="host_unavailable",
            message="The demo's host did not end",
            hint=f"`runwright host stop --home {home}` ends it; then remove that folder",
        )
    )
