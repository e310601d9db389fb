"""What driven runs do, while they do it: a line for each end of a step, and at a terminal the steps under way."""

import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from attrs import define
from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from runwright.cli.rendering.marks import HELD, QUIET, sign, style_of
from runwright.cli.rendering.reasons import GOES_ON, INTERRUPTED
from runwright.cli.rendering.statuses import short_id
from runwright.cli.rendering.text import clean, local_time, one_line, span
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from rich.console import Console

    from runwright.eventstore.envelope import RecordedEvent

#: Answers after how many microseconds a node is tried again, by run and its `node.finished`; ``None`` where it is not.
Delay = Callable[[str, JsonObject], int | None]


def _never_again(_run_id: str, _finished: JsonObject) -> int | None:
    return None


@define
class _Run:
    """One run as far as its events tell."""

    name: str
    node: str | None = None
    began: int = 0
    at_work: bool = False
    update: str = ""
    #: What it waits for, and until when (UTC microseconds).
    waits: str = ""
    due: int | None = None

    def rest(self, waits: str = "", due: int | None = None) -> None:
        """Wait, or with nothing to wait for go on."""
        self.waits, self.due = waits, due


class Progress:
    """Follows the events of runs and says on stderr what they mean.

    Args:
        console: Where to say it.
        live: Whether a person watches: then the steps under way are shown, too.
        now: UTC in microseconds.
        several: Whether several runs are followed, so that each line names its own.
        delay: Tells what a failed attempt waits before the next.

    Attributes:
        position: The position that was looked at last.
    """

    def __init__(
        self,
        console: "Console",
        *,
        live: bool,
        now: Callable[[], int],
        several: bool = False,
        delay: Delay = _never_again,
    ) -> None:
        self.position = 0
        self._several = several
        self._console = console
        self._now = now
        self._delay = delay
        self._runs: dict[str, _Run] = {}
        self._note = ""
        self._spinner = Spinner("dots", style=style_of("running"))
        self._live = Live(
            get_renderable=self._current,
            console=console,
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._watched = live
        self._lock = threading.RLock()
        self._held: list[Text] | None = None

    def __enter__(self) -> Self:
        if self._watched:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hold(False)
        if self._watched:
            self._live.stop()

    def hold(self, held: bool) -> None:
        """Show nothing while somebody is asked something, and what came in the meantime after it."""
        with self._lock:
            if held and self._held is None:
                if self._watched:
                    self._live.stop()
                self._held = []
            elif not held and self._held is not None:
                kept, self._held = self._held, None
                for line in kept:
                    self._console.print(line)
                if self._watched:
                    self._live.start()

    def say(self, text: str) -> None:
        """Say something beside the steps."""
        self._print(Text(clean(text)))

    def printed(self, path: str, line: str) -> None:
        """Show a line that a run's own code printed."""
        whose = f"{path}: " if self._several and path else ""
        self._print(Text(f"  │ {clean(whose)}{one_line(line, 2000)}", style=QUIET))

    def note(self, text: str) -> None:
        """Keep a note beside the step under way, what Ctrl-C asked for."""
        self._note = text
        if not self._watched:
            self.say(text)

    def recall(self, recorded: "RecordedEvent") -> None:
        """Take in an event from before: it is not told, but what is under way began with it."""
        self._take(recorded, json.loads(recorded.data))

    def feed(self, recorded: "RecordedEvent") -> None:
        """Take in one event of a run, and say what it means."""
        data: JsonObject = json.loads(recorded.data)
        run = self._take(recorded, data)
        match recorded.type:
            case "node.finished":
                self._finished(run, recorded, data)
            case "effect.ambiguous":
                self._tell(run, sign("ambiguous"), str(run.node), words="its effect may have happened, or not")
            case "run.parked" if data["reason"] in GOES_ON:
                self._tell(run, sign("interrupted"), INTERRUPTED, words="goes on")
            case "timer.set" if run.due is not None and run.waits:
                self._tell(run, sign("waiting"), str(run.node), words=_waits(run, self._now()))
            case "run.paused":
                self._tell(run, sign("paused"), "paused")
            case _:
                pass

    def _take(self, recorded: "RecordedEvent", data: JsonObject) -> _Run:
        """Keep what an event says about what is under way."""
        run_id = recorded.stream.partition("/")[2]
        run = self._runs.setdefault(run_id, _Run(short_id(run_id)))
        match recorded.type:
            case "node.started":
                run.node, run.began, run.at_work, run.update = str(data["path"]), recorded.at, True, ""
                run.rest()
            case "node.updated":
                run.update = update_words(recorded.body)
            case "node.finished":
                run.at_work, run.update = False, ""
                delay = self._delay(run_id, data)
                if delay is not None:
                    run.rest("tries again", recorded.at + delay)
            case "timer.set" if data.get("kind") in ("wait", "retry") and isinstance(due := data.get("due"), int):
                run.rest("waits" if data["kind"] == "wait" else "tries again", due)
            case "timer.fired" | "timer.cleared" if data.get("kind") in ("wait", "retry"):
                run.rest()
            case "run.started":
                # A node that was under way when the process before this one ended goes on in the same attempt.
                run.at_work = run.node is not None and not run.waits
            case "run.parked":
                run.at_work = False
            case _:
                pass
        return run

    def _finished(self, run: _Run, recorded: "RecordedEvent", data: JsonObject) -> None:
        outcome = str(data["outcome"])
        again = [f"visit {data['visit']}"] if data["visit"] != 1 else []
        again += [f"attempt {data['attempt']}"] if data["attempt"] != 1 else []
        words = "" if outcome == "completed" else outcome.replace("_", " ")
        if words and data.get("code") not in (f"node_{outcome}", None):
            words += f" ({data['code']})"
        if run.due is not None:
            words += f", {_waits(run, recorded.at)}"
        took = span(recorded.at - run.began) if run.began else ""
        self._tell(run, sign(outcome), str(data["path"]), again=", ".join(again), words=words, took=took)

    def _tell(self, run: _Run, mark: Text, name: str, *, again: str = "", words: str = "", took: str = "") -> None:
        line = Text.assemble("  ", (f"{run.name}  " if self._several else "", QUIET), mark, " ", clean(name))
        for text, style in ((again, QUIET), (words, HELD), (took, QUIET)):
            if text:
                line.append(f"  {clean(text)}", style)
        self._print(line)

    def _print(self, line: Text) -> None:
        with self._lock:
            if self._held is None:
                self._console.print(line)
            else:
                self._held.append(line)

    def _current(self) -> Group | Text:
        """A line for each run that is at work or waits for time."""
        now = self._now()
        lines = [self._line(run, now) for run in list(self._runs.values()) if run.at_work or run.due is not None]
        if not lines:
            return self._start(now).append(self._note or "…", style=QUIET)
        if self._note:
            lines[-1].append("  " + self._note, style=HELD)
        return Group(*lines)

    def _line(self, run: _Run, now: int) -> Text:
        line = self._start(now)
        if self._several:
            line.append(f"{run.name}  ", style=QUIET)
        line.append(clean(str(run.node)))
        if run.at_work and run.due is None:
            line.append("  " + span(now - run.began), style=QUIET)
            if run.update:
                line.append("  " + run.update)
        else:
            line.append(f"  {_waits(run, now)}", style=QUIET)
        return line

    def _start(self, now: int) -> Text:
        frame = self._spinner.render(now / 1_000_000)
        assert isinstance(frame, Text)
        return Text.assemble("  ", frame, " ", no_wrap=True, overflow="ellipsis")


def _waits(run: _Run, now: int) -> str:
    """What a run waits for: ``waits until 12:30:00 (5 min 00 s)``, ``tries again in 3.0 s``."""
    assert run.due is not None
    left = span(run.due - now)
    return f"waits until {local_time(run.due, now)} ({left})" if run.waits == "waits" else f"{run.waits} in {left}"


def update_words(body: str | None) -> str:
    """The progress that a node reported, in words: ``3 of 10 files  reading``."""
    if body is None:
        return ""
    content: Json = json.loads(body).get("update")
    update = content.get("value") if isinstance(content, dict) else None
    if not isinstance(update, dict):
        return ""
    words = []
    completed, total = update.get("completed"), update.get("total")
    if isinstance(completed, int | float):
        words.append(f"{completed:g}" + (f" of {total:g}" if isinstance(total, int | float) else ""))
        if update.get("unit"):
            words.append(str(update["unit"]))
    if update.get("message"):
        words.append(str(update["message"]))
    return one_line(" ".join(words), 80)
