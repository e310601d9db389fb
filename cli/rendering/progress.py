"""What a driven run does, while it does it: a line for each end of a step, and at a terminal the step under way."""

import json
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from runwright.cli.rendering.marks import HELD, QUIET, sign, style_of
from runwright.cli.rendering.statuses import short_id
from runwright.cli.rendering.text import clean, local_time, one_line, span
from runwright.eventstore.values import Json, JsonObject

if TYPE_CHECKING:
    from rich.console import Console

    from runwright.eventstore.envelope import RecordedEvent

#: Park reasons that go on by themselves; every other one ends what is shown, and stands in the lines after it.
_GOES_ON = frozenset({"worker_crashed", "host_stopped", "orphaned"})


class Progress:
    """Follows the events of one run and says on stderr what they mean.

    Args:
        console: Where to say it.
        live: Whether a person watches: then the step under way is shown, too.
        now: UTC in microseconds.
        several: Whether several runs are followed, so that each line names its own.

    Attributes:
        position: The position that was looked at last.
    """

    def __init__(self, console: "Console", *, live: bool, now: Callable[[], int], several: bool = False) -> None:
        self.position = 0
        self._several = several
        self._run = ""
        self._console = console
        self._now = now
        self._started: dict[str, int] = {}
        self._node: str | None = None
        self._update = ""
        self._note = ""
        self._idle = ""
        self._spinner = Spinner("dots", style=style_of("running"))
        self._live = Live(get_renderable=self._current, console=console, transient=True, refresh_per_second=8)
        self._watched = live

    def __enter__(self) -> Self:
        if self._watched:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watched:
            self._live.stop()

    def say(self, text: str) -> None:
        """Say something beside the steps."""
        self._console.print(Text(clean(text)))

    def note(self, text: str) -> None:
        """Keep a note beside the step under way, what Ctrl-C asked for."""
        self._note = text
        if not self._watched:
            self.say(text)

    def feed(self, recorded: "RecordedEvent") -> None:
        """Take in one event of the run."""
        data: JsonObject = json.loads(recorded.data)
        self._run = short_id(recorded.stream.partition("/")[2]) if self._several else ""
        match recorded.type:
            case "node.started":
                self._node = str(data["path"])
                self._started[self._node] = recorded.at
                self._update = self._idle = ""
            case "node.updated":
                self._update = update_words(recorded.body)
            case "node.finished":
                self._finished(recorded, data)
            case "effect.ambiguous":
                self._print(sign("ambiguous"), str(self._node), "", "its effect may have happened, or not", "")
            case "run.parked":
                self._parked(data)
            case "timer.set" if data.get("kind") in ("wait", "retry"):
                due = data.get("due")
                if isinstance(due, int):
                    self._idle = f"until {local_time(due, self._now())}"
                    words = f"{'waits' if data['kind'] == 'wait' else 'tries again in'} {span(due - recorded.at)}"
                    self._print(sign("waiting"), str(self._node), "", words, "")
            case "run.paused":
                self._print(sign("paused"), "paused", "", "", "")
            case _:
                pass

    def _finished(self, recorded: "RecordedEvent", data: JsonObject) -> None:
        path, outcome = str(data["path"]), str(data["outcome"])
        took = span(recorded.at - self._started.get(path, recorded.at))
        again = [f"visit {data['visit']}"] if data["visit"] != 1 else []
        again += [f"attempt {data['attempt']}"] if data["attempt"] != 1 else []
        words = "" if outcome == "completed" else f"{outcome.replace('_', ' ')} ({data.get('code')})"
        self._print(sign(outcome), path, ", ".join(again), words, took)
        self._node, self._update = None, ""

    def _parked(self, data: JsonObject) -> None:
        self._node = None
        if data["reason"] in _GOES_ON:
            self._print(sign("parked"), "interrupted", "", f"{data['reason']}: goes on by itself", "")

    def _print(self, mark: Text, name: str, again: str, words: str, took: str) -> None:
        line = Text.assemble("  ", (f"{self._run}  " if self._run else "", QUIET), mark, " ", clean(name))
        for text, style in ((again, QUIET), (words, HELD), (took, QUIET)):
            if text:
                line.append(f"  {clean(text)}", style)
        self._console.print(line)

    def _current(self) -> Text:
        frame = self._spinner.render(self._now() / 1_000_000)
        assert isinstance(frame, Text)
        line = Text.assemble("  ", frame, " ", no_wrap=True, overflow="ellipsis")
        if self._node is None:
            line.append(self._note or self._idle or "…", style=QUIET)
            return line
        line.append(clean(self._node))
        line.append("  " + span(self._now() - self._started[self._node]), style=QUIET)
        if self._update:
            line.append("  " + self._update)
        if self._note:
            line.append("  " + self._note, style=HELD)
        return line


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
