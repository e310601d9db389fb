"""What a worker is told before anything else: which run, from which sources, within which limits."""

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from runwright.engine.commands.worker import Authority


@frozen(kw_only=True)
class Launch:
    """The launch envelope of one generation of one run.

    Attributes:
        run_id: The run.
        generation: The claim's generation.
        owner: ``<host epoch>:<worker epoch>``.
        token: The claim's token.
        workflow: The workflow's name.
        reference: How its definition is found.
        project: The project's folder.
        user: The user's configuration folder, which may hold workflows.
        cwd: The folder that the run was started in.
        scratch: The run's private folder, which is there already.
        output: The run's private output log.
        sources: The SHA-256 of each file of the source set; ``None`` where nothing was loaded from a file.
        definition: The digest of the compiled definition.
        progress: The run's progress as it was when it was launched.
        began: Whether the run, or the chain that it carries on, ever started: then it waits for what it lacks.
        agents: The specification of each executor; private, and in memory only.
        environment: The variables of ``pass_env``; private, and in memory only.
        renewal: Seconds between two renewals of the lease.
    """

    run_id: str
    generation: int
    owner: str
    token: str = field(repr=False)
    workflow: str
    reference: str
    project: Path
    user: Path | None = None
    cwd: Path
    scratch: Path
    output: Path
    sources: Mapping[str, str] | None
    definition: str
    progress: int
    began: bool
    agents: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    environment: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    renewal: float = 10.0

    @property
    def authority(self) -> Authority:
        """The claim."""
        return Authority(run_id=self.run_id, owner=self.owner, token=self.token, generation=self.generation)

    @property
    def worker(self) -> str:
        """The worker epoch."""
        return self.authority.worker
