"""`run` and `crash_at`: a user's own workflow with the real transitions, in memory, on a virtual clock."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.embedded.outcome import Outcome
from runwright.engine.errors import EngineError
from runwright.engine.graph.definition import Definition
from runwright.engine.testing.crashing import Boundary
from runwright.engine.testing.errors import CrashChanged, EffectRepeated, TestingError
from runwright.engine.testing.scripts import Answers, EffectAnswers, check_used
from runwright.engine.testing.staged import Played, Staged
from runwright.engine.testing.staging import Given
from runwright.engine.testing.virtual_time import VirtualClock
from runwright.eventstore.values import JsonObject

I = TypeVar("I")  # noqa: E741 - the name of the input's type everywhere in the public surface

_NONE: Mapping[Any, Any] = {}
#: What says all there is to say by itself, without the way it came.
_TOLD = (TestingError, EngineError)


@overload
def run(
    workflow: Workflow[JsonObject] | str,
    input: JsonObject,
    *,
    agents: Mapping[Any, Answers] = ...,
    decisions: Mapping[Any, Answers] = ...,
    effects: Mapping[Any, EffectAnswers] = ...,
    session: bool = ...,
    cwd: Path | None = ...,
) -> Outcome: ...
@overload
def run(
    workflow: Workflow[I],
    input: I,
    *,
    agents: Mapping[Any, Answers] = ...,
    decisions: Mapping[Any, Answers] = ...,
    effects: Mapping[Any, EffectAnswers] = ...,
    session: bool = ...,
    cwd: Path | None = ...,
) -> Outcome: ...
def run(
    workflow: Any,
    input: Any,
    *,
    agents: Mapping[Any, Answers] = _NONE,
    decisions: Mapping[Any, Answers] = _NONE,
    effects: Mapping[Any, EffectAnswers] = _NONE,
    session: bool = False,
    cwd: Path | None = None,
) -> Outcome:
    """Run a workflow with the real transitions, in a store that is thrown away, on a virtual clock.

    Waits, deadlines and delays of retries pass at once. No agent is asked and no effect happens: what stands in for
    them is given by node (or its full path; a declared node stands for every path it has).

    Args:
        workflow: The workflow, or its file, name or import path.
        input: Its input; JSON where the workflow is only named.
        agents: What agent, choose and assistant nodes answer: a list in order, or a function of the `AgentRequest`.
        decisions: What people choose and answer, in order. A decision's answer is the name of a choice, a pair of it
            and the text beside it, or ``None`` where its deadline passes without one.
        effects: What action and shell nodes come to: results in order, a function that is called with what the effect
            itself would get (a shell node: the context and the `Command`; text stands for its stdout), or ``"real"``.
        session: Whether a session starts the run and answers its agents; one does also where an assistant node asks.
        cwd: The folder that the run is started in; by default the current one.

    Returns:
        How the run stands: ended, or stopped where only somebody's command could move it.

    Raises:
        StandInMissing: The run reached a node that nothing, or nothing more, stands in for.
        StandInWrong: What was given for a node does not fit it.
        StandInUnused: Something was given that the run never asked for.
        StandInUnknown: Something was given for a node that the workflow does not have.
        StandsStill: The run waits for what never comes.
        TestingError: An argument is of no use.
        PreflightError: The run cannot be started.
    """
    __tracebackhide__ = True  # what is told is about the test's own line
    try:
        staged = Staged(_given(workflow, input, agents, decisions, effects, session, cwd))
        outcome = staged.play()
        check_used(staged.scripts, outcome.told)
        return outcome
    except _TOLD as error:
        raise error.with_traceback(None) from None


@overload
def crash_at(
    workflow: Workflow[JsonObject] | str,
    input: JsonObject,
    *,
    agents: Mapping[Any, Answers] = ...,
    decisions: Mapping[Any, Answers] = ...,
    effects: Mapping[Any, EffectAnswers] = ...,
    session: bool = ...,
    cwd: Path | None = ...,
) -> list[Outcome]: ...
@overload
def crash_at(
    workflow: Workflow[I],
    input: I,
    *,
    agents: Mapping[Any, Answers] = ...,
    decisions: Mapping[Any, Answers] = ...,
    effects: Mapping[Any, EffectAnswers] = ...,
    session: bool = ...,
    cwd: Path | None = ...,
) -> list[Outcome]: ...
def crash_at(
    workflow: Any,
    input: Any,
    *,
    agents: Mapping[Any, Answers] = _NONE,
    decisions: Mapping[Any, Answers] = _NONE,
    effects: Mapping[Any, EffectAnswers] = _NONE,
    session: bool = False,
    cwd: Path | None = None,
) -> list[Outcome]:
    """Run a workflow undisturbed, and then once for each side of each of its commits, with a crash there.

    After each crash the store is opened again and the run carried on, as the next host would; an effect that the crash
    left uncertain is resolved by what really happened. Every one of these runs has to come to the same end, and no
    effect that is manual or observed may happen twice.

    Args:
        workflow: As for `run`.
        input: As for `run`.
        agents: As for `run`; a question that a crash makes a worker ask again gets the same answer.
        decisions: As for `run`.
        effects: As for `run`; an effect that is applied again in the same attempt gets the same result.
        session: As for `run`.
        cwd: As for `run`.

    Returns:
        The outcome of the undisturbed run, and then one for each crash.

    Raises:
        CrashChanged: A run that crashed came to something else.
        EffectRepeated: An effect that must not happen twice did.
        TestingError: As for `run`.
    """
    __tracebackhide__ = True  # what is told is about the test's own line
    try:
        return _crash_everywhere(_given(workflow, input, agents, decisions, effects, session, cwd))
    except _TOLD as error:
        raise error.with_traceback(None) from None


def _crash_everywhere(given: Given) -> list[Outcome]:
    start = VirtualClock().now()
    staged = Staged(given, start)
    expected = staged.play()
    check_used(staged.scripts, expected.told)
    outcomes: list[Outcome] = [expected]
    for number in itertools.count(1):
        # Before the first commit there is no run yet.
        for boundary in (Boundary(number, "before"), Boundary(number, "after"))[number == 1 :]:
            staged = Staged(given, start)
            try:
                outcome = staged.play(boundary)
            except AssertionError as error:
                error.add_note(f"It came to this after a crash {boundary}, and not without one.")
                raise
            if not staged.crashed:
                return outcomes
            _compare(str(boundary), expected, outcome)
            _check_world(str(boundary), staged)
            outcomes.append(outcome)
    raise AssertionError("every run has a last commit")


def _given(
    workflow: Any,
    input: Any,
    agents: Mapping[Any, Answers],
    decisions: Mapping[Any, Answers],
    effects: Mapping[Any, EffectAnswers],
    session: bool,
    cwd: Path | None,
) -> Given:
    if not isinstance(workflow, Workflow | str):
        raise TestingError(
            f"The workflow is of type {type(workflow).__name__}. Give a Workflow, or its file, name or import path."
        )
    if not isinstance(session, bool):
        raise TestingError(f"session is of type {type(session).__name__}. Give True, and a session starts the run.")
    folder = Path.cwd() if cwd is None else Path(cwd)
    if not folder.is_dir():
        raise TestingError("cwd names no folder that exists. Make it first, or leave it out.")
    return Given(
        workflow=workflow,
        input=input,
        agents=agents,
        decisions=decisions,
        effects=effects,
        session=session,
        cwd=folder,
    )


def _compare(boundary: str, expected: Played, outcome: Played) -> None:
    for what in ("status", "error", "path", "output"):
        undisturbed, crashed = getattr(expected, what), getattr(outcome, what)
        if undisturbed != crashed and undisturbed != _as_named(crashed, outcome.runs, expected.runs):
            raise CrashChanged(boundary, what, undisturbed, crashed)


def _as_named(value: Any, runs: Sequence[str], names: Sequence[str]) -> Any:
    """A value in which runs have other IDs: that of a run which carries another on follows from when it was asked."""
    if isinstance(value, str):
        for run, name in zip(runs, names, strict=False):
            value = value.replace(run, name)
        return value
    if isinstance(value, list):
        return [_as_named(each, runs, names) for each in value]
    if isinstance(value, dict):
        return {_as_named(key, runs, names): _as_named(each, runs, names) for key, each in value.items()}
    return value


def _check_world(boundary: str, staged: Staged) -> None:
    definition: Definition = staged.definition
    for (_, path, visit), times in staged.world.happened.items():
        if times > 1 and definition.nodes[path].contract != "idempotent":
            raise EffectRepeated(boundary, path, visit, times)
