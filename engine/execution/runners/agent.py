"""The runner of agent and choose nodes: an executor is asked until its answer fits, or its time or tries are up."""

from typing import cast

from attrs import frozen

from runwright.engine.agents.agent import DEFAULT_AGENT, Agent, AgentRequest, PersonElsewhere
from runwright.engine.authoring.conversion import PLAIN, NotConvertible, Shape
from runwright.engine.commands.worker import CloseRequest, OpenRequest, ParkRun, SubmitCandidate
from runwright.engine.execution.calling import call
from runwright.engine.execution.contexts import as_time
from runwright.engine.execution.failures import MAX_ERROR, Failure, NodeFailure, describe, message_of, stored
from runwright.engine.execution.port import SavedRequest
from runwright.engine.execution.runners.asking import ask_person, ask_session
from runwright.engine.execution.runners.texts import text_of
from runwright.engine.execution.speaking import speaking
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import Walk
from runwright.engine.safe import cut, strike
from runwright.eventstore.values import Json

#: Refused answers of one attempt.
MAX_REFUSED = 5


async def run_agent(walk: Walk, visit: Visit) -> Ended | Parked:
    """Ask the run's session, where it has one and the node names no executor; else the node's executor."""
    by = visit.spec.by or DEFAULT_AGENT
    if walk.state.session is not None and by == DEFAULT_AGENT:
        return await ask_session(walk, visit)
    agent = walk.agents.get(by)
    if agent is None:
        detail = f"No executor {by!r} was handed in for {visit.path!r}. Open the engine with agents={{{by!r}: …}}."
        return Parked(park=ParkRun(reason="environment_missing", code="agent_missing", detail=detail))
    if isinstance(agent, PersonElsewhere):
        return await ask_person(walk, visit)
    try:
        request = visit.request or await _open(walk, visit)
    except NodeFailure as error:
        return Ended.badly(error.failure)
    return await _Asking(walk, visit, agent, request).answer()


async def _open(walk: Walk, visit: Visit) -> SavedRequest:
    prompt = await walk.aside(text_of(walk, visit, "prompt"))
    *_, request = await walk.commit(
        *visit.opening(),
        OpenRequest(
            path=visit.path,
            visit=visit.number,
            attempt=visit.attempt,
            kind="agent",
            prompt=prompt,
            contract=visit.spec.schema,
            deadline=visit.deadline,
        ),
    )
    return SavedRequest(request=cast(str, request), prompt=prompt, refused=0, refusal=None, deadline=visit.deadline)


@frozen
class _Refusal:
    code: str
    reason: str
    candidate: Json


@frozen
class _Accepted:
    candidate: Json


class _Asking:
    """One open request and the executor that answers it."""

    def __init__(self, walk: Walk, visit: Visit, agent: Agent, request: SavedRequest) -> None:
        self._walk = walk
        self._visit = visit
        self._agent = agent
        self._request = request
        self._refused = request.refused
        self._refusal = request.refusal

    async def answer(self) -> Ended:
        await self._walk.commit(*self._visit.opening())  # after a crash: the worker is ready before anybody is asked
        try:
            while self._refused < MAX_REFUSED:
                value = await self._walk.call(self._visit, self._agent.run, self._question())
                checked = await self._check(value)
                if not isinstance(checked, _Refusal):
                    accept = SubmitCandidate(request=self._request.request, candidate=checked.candidate)
                    return Ended(outcome="completed", output=checked.candidate, settles=(accept,))
                await self._refuse(checked)
        except NodeFailure as error:
            return Ended.badly(error.failure, CloseRequest(request=self._request.request, cause=error.failure.outcome))
        text = f"{self._refused} answers were refused; the last one because: {self._refusal}"
        failure = Failure(code="validation_failed", error=cut(text, MAX_ERROR))
        return Ended.badly(failure, CloseRequest(request=self._request.request, cause="failed"))

    def _question(self) -> AgentRequest:
        state, visit = self._walk.state, self._visit
        return AgentRequest(
            prompt=self._request.prompt,
            schema=visit.spec.schema,
            run_id=state.run_id,
            path=visit.path,
            visit=visit.number,
            attempt=visit.attempt,
            request_id=self._request.request,
            deadline=None if visit.deadline is None else as_time(visit.deadline),
            cwd=state.cwd,
            scratch=state.scratch,
            resumed=visit.resumed,
            refused=self._refusal,
            update=visit.context.update,
            log=lambda text: self._walk.log.line(visit.path, text),
        )

    async def _check(self, value: object) -> _Accepted | _Refusal:
        """By its type first, then by the node's own function."""
        shape = self._visit.node.shape
        if self._visit.spec.kind == "choose" and isinstance(value, str):
            value = value.strip()
        try:
            candidate = _as_json(shape, value)
        except NotConvertible as problem:
            reason = f"{problem}; {problem.detail}" if problem.detail else str(problem)
            return _Refusal("output_invalid", reason, _kept(value))
        except NodeFailure as error:
            return _Refusal(error.failure.code, error.failure.error, None)
        except BaseException as error:  # noqa: BLE001 (a class of the executor's own runs its code here)
            return _Refusal("output_invalid", f"the answer cannot be read: {describe(error)}", None)
        validate = self._visit.declaration.validate
        if validate is not None:
            limit = self._walk.left(self._visit.deadline)
            try:
                with speaking(self._walk.state.run_id, self._visit.path, self._walk.log):
                    await call(self._walk.state.run_id, limit, validate, self._visit.context, shape.load(candidate))
            except (ValueError, AssertionError) as error:
                return _Refusal("validation_failed", message_of(error) or type(error).__name__, candidate)
            except Exception as error:  # noqa: BLE001 (any other is a mistake in the function, and not in the answer)
                raise self._walk.failed(self._visit, error) from None
        return _Accepted(candidate)

    async def _refuse(self, refusal: _Refusal) -> None:
        self._refused += 1
        self._refusal = cut(strike(refusal.reason, self._walk.secrets), MAX_ERROR)
        self._walk.log.line(self._visit.path, f"answer {self._refused} was refused: {self._refusal}")
        await self._walk.commit(
            SubmitCandidate(
                request=self._request.request,
                candidate=refusal.candidate,
                refusal=self._refusal,
                code=refusal.code,
            )
        )


def _as_json(shape: Shape, value: object) -> Json:
    """An answer as it is stored: a value of the node's own type, or the JSON of one."""
    try:
        document = shape.dump(value)
    except NotConvertible as problem:
        try:
            document = PLAIN.dump(value)
        except NotConvertible:
            raise problem from None
    return stored(shape, shape.load(document))


def _kept(value: object) -> Json:
    """A refused answer as it is recorded: itself where it is plain JSON."""
    try:
        return stored(PLAIN, value)
    except NodeFailure:
        return None
