"""What people decide and agents submit, from the calling loop."""

from typing import Any, Final, assert_never

from runwright.engine.authoring.context import Update
from runwright.engine.authoring.conversion import shape_of
from runwright.engine.commands.client import Caller, DecideRequest, SubmitAnswer, UpdateRequest
from runwright.engine.decisions.request import MAX_REFUSED
from runwright.engine.embedded.answering import Answered
from runwright.engine.embedded.async_steering import AsyncSteering
from runwright.engine.embedded.code import Code
from runwright.engine.embedded.fitting import fitting
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.judging import Accepted, Judging, Overtaken, Rejected, Verdict
from runwright.engine.embedded.launcher import NOTHING, Launcher, Provisions
from runwright.engine.embedded.programs import wanted_by
from runwright.engine.errors import AnswerRejected, ConflictError, PreflightError
from runwright.engine.execution.contexts import as_update
from runwright.engine.results import Adopted, Applied, Conflict
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RunRow

_ERASED: Final = "the reason was erased"


class AsyncConversing(AsyncSteering):
    """The words of people and agents to what runs ask them.

    Args:
        holder: The open store.
        code: Who is asked about workflows' code.
        launcher: Who carries runs out.
        capacity: How many runs are driven at once.
        client: Who is said to give the commands.
    """

    def __init__(self, holder: Holder, *, code: Code, launcher: Launcher, capacity: int, client: str) -> None:
        super().__init__(holder, code=code, launcher=launcher, capacity=capacity, client=client)
        self._judging = Judging(code, holder, self._driving)

    async def decide(
        self,
        request_id: str,
        choice: str,
        *,
        text: str | None = None,
        by: str,
        digest: str | None = None,
        key: str | None = None,
        drive: bool = True,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
    ) -> Answered:
        """Make a person's decision; the run goes on by itself.

        Args:
            request_id: The request.
            choice: The name of one of its choices.
            text: What was written beside it, where the choice takes a text.
            by: Who decided: whoever calls this vouches for that person.
            digest: The digest of what the person saw: where the question is another one now, nothing is decided.
            key: The idempotency key.
            drive: Whether this engine drives the run on; otherwise it waits for a `resume`.
            caller: Who asks, under a key of its own.
            provisions: What is handed over for the run, and kept in memory only.

        Raises:
            NotFound: There is no such request.
            ConflictError: It was decided otherwise, in time or by the policy of its deadline; it is closed, is no
                decision or asks something else now; the choice is none of its own; its run is paused; or no person
                stands behind the call. All of it but the pause is written down as a refused answer.
        """
        self._check_open()
        _, run = self._programs.request(request_id)
        command = DecideRequest(request=request_id, choice=choice, text=text, by=by, digest=digest)
        result = await self._send(command, caller, key)
        self._launcher.provide(run.run_id, provisions)
        if drive:
            await self._take(run)
        self._driving.look(run.run_id)
        return _answered(request_id, run.run_id, result)

    async def submit(
        self,
        request_id: str,
        value: object,
        *,
        session: str | None = None,
        epoch: str | None = None,
        key: str | None = None,
        caller: Caller | None = None,
        provisions: Provisions = NOTHING,
    ) -> Answered:
        """Hand in a candidate for an agent's request, and wait for the verdict on it.

        It is recorded first; whoever gives up waiting withdraws nothing, and a repeat with the same key hears the same
        verdict.

        Args:
            request_id: The request.
            value: The candidate, as JSON.
            session: The session that speaks; ``None`` for a person who plays the agent.
            epoch: Its coordinator's epoch: a session speaks under the present one alone.
            key: The idempotency key.
            caller: Who asks, under a key of its own.
            provisions: What is handed over for the run, and kept in memory only.

        Raises:
            NotFound: There is no such request.
            InputInvalid: It is no JSON; nothing is recorded of it.
            AnswerRejected: It was recorded and will not do; the request is open again, or its attempt has failed.
            ConflictError: It changed nothing: another coordinator has the session, the request is put to another
                session, is of another kind, was answered or is closed, or its run is paused.
        """
        self._check_open()
        _, run = self._programs.request(request_id)
        document = fitting(value, shape_of(Any), "answer")
        command = SubmitAnswer(request=request_id, value=document, session=session, epoch=epoch)
        caller = self._identity.caller(key, caller)
        result = await self._send(command, caller)
        self._launcher.provide(run.run_id, provisions)
        submission = self._judging.submission(caller)
        if submission is not None:
            _check_verdict(request_id, run.run_id, await self._judging.verdict(run.run_id, request_id, submission))
        return _answered(request_id, run.run_id, result)

    async def update_request(
        self,
        request_id: str,
        *,
        name: str = "overall",
        completed: float | None = None,
        total: float | None = None,
        unit: str = "",
        message: str = "",
        session: str | None = None,
        epoch: str | None = None,
        key: str | None = None,
        caller: Caller | None = None,
    ) -> Applied[str] | Adopted[str]:
        """Report progress of the attempt that waits for an agent's answer.

        Args:
            request_id: The request.
            name: What it is progress of; the newest of each name is shown.
            completed: How much is done.
            total: How much there is.
            unit: What is counted.
            message: A line for people.
            session: As for `submit`.
            epoch: As for `submit`.
            key: The idempotency key.
            caller: Who asks, under a key of its own.

        Raises:
            NotFound: There is no such request.
            ConflictError: As for `submit`; or it is too much: 20 a second after 100 at once, 1,024 names, 64 KiB each.
            ValueError: The name or a number is none that could be shown.
        """
        self._check_usable()
        progress = Update(key=name, completed=completed, total=total, unit=unit, message=message)
        name, update = as_update(progress)
        command = UpdateRequest(request=request_id, name=name, update=update, session=session, epoch=epoch)
        return await self._send(command, caller, key)

    async def _take(self, run: RunRow) -> None:
        """Have this engine drive a run that somebody's decision has moved."""
        if self._driving.taken(run.run_id):
            return
        try:
            self._driving.take(run.run_id, await self._code.load(wanted_by(run)))
        except PreflightError:
            # The decision stands. A workflow that is not here is missed, and said to be, when the run is resumed.
            return


def _answered(request_id: str, run_id: str, result: Applied[str] | Adopted[str]) -> Answered:
    return Answered(request_id=request_id, run_id=run_id, adopted=isinstance(result, Adopted), revision=result.revision)


def _check_verdict(request_id: str, run_id: str, verdict: Verdict) -> None:
    """Raise what a candidate came to, where that is no answer."""
    match verdict:
        case Accepted():
            return
        case Rejected(code=code, reason=reason, refused=refused, last=last):
            left = 0 if last else max(1, MAX_REFUSED - refused)
            raise AnswerRejected(request_id, code, _ERASED if reason is None else reason, left)
        case Overtaken(state=state, cause=cause):
            evidence: dict[str, Json] = {"request": request_id, "run": run_id, "state": state, "cause": cause}
            raise ConflictError(Conflict("revision_changed", evidence))
        case never:
            assert_never(never)
