"""Asks the person at the terminal what runs wait for, hands in what they say, and asks again until that is accepted."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from attrs import frozen

from runwright.cli.failures import Failure, failure_of
from runwright.cli.invocation import Invocation
from runwright.cli.prompting import Chosen, Gone, Prompt, Said, Written
from runwright.cli.terminal import controlling_terminal
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from runwright.cli.changes import Change, Replies
    from runwright.cli.terminal import Terminal
    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.requests import Request
    from runwright.engine.reading.status import Status

#: Codes of refusals that another answer can meet.
_AGAIN: Final = frozenset({"input_invalid", "output_invalid", "validation_failed", "payload_too_large"})
#: Seconds between two looks into the store whether a question still stands.
_LOOK: Final = 0.5


class Interview:
    """One person at one terminal.

    Args:
        terminal: The terminal.
        store: Where questions are read.
        replies: Takes what is said.
    """

    def __init__(self, terminal: "Terminal", store: "Reader", replies: "Replies") -> None:
        self._terminal = terminal
        self._store = store
        self._replies = replies

    def hold(self, request: "Request", goes_on: Callable[[], bool] = lambda: True) -> "Change | None":
        """Show a question and ask until an answer is accepted.

        Args:
            request: The question.
            goes_on: Whether the person is still to be asked.

        Returns:
            What the answer changed; ``None`` where somebody else was quicker, or nobody is asked any more.

        Raises:
            NoMoreInput: The terminal's input was ended; and whatever the engine refuses for good.
        """
        from runwright.cli.rendering.questions import asked_screen

        self._terminal.show(*asked_screen(request, time.time_ns() // 1000))
        prompt = Prompt(self._terminal, self._watch(request, goes_on))
        try:
            while True:
                said = prompt.said(request)
                try:
                    return self._hand_in(request, said)
                except Exception as error:
                    failure = failure_of(error)
                    if failure is None or not self._asks_again(failure, error):
                        raise
        except Gone:
            self._tell_who_won(request)
            return None

    def _hand_in(self, request: "Request", said: Said) -> "Change":
        match said:
            case Chosen(choice=choice, text=text):
                return self._replies.decide(request.request_id, choice, text=text, by=person(), digest=request.digest)
            case Written(value=value) if request.kind == "agent":
                return self._replies.submit(request.request_id, value)
            case Written(value=value):
                return self._replies.answer(request.request_id, value)

    def _asks_again(self, failure: Failure, error: Exception) -> bool:
        """Say why an answer was refused; whether another one is taken."""
        if failure.code == "revision_changed":
            raise Gone from None
        if failure.code not in _AGAIN or getattr(error, "left", 1) == 0:
            return False
        from runwright.cli.rendering.questions import refused_line

        self._terminal.show(refused_line(failure, getattr(error, "reason", None)))
        return True

    def _watch(self, request: "Request", goes_on: Callable[[], bool]) -> Callable[[], bool]:
        """Tells whether a question still stands; the store is asked now and then."""
        asked = time.monotonic()

        def stands() -> bool:
            nonlocal asked
            if not goes_on():
                return False
            if time.monotonic() - asked < _LOOK:
                return True
            asked = time.monotonic()
            return is_open(self._store, request.request_id)

        return stands

    def _tell_who_won(self, request: "Request") -> None:
        from runwright.cli.rendering.questions import settled_line

        found = settled(self._store, request.request_id)
        if found is not None:
            self._terminal.show(settled_line(found.words))


@contextmanager
def asking_terminal(call: Invocation) -> "Iterator[Terminal | None]":
    """The terminal where a command that shows runs asks; ``None`` where nobody watches it."""
    if call.out.for_machines or not call.out.at_terminal:
        yield None
        return
    with controlling_terminal() as terminal:
        yield terminal


def answerable(store: "Reader", status: "Status") -> "list[Request]":
    """What a run waits for that the person at a terminal can answer.

    A session answers for itself, so does an executor that is at work, and one that is missing has to be handed back.
    """
    parked = None if status.reason is None else status.reason.code
    if status.status != "waiting" or parked != "waiting" or not status.requests:
        return []
    found = store.requests(status.run_id)
    return [each for each in found if each.kind in ("checkpoint", "decision") or is_for_terminal(each)]


def is_for_terminal(request: "Request") -> bool:
    """Whether an agent's question is put to no session, so that a person may answer it."""
    return request.kind == "agent" and request.session is None


def is_open(store: "Reader", request_id: str) -> bool:
    """Whether a request still waits for an answer."""
    return _row(store, request_id).get("state") in ("open", "validating")


def person() -> str:
    """The name of the person whose process this is, as the system knows it."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


@frozen(kw_only=True)
class Settled:
    """What became of a request.

    Attributes:
        request_id: The request.
        run_id: The run that asked.
        kind: What kind of question it was.
        path: The node's full path.
        words: What became of it, for the person who was asked.
    """

    request_id: str
    run_id: str
    kind: str
    path: str
    words: str


def settled(store: "Reader", request_id: str) -> Settled | None:
    """What became of a request; ``None`` while it is open."""
    row = _row(store, request_id)
    if row.get("state") not in ("accepted", "closed"):
        return None
    run_id, kind, path = str(row["run_id"]), str(row["kind"]), str(row["path"])
    if row["state"] == "closed":
        words = f"It is closed: {str(row['cause']).replace('_', ' ')}."
    elif kind == "decision":
        words = decided_words(store.output(run_id, path, int(str(row["visit"]))))
    else:
        words = "It was answered already."
    return Settled(request_id=request_id, run_id=run_id, kind=kind, path=path, words=words)


def decided_words(output: object) -> str:
    """What was decided and by whom, from the output of a decision node."""
    facts = output if isinstance(output, dict) else {}
    by = "by policy, for nobody had decided in time" if facts.get("timed_out") else f"by {facts.get('by')}"
    text = f" ({facts['text']})" if facts.get("text") else ""
    return f"It was decided: {facts.get('choice')}{text}, {by}."


def _row(store: "Reader", request_id: str) -> JsonObject:
    rows = store.query("requests", where=[f"request={request_id}"]).items
    return rows[0] if rows else {}
