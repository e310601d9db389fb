"""Answers to requests, checked against the type of the node that asks."""

import asyncio
from typing import Any, Final, assert_never

from attrs import frozen

from runwright.engine.authoring.conversion import shape_of
from runwright.engine.commands.client import AnswerRequest
from runwright.engine.decisions.answering import ANSWERED
from runwright.engine.embedded.code import AnswerFits, AnswerGiven, Code, ProgramDiffers, ProgramFacts
from runwright.engine.embedded.fitting import fitting
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.programs import Programs, wanted_by
from runwright.engine.embedded.state import read_state
from runwright.engine.errors import ConflictError, PreflightError, RecoveryRequiredError
from runwright.engine.execution.port import RunState
from runwright.engine.reading.moment import moment_of
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
    """Makes commands of what people and programs answer.

    Args:
        programs: The programs of saved runs.
        code: Who is asked about them.
        holder: The open store.
    """

    def __init__(self, programs: Programs, code: Code, holder: Holder) -> None:
        self._programs = programs
        self._code = code
        self._holder = holder

    async def command(
        self, request: RequestRow, run: RunRow, value: object
    ) -> tuple[AnswerRequest, ProgramFacts | None]:
        """The command for an answer, and the program that goes on with it.

        A request that nobody can answer any more is left to the decision, and nothing is loaded for it. One of a
        paused run can be answered again at any moment: what is handed to the decision is checked like any other.

        Raises:
            ConflictError: The run is paused, or ended meanwhile, and the answer would not do either.
            InputInvalid: The answer does not fit the node's type.
            Unloadable: The workflow that knows the type cannot be loaded.
            RecoveryRequiredError: The workflow has changed since the run was started.
        """
        if request.state in _OVER or run.finished_at is not None or request.kind not in ANSWERED:
            return AnswerRequest(request=request.request, value=await self._late(request, run, value)), None
        try:
            return await self._checked(request, run, value)
        except (PreflightError, RecoveryRequiredError):
            self._programs.check_lives(run.run_id)
            if self._programs.run(run.run_id).paused:
                raise ConflictError(Conflict("paused", {"run": run.run_id})) from None
            raise

    async def _checked(self, request: RequestRow, run: RunRow, value: object) -> tuple[AnswerRequest, ProgramFacts]:
        state = await asyncio.to_thread(self._read, run) if request.kind == "agent" else None
        given = AnswerGiven(wanted=wanted_by(run), path=request.path, kind=request.kind, state=state)
        match await self._code.answer(given, value):
            case AnswerFits(program=program, document=document):
                command = AnswerRequest(
                    request=request.request,
                    value=document,
                    sources=program.sources,
                    definition=program.definition,
                )
                return command, program
            case ProgramDiffers(program=program):
                raise RecoveryRequiredError(RecoveryRequired("source_changed", self._programs.difference(run, program)))
            case never:
                assert_never(never)

    async def _late(self, request: RequestRow, run: RunRow, value: object) -> Json:
        """An answer that nobody waits for, as JSON; written like the one that was accepted, to tell them apart."""
        if request.kind == "decision":
            return fitting(value, shape_of(Any), "answer")  # it is refused, and what it was is kept
        if request.state != "accepted":
            return None  # whatever it is, it is refused
        given = AnswerGiven(wanted=wanted_by(run), path=request.path, kind=request.kind, late=True)
        try:
            answer = await self._code.answer(given, value)
        except PreflightError:
            return fitting(value, shape_of(Any), "answer")
        return answer.document if isinstance(answer, AnswerFits) else fitting(value, shape_of(Any), "answer")

    def _read(self, run: RunRow) -> RunState:
        with moment_of(self._holder.log) as moment:
            return read_state(run, moment.rows, moment.event, self._holder.home.run_folder(run.run_id) / "scratch")
