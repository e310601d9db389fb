"""What the launch of a run is made of: its facts as they are saved or were just queued, and its envelope."""

import json
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from runwright.engine.commands.client import QueueRun
from runwright.engine.commands.worker import Authority
from runwright.engine.worker.envelope import Launch
from runwright.eventstore.events.run import PERSON
from runwright.eventstore.values import JsonObject
from runwright.projections.control.runs import RunRow


@frozen(kw_only=True)
class Needs:
    """What somebody has to hand over for a run, because it is never stored.

    Attributes:
        agents: The names of its executors.
        variables: The names in its ``pass_env``.
        people: Those of the executors that were a person at the terminal: nothing has to be handed over for them.
    """

    agents: tuple[str, ...]
    variables: tuple[str, ...]
    people: frozenset[str] = frozenset()

    @classmethod
    def of_saved(cls, run: RunRow) -> "Needs":
        """What a saved run needs."""
        agents, variables = json.loads(run.agents), json.loads(run.pass_env)
        return cls(
            agents=tuple(str(each["name"]) for each in agents),
            variables=tuple(map(str, variables)),
            people=frozenset(str(each["name"]) for each in agents if each["kind"] == PERSON),
        )

    @classmethod
    def of_queued(cls, queued: QueueRun) -> "Needs":
        """What a run needs that was just queued."""
        return cls(
            agents=tuple(each.name for each in queued.agents),
            variables=queued.pass_env,
            people=frozenset(each.name for each in queued.agents if each.kind == PERSON),
        )


@frozen(kw_only=True)
class Plan:
    """A launch before its claim.

    Attributes:
        run_id: The run.
        workflow: The workflow's name.
        reference: How it is found.
        project: The project's folder.
        cwd: The folder that the run was started in.
        interpreter: The Python that loads it; ``None`` for the host's own.
        definition: The digest of the definition.
        sources: The SHA-256 of each file of the source set.
        progress: The run's progress.
        started: Whether a launch of the run was ever ready.
        began: Whether the run, or the chain that it carries on, ever started.
        needs: What has to be handed over for it.
    """

    run_id: str
    workflow: str
    reference: str
    project: Path
    cwd: Path
    interpreter: str | None
    definition: str
    sources: Mapping[str, str] | None
    progress: int
    started: bool
    began: bool
    needs: Needs

    @classmethod
    def of_queued(cls, queued: QueueRun) -> "Plan":
        """The first launch of a run that was queued here."""
        return cls(
            run_id=queued.run_id,
            workflow=queued.workflow,
            reference=queued.reference,
            project=folder_of(queued.project),
            cwd=folder_of(queued.cwd),
            interpreter=queued.interpreter,
            definition=queued.definition,
            sources=None if queued.paths is None else _files(queued.paths),
            progress=0,
            started=False,
            began=False,
            needs=Needs.of_queued(queued),
        )

    @classmethod
    def of_saved(cls, run: RunRow, sources: Mapping[str, str] | None) -> "Plan":
        """A launch of a run as it is saved."""
        return cls(
            run_id=run.run_id,
            workflow=run.workflow,
            reference=run.reference,
            project=folder_of(run.project),
            cwd=folder_of(run.cwd),
            interpreter=run.interpreter,
            definition=run.definition,
            sources=sources,
            progress=run.progress,
            started=run.started_at is not None,
            began=run.started_at is not None or run.kind == "continue",
            needs=Needs.of_saved(run),
        )

    def envelope(
        self,
        authority: Authority,
        *,
        folder: Path,
        user: Path | None,
        agents: Mapping[str, str],
        environment: Mapping[str, str],
        renewal: float,
    ) -> Launch:
        """The launch envelope.

        Args:
            authority: The claim.
            folder: The run's folder.
            user: The user's configuration folder.
            agents: The specification of each executor.
            environment: The values of the variables.
            renewal: Seconds between two renewals of the lease.
        """
        return Launch(
            run_id=self.run_id,
            generation=authority.generation,
            owner=authority.owner,
            token=authority.token,
            workflow=self.workflow,
            reference=self.reference,
            project=self.project,
            user=user,
            cwd=self.cwd,
            scratch=folder / "scratch",
            output=folder / "output.log",
            sources=self.sources,
            definition=self.definition,
            progress=self.progress,
            began=self.began,
            agents=agents,
            environment=environment,
            renewal=renewal,
        )


def folder_of(path: str | None) -> Path:
    """A saved folder; where none was saved, the one that this process stands in."""
    return Path.cwd() if path is None else Path(path)


def _files(paths: JsonObject) -> dict[str, str]:
    return {path: str(digest) for path, digest in paths.items()}
