"""What a run does right now, as far as its events tell: the node at work, its progress, and what is waited for."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from runwright.cli.rendering.text import local_time, one_line, span
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.views.notices import Notice, Notices

if TYPE_CHECKING:
    from runwright.engine.graph.definition import Definition
    from runwright.eventstore.envelope import RecordedEvent

#: Answers after how many microseconds a node is tried again, by its `node.finished`; ``None`` where it is not.
Delay = Callable[[JsonObject], int | None]

#: The name under which a node reports the progress of the whole.
OVERALL = "overall"


def never_again(_finished: JsonObject) -> int | None:
    """The delay where nobody knows of a retry."""
    return None


def declared_delay(definition: "Definition") -> Delay:
    """What a failed attempt waits before the next, by the definition that its run stands on."""

    def delay(finished: JsonObject) -> int | None:
        spec = definition.nodes.get(str(finished["path"]))
        attempt, outcome, code = finished["attempt"], str(finished["outcome"]), finished.get("code")
        if spec is None or spec.retry is None or not isinstance(attempt, int):
            return None
        again = spec.tries_again(attempt, outcome, None if code is None else str(code))
        return spec.retry.delay_us(attempt) if again else None

    return delay


@define
class UnderWay:
    """One run's present.

    Attributes:
        name: What its lines call it.
        node: The node that was started last.
        began: When (UTC microseconds).
        at_work: Whether it is at work.
        update: The progress that it reported last, in words; the one of the whole, once there is one.
        overall: Whether it is that of the whole.
        waits: What the run waits for: ``waits``, ``tries again``, or nothing.
        due: Until when (UTC microseconds).
        notices: What it has told people.
    """

    name: str
    delay: Delay = never_again
    node: str | None = None
    began: int = 0
    at_work: bool = False
    update: str = ""
    overall: bool = False
    waits: str = ""
    due: int | None = None
    notices: Notices = field(factory=Notices)

    def take(self, recorded: "RecordedEvent", data: JsonObject) -> Notice | None:
        """Take the next event of the run's stream, with its decoded data; answer what it tells people, if anything."""
        notice = self.notices.apply(recorded)
        if notice is not None:
            return notice
        match recorded.type:
            case "node.started":
                self.node, self.began, self.at_work, self.update = str(data["path"]), recorded.at, True, ""
                self.overall = False
                self._rest()
            case "node.updated" if data["key"] == OVERALL or not self.overall:
                self.update, self.overall = update_words(recorded.body), data["key"] == OVERALL
            case "node.finished":
                self.at_work, self.update = False, ""
                delay = self.delay(data) if data["outcome"] in ("failed", "timed_out") else None
                if delay is not None:
                    self._rest("tries again", recorded.at + delay)
            case "timer.set" if data.get("kind") in ("wait", "retry") and isinstance(due := data.get("due"), int):
                self._rest("waits" if data["kind"] == "wait" else "tries again", due)
            case "timer.fired" | "timer.cleared" if data.get("kind") in ("wait", "retry"):
                self._rest()
            case "run.started":
                # A node that was under way when the process before this one ended goes on in the same attempt.
                self.at_work = self.node is not None and not self.waits
            case "run.parked":
                self.at_work = False
            case "run.completed" | "run.failed" | "run.timed_out" | "run.cancelled" | "run.continued":
                self.at_work = False
                self._rest()
            case _:
                pass
        return None

    def waiting_words(self, now: int) -> str:
        """What it waits for: ``waits until 12:30:00 (5 min 00 s)``, ``tries again in 3.0 s``; else nothing."""
        if self.due is None:
            return ""
        left = span(self.due - now)
        return (
            f"waits until {local_time(self.due, now)} ({left})" if self.waits == "waits" else f"{self.waits} in {left}"
        )

    def _rest(self, waits: str = "", due: int | None = None) -> None:
        """Wait, or with nothing to wait for go on."""
        self.waits, self.due = waits, due


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
