"""The program of a run: whether what is there now is still it, and what of it is handed on to a run that follows."""

import json

from runwright.engine.results import RecoveryRequired
from runwright.eventstore.events.run import AgentBinding, RunQueued
from runwright.projections.control.runs import RunRow


def standing_on(run: RunRow, definition: str | None, sources: str | None) -> tuple[str, str | None]:
    """The definition and the sources that a run would go on with.

    Args:
        run: The run.
        definition: The digest of the definition as it compiles now; ``None`` where it was not looked at.
        sources: The digest of the source set as it stands now; ``None`` where it was not looked at, or beside a
            definition that was: then the program has no files.
    """
    if definition is None:
        return run.definition, run.sources if sources is None else sources
    return definition, sources


def source_changed(run: RunRow, now: tuple[str, str | None]) -> RecoveryRequired:
    """Say which definition and sources a run stands on, and which there are now."""
    definition, sources = now
    return RecoveryRequired(
        "source_changed",
        {
            "run": run.run_id,
            "old_sources": run.sources,
            "new_sources": sources,
            "old_definition": run.definition,
            "new_definition": definition,
        },
    )


def handed_on(run: RunRow) -> RunQueued:
    """What a run that follows another is queued with: the same program, place, executors, input and bounds."""
    return RunQueued(
        workflow=run.workflow,
        reference=run.reference,
        sources=run.sources,
        definition=run.definition,
        session=run.session,
        project=run.project,
        cwd=run.cwd,
        interpreter=run.interpreter,
        agents=bindings(run),
        pass_env=variables(run),
        root=run.root,
        input=run.input,
        max_steps=run.max_steps,
        timeout=run.timeout,
    )


def bindings(run: RunRow) -> tuple[AgentBinding, ...]:
    """The executors that a run was started with."""
    return tuple(AgentBinding(name=each["name"], kind=each["kind"]) for each in json.loads(run.agents))


def variables(run: RunRow) -> tuple[str, ...]:
    """The names of the variables that a run's workers are handed."""
    return tuple(json.loads(run.pass_env))
