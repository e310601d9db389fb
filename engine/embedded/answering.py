"""Answers to requests, checked against the type of the node that asks."""

from typing import Any, Final

from attrs import frozen

from runwright.engine.authoring.conversion import Shape, shape_of, to_json
from runwright.engine.commands.client import AnswerRequest
from runwright.engine.decisions.answering import ANSWERED
from runwright.engine.embedded.catalog import Driven
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.programs import Programs
from runwright.engine.embedded.resolving import checked
from runwright.engine.embedded.validating import validate_answer
from runwright.engine.errors import ConflictError, InputInvalid, PreflightError, RecoveryRequiredError
from runwright.engine.results import Conflict, RecoveryRequired
from runwright.eventstore.values import Json
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.runs import RunRow

#: The states that a request never leaves.
_OVER: Final = frozenset({"accepted", "closed"})


@frozen(kw_only=True)
class Answered:
    """An answer that was accepted.

    Attributes:
        request_id: The request.
        run_id: The run that goes on: behind a checkpoint a child of the one that asked.
        adopted: Whether an equal answer had been accepted before.
        revision: The revision of that run after it.
    """

    request_id: str
    run_id: str
    adopted: bool = False
    revision: int


class Answering:
    """Makes commands of what people and programs answer."""

    def __init__(self, programs: Programs, holder: Holder) -> None:
        self._programs = programs
        self._holder = holder

    async def command(self, request: RequestRow, run: RunRow, value: object) -> tuple[AnswerRequest, Driven | None]:
        """The command for an answer, and the program that goes on with it.

        A request that nobody can answer any more is left to the decision, and nothing is loaded for it. One of a
        paused run can be answered again at any moment: what is handed to the decision is checked like any other.

        Raises:
            ConflictError: The run is paused, and the answer would not do either.
            InputInvalid: The answer does not fit the node's type.
            PreflightError: The workflow that knows the type cannot be loaded.
            RecoveryRequiredError: The workflow has changed since the run was started.
        """
        try:
            return await self._command(request, run, value)
        except InputInvalid as unfit:
            raise InputInvalid(unfit.path, unfit.problem, "answer") from None

    async def _command(self, request: RequestRow, run: RunRow, value: object) -> tuple[AnswerRequest, Driven | None]:
        if request.state in _OVER or run.finished_at is not None or request.kind not in ANSWERED:
            return AnswerRequest(request=request.request, value=await self._late(request, run, value)), None
        try:
            return await self._checked(request, run, value)
        except (PreflightError, RecoveryRequiredError):
            if run.paused:
                raise ConflictError(Conflict("paused", {"run": run.run_id})) from None
            raise

    async def _checked(self, request: RequestRow, run: RunRow, value: object) -> tuple[AnswerRequest, Driven]:
        driven = await self._programs.find(run)
        node = driven.program.nodes.get(request.path)
        if node is None or not driven.carries(run):
            raise RecoveryRequiredError(RecoveryRequired("source_changed", self._programs.difference(run, driven)))
        document = _whole(value, node.shape)
        if request.kind == "agent":
            await validate_answer(self._holder, run, driven, request.path, document)
        command = AnswerRequest(
            request=request.request,
            value=document,
            sources=driven.sources,
            definition=driven.digest,
        )
        return command, driven

    async def _late(self, request: RequestRow, run: RunRow, value: object) -> Json:
        """An answer that nobody waits for, as JSON; written like the one that was accepted, to tell them apart."""
        if request.state != "accepted":
            return None  # whatever it is, it is refused
        try:
            node = (await self._programs.find(run)).program.nodes.get(request.path)
            return checked(value, shape_of(Any)) if node is None else _whole(value, node.shape)
        except PreflightError:
            return checked(value, shape_of(Any))


def _whole(value: object, shape: Shape) -> Json:
    """An answer as it is stored: with everything that its type fills in."""
    return to_json(shape.load(checked(value, shape)), shape)
