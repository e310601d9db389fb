"""Everything that is checked before a run is queued; what fails here leaves no trace (page 05, "Launch")."""

from collections.abc import Callable
from datetime import timedelta
from logging import getLogger
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright.engine.authoring.context import Context
from runwright.engine.authoring.conversion import NotConvertible, from_json, to_json
from runwright.engine.authoring.limits import limit_us
from runwright.engine.commands.client import QueueRun
from runwright.engine.embedded.catalog import Driven
from runwright.engine.embedded.code import Prepared, Starting, Wanted
from runwright.engine.embedded.filling import check_asked, fill_input
from runwright.engine.errors import ActivationFailed, InputInvalid
from runwright.engine.graph.program import Program
from runwright.engine.texts import check_paths
from runwright.eventstore.errors import PayloadTooLarge, ValueRefused
from runwright.eventstore.events.run import AgentBinding
from runwright.eventstore.values import Json, encode

_log = getLogger("runwright.engine")

MAX_INPUT = 1024 * 1024


@frozen(kw_only=True)
class Surroundings:
    """Where a run is started.

    Attributes:
        cwd: The folder.
        project: The project, or ``None`` for the one of the workflow.
        interpreter: The Python that loads its code.
        pass_env: Names of variables that are handed on.
    """

    cwd: Path
    project: Path | None = None
    interpreter: str | None = None
    pass_env: tuple[str, ...] = ()

    def wanted(self, reference: str, project: Path, run_id: str | None = None) -> Wanted:
        """A program that is to be started here, as that run."""
        return Wanted(
            reference=reference,
            project=self.project or project,
            cwd=self.cwd,
            interpreter=self.interpreter,
            pass_env=self.pass_env,
            run_id=run_id,
        )


def prepare(driven: Driven, starting: Starting, value: object, *, typed: bool) -> Prepared:
    """Check a start of a program that is here, and work out what only its code can tell.

    Args:
        driven: The program.
        starting: The start.
        value: The input: a value of its declared type, or JSON.
        typed: Whether ``value`` may be a value of the declared type, and not only JSON.

    Raises:
        InputInvalid: The input does not fit.
        InputRefused: A field that was typed cannot be read, or does not fit.
        AgentMissing: A node asks an executor that nobody handed in.
        SessionMissing: A node asks the run's session, and the run would have none.
        AgentUnasked: An executor was named that no node asks for.
        ActivationFailed: The function of the run's own time limit failed.
        NameUnsaved: The name of a folder is no text.
    """
    wanted = starting.wanted
    check_paths(
        ("project", str(wanted.project)),
        ("folder", str(wanted.cwd)),
        ("interpreter", wanted.interpreter or ""),
        *(("source file", each) for each in driven.paths or ()),
    )
    check_asked(starting.typed.agents, driven.executors.values())
    value = fill_input(driven.program.input, value, starting.typed)
    document = check_input(driven.program, value, typed=typed)
    driven.check_executors(starting.agents, starting.session)
    timeout = _time_limit(driven.program, document, starting.run_id, wanted.cwd)
    return Prepared(program=driven, input=document, timeout=timeout)


def queue_command(prepared: Prepared, starting: Starting) -> QueueRun:
    """The command that queues a start which was checked.

    Args:
        prepared: What the check answered.
        starting: What was checked.
    """
    program, wanted, session = prepared.program, starting.wanted, starting.session
    asked = sorted(set(program.asked(session).values()))
    return QueueRun(
        run_id=starting.run_id,
        workflow=program.workflow,
        reference=program.reference,
        definition=program.definition,
        snapshot=program.snapshot,
        sources=program.sources,
        paths=program.paths,
        input=prepared.input,
        max_steps=program.max_steps,
        timeout=prepared.timeout,
        session=session,
        project=str(wanted.project),
        cwd=str(wanted.cwd),
        interpreter=wanted.interpreter,
        agents=tuple(AgentBinding(name=name, kind=starting.agents[name]) for name in asked),
        pass_env=wanted.pass_env,
    )


def check_input(program: Program, value: object, *, typed: bool) -> Json:
    """The input as JSON, checked against the declared type.

    Raises:
        InputInvalid: It does not fit, or is too large.
    """
    try:
        document = to_json(value, program.input if typed and program.input.owns(value) else Any)
        # A value's own type may be stricter when it is built from JSON, and that is what the run will see.
        from_json(document, program.input)
        size = len(encode(document).encode())
    except NotConvertible as problem:
        raise InputInvalid(problem.path, problem.problem) from None
    except ValueRefused as problem:
        raise InputInvalid(problem.path, problem.problem) from None
    except PayloadTooLarge as problem:
        raise InputInvalid("$", f"it may have {problem.limit:,} bytes when encoded, and has more") from None
    if size > MAX_INPUT:
        raise InputInvalid("$", f"it may have {MAX_INPUT:,} bytes when encoded, and has {size:,}")
    return document


def _time_limit(program: Program, document: Json, run_id: str, cwd: Path) -> int | None:
    if program.timeout is None:
        return program.definition.timeout_us
    context = _context(program, document, run_id, cwd)
    return _asked(program.timeout, context)


def _asked(function: Callable[..., Any], context: Context[Any]) -> int | None:
    try:
        limit: float | timedelta | None = function(context)
        return limit_us(limit)
    except Exception:  # noqa: BLE001 - the user's function may raise anything
        _log.debug("the function of a run's time limit failed", exc_info=True)
        raise ActivationFailed("the function of its time limit") from None


def _context(program: Program, document: Json, run_id: str, cwd: Path) -> Context[Any]:
    """What the function of a run's own limit sees: the input, and nothing that has not happened yet."""
    return Context(
        input=from_json(document, program.input),
        run_id=run_id,
        node="",
        path="",
        visit=0,
        attempt=0,
        steps_left=program.definition.max_steps,
        cwd=cwd,
        scratch=cwd,
        deadline=None,
        log=_log,
        workflow=program.definition.workflow,
        report=lambda _: None,
    )
