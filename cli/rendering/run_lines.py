"""A run on one line, from the facts that every surface has of it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from rich.text import Text

from runwright.cli.rendering.marks import QUIET, mark
from runwright.cli.rendering.text import clean, span

#: How many characters of an ID lists print: the first ten are time, the last ones tell runs apart.
SHORT: Final = 6
#: Park reasons that go on by themselves while a process drives the run.
GOES_ON: Final = frozenset({"worker_crashed", "host_stopped", "orphaned"})
#: Statuses that do not say that a run is parked for good: it could seem to go on by itself.
_SILENT: Final = frozenset({"queued", "waiting"})


def line_of(facts: Mapping[str, Any], now: int, *, word: str | None = None) -> Text:
    """One run on one line.

    Args:
        facts: The run, as ``status --json`` prints it.
        now: UTC in microseconds.
        word: The word for its status; the status itself by default.
    """
    started, finished = (None if facts[each] is None else _time(facts[each]) for each in ("started_at", "finished_at"))
    node = facts["node"]
    return Text.assemble(
        (short_id(facts["run_id"]), "bold"),
        "  ",
        standing_of(facts, word or facts["status"]),
        "  ",
        clean(facts["workflow"]),
        (f"  {clean(place_of(node, facts['visit'], facts['attempt']))}" if node else "", ""),
        (f"  {span_of(started, finished, now)}", QUIET),
    )


def standing_of(facts: Mapping[str, Any], word: str, *, below: bool = False) -> Text:
    """A run's status, and behind it that it is parked and the code of why, where the status says less.

    Args:
        facts: The run, as ``status --json`` prints it.
        word: The word for its status.
        below: Whether what follows stands on a line of its own.
    """
    code, text = reason_of(facts), mark(word)
    if not code:
        return text
    if word in _SILENT and code not in GOES_ON:
        return text.append("\n  " if below else ", ").append(f"parked: {code}", style=QUIET)
    return text.append("\n  " if below else " ").append(f"({code})", style=QUIET)


def reason_of(facts: Mapping[str, Any]) -> str:
    """The code of why a run stands still, where its status says less."""
    reason, ended = facts["reason"], facts["finished_at"] is not None
    return "" if ended or reason is None or reason["code"] == facts["status"] else str(reason["code"])


def short_id(run_id: str) -> str:
    """The part of an ID that lists print."""
    return run_id[-SHORT:]


def us(moment: datetime) -> int:
    """UTC microseconds of an aware time."""
    return round(moment.astimezone(UTC).timestamp() * 1_000_000)


def place_of(node: str | None, visit: int | None, attempt: int | None) -> str:
    """The node that a run is at, with its visit and attempt where they are not the first."""
    if node is None:
        return "-"
    extra = [f"visit {visit}"] if (visit or 1) > 1 else []
    extra += [f"attempt {attempt}"] if (attempt or 1) > 1 else []
    return node + (f" ({', '.join(extra)})" if extra else "")


def span_of(started: datetime | None, finished: datetime | None, now: int) -> str:
    """How long something took, or has taken so far; a dash where it never began."""
    if started is None:
        return "-"
    end = us(finished) if finished is not None else now
    return span(end - us(started))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
