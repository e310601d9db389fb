"""``runwright answer``: answer what a run waits for."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import rich_click as click
from attrs import frozen

from runwright.cli.agent_specs import agent_option
from runwright.cli.answers import read_answer
from runwright.cli.changes import Change, Changes
from runwright.cli.changing import changing
from runwright.cli.command import intent, takes_store
from runwright.cli.failures import CONFLICT, Failure, Refused
from runwright.cli.handing import Bound, Handed
from runwright.cli.hosting import NextHost, host_if_any, host_lives
from runwright.cli.interview import Interview, Settled, is_for_terminal, person, settled
from runwright.cli.invocation import Invocation
from runwright.cli.naming_runs import Facts, HostedRuns, Runs, runs_of
from runwright.cli.opening import reading
from runwright.cli.terminal import NoMoreInput, controlling_terminal
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from runwright.engine.reading.reader import Reader
    from runwright.engine.reading.requests import Request

#: Seconds that a host gets to carry on a run that was just answered, or to find that it cannot; and between two looks.
_PATIENCE: Final = 1.0
_LOOK: Final = 0.02


@intent("answer", example='runwright answer @last yes\nrunwright answer 4f7k2m \'{"word": "yes"}\'')
@click.argument("request", metavar="REQUEST/RUN")
@click.argument("value", required=False)
@agent_option()
@takes_store
def command(call: Invocation, request: str, value: str | None) -> None:
    """Answer what a run waits for.

    A text, or JSON where something else is asked for. Without VALUE it shows what is asked at the terminal, and asks
    again until the answer fits. A decision is always shown and typed there, and a VALUE only proposes. Behind it the
    run goes on: by itself where a host lives, else `resume` drives it. What a host does not have any more is handed
    over again: executors by --agent or from the settings, variables from here.
    """
    given = None if value is None else _through_host(call, request, value)
    given = given or _beside_host(call, request, value)
    facts = given.facts
    if call.out.for_machines:
        call.out.document(
            {
                "action": "answer",
                "request_id": given.request_id,
                "run_id": given.change.run_id,
                "workflow": facts["workflow"],
                "result": given.change.result,
                "status": facts["status"],
            }
        )
        return
    from runwright.cli.rendering.statuses import next_lines

    accepted, run_id = f"Accepted{' before' if given.change.result == 'adopted' else ''}.", given.change.run_id
    if given.drives and _stands_still(facts):
        call.out.say(f"{accepted} Run {run_id} cannot go on behind it:", *_standing(call, run_id))
        return
    if given.drives and _is_about_to(facts):
        call.out.say(f"{accepted} Run {run_id} waits for its turn behind it. This shows it, or says what it lacks:")
        with reading(call) as store:
            call.out.say(*next_lines([store.status(run_id).resume_line]))
        return
    call.out.say(f"{accepted} Run {run_id} goes on behind it.")
    if not given.drives and facts["finished_at"] is None:
        call.out.say(*next_lines(facts["next"][:1]))


@frozen(kw_only=True)
class _Given:
    """An answer that was accepted.

    Attributes:
        request_id: The request.
        change: What it changed.
        drives: Whether the run goes on by itself.
        facts: How the run stands that goes on.
    """

    request_id: str
    change: Change
    drives: bool
    facts: Facts


def _through_host(call: Invocation, text: str, value: str) -> _Given | None:
    """Have the host find the question and take the answer; ``None`` where none lives, or more is needed than that."""
    from runwright.cli.hosted_changes import HostedChanges

    with host_if_any(call, staying=True) as client:
        if client is None:
            return None
        runs = HostedRuns(call, client)
        question = runs.question(text)
        if question is None or question["kind"] == "decision":
            return None
        handed = Handed.of(call, Bound.of([runs.bindings(question["run_id"])]))
        request_id, document = question["request_id"], read_answer(value, question["contract"] or {})
        change = HostedChanges(client, handed).answer(request_id, document)
        facts = _facts_behind(runs, change.run_id)
        return _Given(request_id=request_id, change=change, drives=True, facts=facts)


def _beside_host(call: Invocation, text: str, value: str | None) -> _Given:
    """Find the question in the store, and answer or ask it."""
    with reading(call) as store:
        asked, question = _named(call, store, text)
        replies = _Replies(call, _handed(call, store, asked))
        if question is None:
            change = _late(store, replies, asked, value)
        elif value is not None and question.kind != "decision":
            change = _given(replies, question, value)
        else:
            change = _at_terminal(call, store, replies, question, proposed=value)
    with runs_of(call) as runs:
        facts = _facts_behind(runs, change.run_id) if replies.drives else runs.facts(change.run_id)
    return _Given(request_id=asked, change=change, drives=replies.drives, facts=facts)


def _facts_behind(runs: Runs, run_id: str) -> Facts:
    """How a run stands that a host carries on: once it does, or has found that it cannot."""
    until = time.monotonic() + _PATIENCE
    while _is_about_to(facts := runs.facts(run_id)) and time.monotonic() < until:
        time.sleep(_LOOK)
    return facts


def _is_about_to(facts: Facts) -> bool:
    """Whether a run may go on and nothing of it does yet: what it lacks is found once it is taken, before it begins."""
    reason, parked = facts["reason"], facts["queue_state"] == "parked"
    return facts["status"] == "queued" and (not parked or reason is None or reason["code"] == "waiting")


def _stands_still(facts: Facts) -> bool:
    return facts["queue_state"] == "parked" and facts["status"] == "queued" and not _is_about_to(facts)


def _standing(call: Invocation, run_id: str) -> "list[RenderableType]":
    """Why a run stands still, and what to type."""
    from runwright.cli.rendering.statuses import entry

    with reading(call) as store:
        return entry(store.status(run_id), time.time_ns() // 1000)


class _Replies:
    """Hands answers in to whoever carries them out at that moment: the host may have come or gone meanwhile."""

    def __init__(self, call: Invocation, handed: Handed) -> None:
        self._call = call
        self._handed = handed
        self.drives = False

    def answer(self, request_id: str, value: Json) -> Change:
        """As `Replies.answer`."""
        return self._ask(lambda changes: changes.answer(request_id, value))

    def submit(self, request_id: str, value: Json) -> Change:
        """As `Replies.submit`."""
        return self._ask(lambda changes: changes.submit(request_id, value))

    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """As `Replies.decide`."""
        return self._ask(lambda changes: changes.decide(request_id, choice, text=text, by=by, digest=digest))

    def _ask(self, ask: Callable[[Changes], Change]) -> Change:
        with changing(self._call, handed=self._handed) as changes:
            change = ask(changes)
            self.drives = changes.drives
            return change


def _handed(call: Invocation, store: "Reader", request_id: str) -> Handed:
    """What the run that goes on behind the answer needs, as far as it is here."""
    (asked,) = store.query("requests", where=[f"request={request_id}"]).items
    return Handed.of(call, Bound.of(store.query("runs", where=[f"run_id={asked['run_id']}"]).items))


def _named(call: Invocation, store: "Reader", text: str) -> "tuple[str, Request | None]":
    """The request that somebody named, by itself or by its run; the question itself while it is open."""
    from runwright.cli.references import LAST, find_run
    from runwright.engine.errors import NotFound

    if text != LAST:
        try:
            request_id = store.find_request(text)
        except NotFound:
            pass  # no request is called so; it may be a run
        else:
            return request_id, next((each for each in store.requests() if each.request_id == request_id), None)
    try:
        run_id = store.last_of_chain(find_run(call, store, text))
    except NotFound:
        raise NotFound("request or run", text) from None
    found = store.requests(run_id)
    if len(found) == 1:
        return found[0].request_id, found[0]
    if not found:
        raise Refused(
            Failure(
                code="not_found",
                message=f"Run {run_id} waits for no answer.",
                hint=f"Look at what it waits for: runwright status {run_id}",
                exit_code=CONFLICT,
            )
        )
    lines = ", ".join(f"{each.request_id} ({each.path})" for each in found)
    raise Refused.usage(f"Run {run_id} waits for several answers: {lines}.", "Name one of them.", code="ambiguous_id")


def _given(replies: _Replies, question: "Request", value: str) -> Change:
    """Hand in what stands on the command line."""
    return replies.answer(question.request_id, read_answer(value, question.schema))


def _late(store: "Reader", replies: _Replies, asked: str, value: str | None) -> Change:
    """Say what became of a question that is not open any more; an equal answer is adopted."""
    found = settled(store, asked)
    if found is not None:
        _tell(found)
    if found is not None and (value is None or not value):
        raise _overtaken(found.request_id, found.run_id, found.path)
    if found is not None and found.kind == "decision":
        return replies.decide(asked, value or "", text=None, by=person(), digest=None)
    return replies.answer(asked, read_answer(value or "", {}))


def _tell(found: Settled) -> None:
    """Tell the person at the terminal, where there is one; what was answered is for no file and no program."""
    from runwright.cli.rendering.questions import settled_line

    with controlling_terminal() as terminal:
        if terminal is not None:
            terminal.show(settled_line(found.words))


def _at_terminal(
    call: Invocation, store: "Reader", replies: _Replies, question: "Request", *, proposed: str | None
) -> Change:
    """Show the question where a person is, and take what is typed there."""
    _check_takes_answers(store, question)
    next_host = NextHost(call) if host_lives(call) else None

    def asks_on() -> bool:
        if next_host is not None:
            next_host.keep()
        return True

    with controlling_terminal() as terminal:
        if terminal is None:
            raise _nobody(question)
        if proposed is not None:
            from runwright.cli.rendering.questions import settled_line

            terminal.show(settled_line(f"Proposed on the command line: {proposed}. It is you who decides."))
        try:
            answered = Interview(terminal, store, replies).hold(question, asks_on)
        except NoMoreInput:
            raise click.Abort from None
    if answered is None:
        raise _overtaken(question.request_id, question.run_id, question.path)
    return answered


def _check_takes_answers(store: "Reader", question: "Request") -> None:
    """Refuse, before anybody types, what no answer is taken for now."""
    from runwright.engine.errors import ConflictError
    from runwright.engine.results import Conflict

    evidence: dict[str, Json] = {"request": question.request_id, "run": question.run_id, "kind": question.kind}
    if question.kind not in ("checkpoint", "decision") and not is_for_terminal(question):
        raise ConflictError(Conflict("protocol_rejected", {**evidence, "rule": "answered_by_its_session"}))
    status = store.status(question.run_id)
    if status.status == "paused":
        raise ConflictError(Conflict("paused", {"run": question.run_id}))
    if status.status == "running":
        raise ConflictError(Conflict("still_live", {**evidence, "node": question.path}))


def _nobody(question: "Request") -> Refused:
    if question.kind == "decision":
        return Refused(
            Failure(
                code="human_required",
                message=f"Request {question.request_id} of run {question.run_id} is a decision, "
                "and only a person at a terminal makes one",
                hint=f"Type it yourself, in a terminal: runwright answer {question.request_id}",
                exit_code=CONFLICT,
            )
        )
    hint = f"`runwright requests` shows what is asked; then: runwright answer {question.request_id} VALUE"
    return Refused.usage("There is no VALUE, and nobody to ask at a terminal.", hint)


def _overtaken(request_id: str, run_id: str, path: str) -> Refused:
    return Refused(
        Failure(
            code="revision_changed",
            message=f"Request {request_id} of run {run_id} was settled already",
            hint=f"`runwright show {run_id} {path}` says how",
            exit_code=CONFLICT,
        )
    )
