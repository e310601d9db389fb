"""What runs do, while they do it: at a terminal the graph of one run, else a line for each end of a step."""

import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from runwright.cli.rendering.live_graphs import NOTES, live_lines, told_lines
from runwright.cli.rendering.marks import HELD, QUIET, sign, style_of
from runwright.cli.rendering.notices import notice_line
from runwright.cli.rendering.reasons import INTERRUPTED
from runwright.cli.rendering.run_lines import GOES_ON, short_id
from runwright.cli.rendering.standings import standing_lines
from runwright.cli.rendering.text import clean, cut, span
from runwright.cli.rendering.under_way import UnderWay
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from rich.console import Console

    from runwright.cli.rendering.pictures import RunPicture
    from runwright.eventstore.envelope import RecordedEvent

#: Answers after how many microseconds a node is tried again, by run and its `node.finished`; ``None`` where it is not.
Delay = Callable[[str, JsonObject], int | None]

#: The lines of a terminal that the graph leaves free, and the least that it takes.
_FREE, _LEAST = 2, 4
#: The newest notifications that stay on the screen above a question, or above the run that carries this one on.
_KEPT = 10


def _never_again(_run_id: str, _finished: JsonObject) -> int | None:
    return None


class Progress:
    """Follows the events of runs and says on stderr what they mean.

    Args:
        console: Where to say it.
        live: Whether a person watches: then what is under way is shown, too.
        now: UTC in microseconds.
        picture: The one run whose graph is drawn, for a person who watches.
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
        picture: "RunPicture | None" = None,
        several: bool = False,
        delay: Delay = _never_again,
    ) -> None:
        self.position = 0
        self._several = several
        self._console = console
        self._now = now
        self._picture = picture
        self._told = 0  # notifications of the drawn run that already stand above its graph
        self._delay = delay
        self._runs: dict[str, UnderWay] = {}
        self._note = ""
        self._watched = live
        self._lock = threading.RLock()
        self._held: list[Text] | None = None
        self._spinner = Spinner("dots", style=style_of("running"))
        self._live = self._fresh()

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
            for line in self._last_look():
                self._draw(line)
            self._keep_told(NOTES)

    def hold(self, held: bool) -> None:
        """Show nothing while somebody is asked something, and what came in the meantime after it."""
        with self._lock:
            if held and self._held is None:
                if self._watched:
                    self._live.stop()
                self._keep_told()  # they may be what the question is about
                self._held = []
            elif not held and self._held is not None:
                kept, self._held = self._held, None
                for line in kept:
                    self._draw(line)
                if self._watched:
                    self._live = self._fresh()
                    self._live.start()

    def show(self, picture: "RunPicture") -> None:
        """Draw another run from here on: the one that carries on the one before."""
        with self._lock:
            self._keep_told()
            self._picture, self._told = picture, 0

    def set_around(self, *, held: bool, turn_open: bool) -> None:
        """Learn what the run's own events do not tell, as `RunPicture.set_around` does."""
        with self._lock:
            if self._picture is not None:
                self._picture.set_around(held=held, turn_open=turn_open)

    def say(self, text: str) -> None:
        """Say something beside the steps."""
        self._print(Text(clean(text)))

    def printed(self, path: str, line: str) -> None:
        """Show a line that a run's own code printed."""
        whose = f"{path}: " if self._several and path else ""
        self._print(Text(f"  │ {clean(whose)}{cut(line, 2000)}", style=QUIET))

    def note(self, text: str) -> None:
        """Keep a note beside what is under way, what Ctrl-C asked for."""
        self._note = text
        if not self._watched:
            self.say(text)

    def recall(self, recorded: "RecordedEvent") -> None:
        """Take in an event from before: it is not told, but what is under way began with it."""
        with self._lock:
            if self._picture is not None:
                self._picture.apply(recorded)
            else:
                self._run_of(recorded).take(recorded, json.loads(recorded.data))

    def feed(self, recorded: "RecordedEvent") -> None:
        """Take in one event of a run, and say what it means."""
        if self._picture is not None:
            self.recall(recorded)
            return
        data: JsonObject = json.loads(recorded.data)
        run = self._run_of(recorded)
        notice = run.take(recorded, data)
        if notice is not None:
            self._print(notice_line(notice, f"{run.name}  " if self._several else ""))
        match recorded.type:
            case "node.finished":
                self._finished(run, recorded, data)
            case "effect.ambiguous":
                self._tell(run, sign("ambiguous"), str(run.node), words="its effect may have happened, or not")
            case "run.parked" if data["reason"] in GOES_ON:
                self._tell(run, sign("interrupted"), INTERRUPTED, words="goes on")
            case "timer.set" if run.due is not None and run.waits:
                self._tell(run, sign("waiting"), str(run.node), words=run.waiting_words(self._now()))
            case "run.paused":
                self._tell(run, sign("paused"), "paused")
            case _:
                pass

    def _run_of(self, recorded: "RecordedEvent") -> UnderWay:
        """What is known of the run that an event is about."""
        run_id = recorded.stream.partition("/")[2]
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = UnderWay(short_id(run_id), lambda finished: self._delay(run_id, finished))
        return run

    def _finished(self, run: UnderWay, recorded: "RecordedEvent", data: JsonObject) -> None:
        outcome = str(data["outcome"])
        again = [f"visit {data['visit']}"] if data["visit"] != 1 else []
        again += [f"attempt {data['attempt']}"] if data["attempt"] != 1 else []
        words = "" if outcome == "completed" else outcome.replace("_", " ")
        if words and data.get("code") not in (f"node_{outcome}", None):
            words += f" ({data['code']})"
        if run.due is not None:
            words += f", {run.waiting_words(recorded.at)}"
        took = span(recorded.at - run.began) if run.began else ""
        self._tell(run, sign(outcome), str(data["path"]), again=", ".join(again), words=words, took=took)

    def _tell(self, run: UnderWay, mark: Text, name: str, *, again: str = "", words: str = "", took: str = "") -> None:
        line = Text.assemble("  ", (f"{run.name}  " if self._several else "", QUIET), mark, " ", clean(name))
        for text, style in ((again, QUIET), (words, HELD), (took, QUIET)):
            if text:
                line.append(f"  {clean(text)}", style)
        self._print(line)

    def _print(self, line: Text) -> None:
        with self._lock:
            if self._held is None:
                self._draw(line)
            else:
                self._held.append(line)

    def _draw(self, line: Text) -> None:
        self._console.print(line, no_wrap=line.no_wrap, overflow=line.overflow)

    def _current(self) -> Group | Text:
        """The graph of the one run, or a line for each run that is at work or waits for time."""
        now = self._now()
        with self._lock:
            if self._picture is not None and self._picture.begun:
                width, height = self._console.size
                room = max(height - _FREE, _LEAST)
                told = self._told
                return Group(*live_lines(self._picture, now, width=width, height=room, note=self._note, told=told))
            lines = [self._line(run, now) for run in self._runs.values() if run.at_work or run.due is not None]
        if not lines:
            return self._start(now).append(self._note or "…", style=QUIET)
        if self._note:
            lines[-1].append("  " + self._note, style=HELD)
        return Group(*lines)

    def _last_look(self) -> list[Text]:
        """The graph as it stays on the screen."""
        with self._lock:
            if self._picture is None or not self._picture.begun:
                return []
            width, height = self._console.size
            room = max(height - _FREE - len(told_lines(self._picture, after=self._told)), _LEAST)
            return standing_lines(self._picture, self._now(), width=width, room=room)

    def _keep_told(self, most: int = _KEPT) -> None:
        """Have the newest notifications stay on the screen, whatever is drawn below them; each stands there once."""
        if self._picture is not None:
            for line in told_lines(self._picture, most, after=self._told):
                self._print(line)
            self._told = self._picture.notices.count

    def _line(self, run: UnderWay, now: int) -> Text:
        line = self._start(now)
        if self._several:
            line.append(f"{run.name}  ", style=QUIET)
        line.append(clean(str(run.node)))
        if run.at_work and run.due is None:
            line.append("  " + span(now - run.began), style=QUIET)
            if run.update:
                line.append("  " + run.update)
        else:
            line.append(f"  {run.waiting_words(now)}", style=QUIET)
        return line

    def _fresh(self) -> Live:
        """A picture that begins where the cursor is: one that was stopped would draw over what was said since."""
        return Live(
            get_renderable=self._current,
            console=self._console,
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def _start(self, now: int) -> Text:
        frame = self._spinner.render(now / 1_000_000)
        assert isinstance(frame, Text)
        return Text.assemble("  ", frame, " ", no_wrap=True, overflow="ellipsis")
