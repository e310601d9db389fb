"""Which of the four run commands a launch is told, and which commands fit which runs (page 05, "Run commands")."""

from typing import Final, Literal, TypeAlias, assert_never

from attrs import frozen

from runwright.engine.commands.run import Beginning, Continue, Restart, Resume, RunCommand, Start
from runwright.engine.results import Conflict
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.runs import RunRow

Fit: TypeAlias = Literal["fits", "wrong_kind", "started", "never_started", "not_claimed", "parent_unfit", "names_other"]

#: Ends that a restart may follow.
RESTARTED: Final = ("completed", "failed", "timed_out", "cancelled")


@frozen(kw_only=True)
class Launch:
    """What a command is held against, before any of the workflow's code is loaded.

    Attributes:
        run: The run.
        queue: Its queue state.
        parent: The run before it, where there is one.
        request: The request whose answer a continuation carries on.
    """

    run: RunRow
    queue: str
    parent: RunRow | None = None
    request: RequestRow | None = None


def beginning(launch: Launch) -> Beginning:
    """How a run begins; what a resume without a node of its own does again."""
    run, request = launch.run, launch.request
    match run.kind:
        case "continue":
            assert run.parent is not None
            assert request is not None, "a continuation follows an answered request"
            return Continue(run_id=run.run_id, parent=run.parent, request=request.request, node=request.path)
        case "restart":
            assert run.parent is not None
            return Restart(run_id=run.run_id, parent=run.parent, at=run.at)
        case _:
            return Start(run_id=run.run_id)


def command_of(launch: Launch) -> RunCommand:
    """What the worker of the next launch is told: a run that has started goes on, another one begins."""
    if launch.run.started_at is not None:
        return Resume(run_id=launch.run.run_id)
    return beginning(launch)


def check_command(command: RunCommand, launch: Launch) -> Conflict | None:
    """Refuse a command that does not fit the run it is for; nothing has been loaded or changed by then."""
    rule = fit(command, launch)
    if rule == "fits":
        return None
    return Conflict(
        "protocol_rejected", {"run": launch.run.run_id, "rule": rule, "command": type(command).__name__.lower()}
    )


def fit(command: RunCommand, launch: Launch) -> Fit:
    """Say whether a command fits, or the first rule that it breaks."""
    run = launch.run
    if launch.queue != "starting":
        return "not_claimed"
    match command:
        case Start():
            return _begins(command, launch, "start")
        case Resume():
            return "fits" if run.started_at is not None else "never_started"
        case Continue():
            parent = launch.parent
            unfit = parent is None or (parent.status, parent.continued_by) != ("continued", run.run_id)
            return _begins(command, launch, "continue", unfit=unfit)
        case Restart():
            unfit = launch.parent is None or launch.parent.status not in RESTARTED
            return _begins(command, launch, "restart", unfit=unfit)
        case never:
            assert_never(never)


def _begins(command: Beginning, launch: Launch, kind: str, *, unfit: bool = False) -> Fit:
    run = launch.run
    if run.kind != kind:
        return "wrong_kind"
    if run.started_at is not None:
        return "started"
    if unfit:
        return "parent_unfit"
    return "fits" if command == beginning(launch) else "names_other"
