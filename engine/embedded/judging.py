"""Checking candidates that were recorded: each by one task of the engine's own, whoever still waits for its verdict."""

import asyncio
import logging
from typing import Final, TypeAlias, assert_never

from attrs import frozen

from runwright.engine.commands.client import Caller
from runwright.engine.commands.host import JudgeSubmission
from runwright.engine.embedded.code import AnswerFits, AnswerGiven, Code, ProgramDiffers
from runwright.engine.embedded.driving import Driving
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.programs import wanted_by
from runwright.engine.embedded.state import read_state
from runwright.engine.errors import AnswerRefused, EngineError, InputInvalid, Unloadable
from runwright.engine.execution.port import RunState
from runwright.engine.reading.moment import moment_of
from runwright.eventstore.errors import StoreClosed, StoreError
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.request import RequestAccepted, RequestRejected, RequestSubmitted
from runwright.eventstore.values import Json
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.requests import CRASHED, REQUESTS, RequestRow
from runwright.projections.control.runs import RunRow

_log = logging.getLogger("runwright.engine")

#: Seconds after which a verdict that the store could not take is handed in again.
AGAIN: Final = 1.0

_DIFFERS: Final = "the workflow has changed since the run was started; somebody has to look at that first"
_MISSING: Final = "the workflow that knows what the answer has to be is not there; somebody has to hand it back first"


@frozen
class Accepted:
    """The candidate is the answer."""


@frozen
class Rejected:
    """The candidate was refused.

    Attributes:
        code: Why.
        reason: The same in words; ``None`` where they were erased.
        refused: How many candidates of the attempt would not do by now.
        last: Whether that ended the attempt.
    """

    code: str
    reason: str | None
    refused: int
    last: bool


@frozen
class Overtaken:
    """The request ended before its candidate was checked."""

    state: str
    cause: str | None


Verdict: TypeAlias = Accepted | Rejected | Overtaken


class Judging:
    """Checks candidates and hands in what that comes to.

    Args:
        code: Who is asked about workflows' code.
        holder: The open store.
        driving: Drives what goes on.
    """

    def __init__(self, code: Code, holder: Holder, driving: Driving) -> None:
        self._code = code
        self._holder = holder
        self._driving = driving
        #: Candidates that are being checked.
        self._under_way: set[str] = set()

    def begin(self) -> None:
        """Check what an earlier holder took in and did not get to."""
        with moment_of(self._holder.log) as moment:
            left = [row for row in moment.rows.find(REQUESTS, state="validating") if row.submission is not None]
        for row in left:
            self._check(row.run_id, row.request, str(row.submission))

    def submission(self, caller: Caller) -> str | None:
        """The candidate that a caller's key stands for; ``None`` where it handed in none of its own."""
        with moment_of(self._holder.log) as moment:
            receipt = moment.rows.get(RECEIPTS, caller.client, caller.key)
            recorded = None if receipt is None or receipt.first is None else moment.event(receipt.first)
        event = None if recorded is None else recorded.event
        return event.submission if isinstance(event, RequestSubmitted) else None

    async def verdict(self, run_id: str, request: str, submission: str) -> Verdict:
        """Wait for what becomes of a candidate; whoever gives up waiting withdraws nothing.

        A request that ends while its candidate is checked waits for no check: that may take its time, or never end.

        Raises:
            StoreClosed: The engine closes first; the next one checks what this one did not.
        """
        with self._driving.watch.of(run_id) as changed:
            while (verdict := await asyncio.to_thread(self._known, request, submission)) is None:
                if self._driving.stopping:
                    raise StoreClosed
                self._check(run_id, request, submission)
                await changed.wait()
                changed.clear()
            return verdict

    def _check(self, run_id: str, request: str, submission: str) -> None:
        """Have a candidate checked, once."""
        if submission not in self._under_way:
            self._under_way.add(submission)
            self._driving.background(self._judge(run_id, request, submission), f"submission {submission}")

    async def _judge(self, run_id: str, request: str, submission: str) -> None:
        try:
            while not self._driving.stopping:
                try:
                    await self._settle(request, submission)
                    break
                except StoreError as error:
                    if self._holder.closed or self._holder.log.failed is not None:
                        break
                    _log.warning("the verdict on submission %s was put off: %s", submission, error.code)
                    await asyncio.sleep(AGAIN)
        finally:
            self._under_way.discard(submission)
            self._driving.watch.tell(run_id)

    async def _settle(self, request: str, submission: str) -> None:
        found = await asyncio.to_thread(self._candidate, request, submission)
        if found is None:
            return
        run, row, state, candidate = found
        command = await self._judged(run, row, submission, state, candidate)
        await self._driving.bridge.wrap(self._holder.transitions.host(command))
        self._driving.look(run.run_id)

    async def _judged(
        self, run: RunRow, row: RequestRow, submission: str, state: RunState, candidate: Json
    ) -> JudgeSubmission:
        """Ask the code of the node, and put what it says into a command."""
        of = {"run_id": run.run_id, "request": row.request, "submission": submission}
        given = AnswerGiven(wanted=wanted_by(run), path=row.path, kind=row.kind, state=state)
        try:
            answer = await self._code.answer(given, candidate)
        except AnswerRefused as refused:
            return JudgeSubmission(**of, refusal=refused.problem, code="validation_failed")
        except InputInvalid as unfit:
            return JudgeSubmission(**of, refusal=f"at {unfit.path}: {unfit.problem}", code="output_invalid")
        except Unloadable:
            return JudgeSubmission(**of, refusal=_MISSING, code="environment_missing")
        except EngineError as error:
            return JudgeSubmission(**of, refusal=f"it could not be checked: {error.message.rstrip('.')}", code=CRASHED)
        match answer:
            case AnswerFits(program=program, document=document):
                self._driving.take(run.run_id, program)
                return JudgeSubmission(**of, output=document)
            case ProgramDiffers():
                return JudgeSubmission(**of, refusal=_DIFFERS, code="source_changed")
            case never:
                assert_never(never)

    def _candidate(self, request: str, submission: str) -> tuple[RunRow, RequestRow, RunState, Json] | None:
        """What is to be checked; ``None`` where nothing waits for it any more."""
        with moment_of(self._holder.log) as moment:
            row = moment.rows.get(REQUESTS, request)
            if row is None or row.state != "validating" or row.submission != submission or row.candidate is None:
                return None
            run = moment.run(row.run_id)
            recorded = moment.event(row.candidate)
            scratch = self._holder.home.run_folder(run.run_id) / "scratch"
            state = read_state(run, moment.rows, moment.event, scratch)
        event = None if recorded is None else recorded.event
        if not isinstance(event, RequestSubmitted) or event.candidate is None:
            return None
        return run, row, state, event.candidate.value

    def _known(self, request: str, submission: str) -> Verdict | None:
        """What became of a candidate, as the log says; ``None`` while it is being checked."""
        with moment_of(self._holder.log) as moment:
            row = moment.rows.get(REQUESTS, request)
            if row is None:
                return Overtaken("closed", None)
        if row.submission == submission and row.state == "validating":
            return None
        last = row.state == "closed" and row.submission == submission
        types = (RequestAccepted.type, RequestRejected.type)
        for recorded in self._holder.reader.events(row.run_id, types=types, after=row.opened):
            match recorded.event:
                case RequestAccepted(submission=found) if found == submission:
                    return Accepted()
                case RequestRejected(submission=found, code=code, reason=reason) if found == submission:
                    return Rejected(code, _text(reason), row.refused, last)
                case _:
                    continue
        return Overtaken(row.state, row.cause)


def _text(content: Content | None) -> str | None:
    return content.value if content is not None and isinstance(content.value, str) else None
