"""The live view knows what was under way before it began to look, and says what a run waits for."""

import io
import json
from typing import Any

from rich.console import Console

from runwright.cli.rendering.progress import Progress
from runwright.eventstore.envelope import RecordedEvent

SECOND = 1_000_000


def event(type_: str, at: int, **data: Any) -> RecordedEvent:
    """One event of the one run."""
    return RecordedEvent(
        position=at,
        stream="run/01m8qztzfbekyb2zp325",
        version=1,
        type=type_,
        at=at * SECOND,
        actor="worker",
        generation=1,
        command=None,
        data=json.dumps(data),
        digest=None,
        hash=b"",
        salt=None,
        body=None,
    )


def node(type_: str, at: int, **data: Any) -> RecordedEvent:
    """One event of its node."""
    begins = {"kind": "action", "invocation": 0, "deadline": None} if type_ == "node.started" else {}
    return event(type_, at, **{"path": "pay", "visit": 1, "attempt": 1, **begins, **data})


class View:
    """A live view at a second of our own choice."""

    def __init__(self, delay: int | None = None) -> None:
        self.now = 0
        self.out = io.StringIO()
        console = Console(file=self.out, width=80, highlight=False)
        self.progress = Progress(console, live=False, now=lambda: self.now * SECOND, delay=lambda *_: delay)

    def current(self) -> str:
        """The line of what is under way."""
        console = Console(file=io.StringIO(), width=80)
        with console.capture() as captured:
            console.print(self.progress._current())
        return captured.get()


def test_a_node_that_goes_on_is_shown_with_its_whole_time() -> None:
    """A node that began under a process before this one: its time runs from the log's own beginning."""
    view = View()
    view.progress.recall(node("node.started", 10))
    view.progress.recall(event("run.parked", 20, reason="host_stopped"))
    assert "pay" not in view.current()
    view.progress.feed(event("run.started", 30))
    view.now = 40
    assert "pay  30.0 s" in view.current()
    view.progress.feed(node("node.finished", 50, outcome="completed"))
    assert "pay  40.0 s" in view.out.getvalue()


def test_a_wait_says_until_when() -> None:
    """While a run waits, and when its wait was set before anybody looked."""
    view = View()
    view.progress.recall(node("node.started", 10))
    view.progress.recall(event("timer.set", 10, kind="wait", due=100 * SECOND))
    view.progress.feed(event("run.started", 30))
    view.now = 40
    assert "waits until" in view.current()
    assert "(1 min 00 s)" in view.current()
    view.progress.feed(event("timer.fired", 100, kind="wait"))
    assert "waits" not in view.current()


def test_a_retry_says_when_it_is_tried_again() -> None:
    """Between two attempts the node that failed is shown with what is left of its delay."""
    view = View(delay=3 * SECOND)
    view.progress.feed(node("node.started", 10))
    view.progress.feed(node("node.finished", 11, outcome="failed", code="node_failed"))
    assert "failed, tries again in 3.0 s" in view.out.getvalue()
    view.now = 12
    assert "pay  tries again in 2.0 s" in view.current()
    view.progress.feed(node("node.started", 14, attempt=2))
    assert "tries again" not in view.current()


def test_nothing_is_shown_while_somebody_is_asked() -> None:
    """What comes between a question and its answer is told after it."""
    view = View()
    view.progress.hold(True)
    view.progress.printed("pay", "a line")
    assert view.out.getvalue() == ""
    view.progress.hold(False)
    assert "a line" in view.out.getvalue()
