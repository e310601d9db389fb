"""Whoever carries runs out for an engine: in this process, or in workers of their own."""

from collections.abc import Mapping
from typing import Final, Protocol

from attrs import field, frozen

from runwright.engine.commands.client import QueueRun
from runwright.engine.embedded.code import ProgramFacts
from runwright.projections.control.runs import RunRow


@frozen(kw_only=True)
class Provisions:
    """What somebody hands over for a run that is kept in memory only, and never stored or logged.

    Attributes:
        agents: How each executor is started, by name.
        env: The values of the variables that are handed on, by name.
    """

    agents: Mapping[str, str] = field(factory=dict[str, str], repr=False)
    env: Mapping[str, str] = field(factory=dict[str, str], repr=False)


#: Nothing was handed over: what is known of the run stays as it is.
NOTHING: Final = Provisions()


def waited_for(run: RunRow) -> bool:
    """Whether a launch that lacks something is made all the same: it fails or parks, and so says why.

    A session waits for it and would be held for ever, or the chain behind an answer. What a person started keeps its
    place until that person hands over what it lacks.
    """
    return run.started_at is None and (run.session is not None or run.kind == "continue")


class Launcher(Protocol):
    """Claims runs and carries them out; it remembers which it was asked for, and with what."""

    def provide(self, run_id: str, provisions: Provisions) -> None:
        """Keep what was handed over for a run, before anything is checked for it; each name replaces its own."""
        ...

    def hand_on(self, run_id: str, to: str) -> None:
        """Let a run that carries another one on have what was handed over for that one."""
        ...

    def agents(self, run_id: str) -> Mapping[str, str]:
        """The kind of each executor that a run has here, by name."""
        ...

    def take(self, run_id: str, program: ProgramFacts) -> None:
        """Carry a run out whenever it may go on, from now on."""
        ...

    def taken(self, run_id: str) -> bool:
        """Whether a run is carried out here, or will be when it may go on."""
        ...

    def takes(self, run: RunRow) -> bool:
        """Whether an eligible run can be launched here now: it was taken, or needs nobody to ask for it.

        Raises:
            PreflightError: It would be, and an executor or a variable that it needs is not here; not where it is
                `waited_for`.
        """
        ...

    def forget(self, run_id: str) -> None:
        """Drop what is known of a run: it has ended, or its start was refused."""
        ...

    async def launch(self, run_id: str, queued: QueueRun | None) -> str | None:
        """Carry a run out until it ended or stopped; cancelled, it ends what it began.

        Args:
            run_id: A run that is taken.
            queued: What this engine itself queued, where the run has never been launched: then nothing is read.

        Returns:
            How its worker ended, or ``None`` where the run could not be claimed, or its claim was lost.
        """
        ...

    def stop(self) -> None:
        """Let every run stop at its next boundary."""
        ...
