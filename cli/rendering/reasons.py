"""Why a run stands still, in sentences for people; machines read the codes (page 05, "park reasons")."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from runwright.cli.rendering.run_lines import GOES_ON, us
from runwright.cli.rendering.text import ago, local_time, plural

if TYPE_CHECKING:
    from datetime import datetime

    from runwright.engine.reading.status import Status

#: The one word, and the one sentence, for a run whose process is gone.
INTERRUPTED: Final = "interrupted"
_GONE: Final = "interrupted: the process that drove it is gone"

SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "worker_crashed": _GONE,
        "host_stopped": _GONE,
        "orphaned": _GONE,
        "waiting": "it waits",
        "paused": "somebody paused it",
        "provider_error": "the agent's provider reported an error",
        "worker_no_progress": "it was driven again and again, and came no further",
        "worker_unkillable": "its process cannot be ended",
        "source_changed": "the workflow's files are not those it was started with",
        "environment_missing": "something that it needs is not here",
        "imported": "it came here with its store, and goes on when you say so",
        "unsupported": "this version of runwright cannot carry it on",
        "protocol_rejected": "its worker broke the rules of the store, which is a fault of runwright's",
        "effect_ambiguous": "nobody can tell whether its effect happened",
    }
)
#: Codes that say no more than the sentence beside them.
_SAID: Final = frozenset({"node_failed", "node_timed_out", "run_timed_out", "cancelled"})
#: Reasons whose detail the lines to type repeat.
_LINES_SAY_MORE: Final = frozenset({"effect_ambiguous", "source_changed"})
#: Reasons whose detail is a sentence that says it all.
_DETAIL_SAYS_ALL: Final = frozenset({"environment_missing"})


def is_interrupted(status: "Status") -> bool:
    """Whether a run was under way, and its process is gone."""
    if status.ended or status.driven or status.run_status != "running" or status.status != "queued":
        return False
    return status.queue_state != "parked" or (status.reason is not None and status.reason.code in GOES_ON)


def shown_word(status: "Status") -> str:
    """The one word that people are shown for a run's status."""
    return INTERRUPTED if is_interrupted(status) else status.status


def why(status: "Status", now: int) -> str:
    """Why a run stands where it stands, in a sentence; empty where there is nothing to say.

    Args:
        status: The run.
        now: UTC in microseconds.
    """
    if status.error is not None:
        message, code = status.error.message, status.error.code
        return message if code in _SAID or code in message else f"{message.removesuffix('.')}: {code}"
    if status.ended:
        return ""
    if not status.driven and status.uncertain:
        places = ", ".join(status.uncertain)
        return (
            f"{_GONE}, and nobody can tell whether the effect of {places} happened: "
            "`resume` will stop there, and ask you to `resolve` it"
        )
    if is_interrupted(status):
        return _GONE
    if status.status == "ambiguous":
        return SENTENCES["effect_ambiguous"]
    if status.resting_until is not None and status.status == "waiting":
        return f"it waits until {time_words(status.resting_until, now)}{_overdue_words(status, now)}"
    if status.requests:
        asked = _asked_words(status, now) + _overdue_words(status, now)
        parked = status.status == "waiting" and status.reason is not None and status.reason.code not in GOES_ON
        return f"{asked}; parked: {words}" if parked and (words := _parked_words(status)) else asked
    if words := _parked_words(status):
        return words
    if status.status == "waiting":
        return SENTENCES["waiting"]
    if status.held_back:
        return f"it begins when session {status.session} next comes to rest"
    if status.queue_state == "parked" and status.status == "queued":
        return "what it stopped for is settled; it can go on"
    return ""


def _parked_words(status: "Status") -> str:
    """What a run is parked for; empty where it is not, or only waits."""
    reason = status.reason
    if reason is None or reason.code == "waiting":
        return ""
    sentence = SENTENCES.get(reason.code, reason.code)
    detail = reason.detail if reason.code not in _LINES_SAY_MORE else None
    if detail and reason.code in _DETAIL_SAYS_ALL:
        return f"{detail[0].lower()}{detail[1:]}".removesuffix(".")
    return f"{sentence}: {detail}" if detail else sentence


def answered_words(source: str | None) -> str:
    """Who answered, where that was no executor: a person, or the policy of a deadline."""
    return {"person": "by a person", "policy": "by policy"}.get(source or "", "")


def deadline_of(status: "Status") -> "datetime | None":
    """When a run goes on although nobody has answered: by the policy of a decision, or as out of time."""
    if status.status != "waiting":
        return None
    return min((each.deadline for each in status.requests if each.deadline is not None), default=None)


def is_overdue(status: "Status", now: int) -> bool:
    """Whether the time that a run waits for is up, and nobody is there to act on that."""
    if status.driven or status.status != "waiting":
        return False
    return any(each is not None and us(each) <= now for each in (deadline_of(status), status.resting_until))


def _overdue_words(status: "Status", now: int) -> str:
    return "; that time is up, and no host lives to act on it" if is_overdue(status, now) else ""


def time_words(moment: "datetime", now: int) -> str:
    """A time to come, and how far off it is."""
    due = us(moment)
    return f"{local_time(due, now)} ({ago(due, now)})"


def _asked_words(status: "Status", now: int) -> str:
    """What is waited for: of one question who answers it, its node and until when, of several how many."""
    requests = status.requests
    if len(requests) != 1:
        return f"it waits for {plural(len(requests), 'answer')}"
    (request,) = requests
    words = f"{_whom(status, request.kind)} at {request.node}"
    if request.deadline is None:
        return words
    then = ", then policy decides or its time is up" if request.kind == "decision" else ""
    return f"{words} until {time_words(request.deadline, now)}{then}"


def _whom(status: "Status", kind: str) -> str:
    """Who is asked: whoever can type a line, or else the agent that is at work, or the session."""
    if kind == "decision":
        return "it waits for a decision"
    if kind == "assistant" or (kind == "agent" and status.session is not None and not status.next):
        return "it asks its session"
    if kind == "agent" and status.status == "running":
        return "it asks its agent"
    return "it waits for an answer"
