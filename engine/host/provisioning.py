"""What was handed over for runs, in memory only: how their executors are started, and values of variables."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from runwright.engine.agents.agent import CONSOLE
from runwright.engine.embedded.launcher import NOTHING, Provisions
from runwright.engine.host.errors import EnvironmentMissing
from runwright.engine.host.launching import Needs
from runwright.engine.host.settings import SettledAgents
from runwright.eventstore.events.run import PERSON

#: The class of executor that each kind of specification stands for.
_KINDS: Final = {"cmd": "CommandAgent", CONSOLE: PERSON}


class Provisioning:
    """Finds what a run needs: what was handed over for it, else what stands in the settings or the host's environment.

    Args:
        settled: The executors that a project's settings name.
        environment: The host's own variables.
    """

    def __init__(self, settled: SettledAgents, environment: Mapping[str, str]) -> None:
        self._settled = settled
        self._environment = environment
        self._handed: dict[str, Provisions] = {}

    def keep(self, run_id: str, provisions: Provisions) -> None:
        """Keep what is handed over for a run; what was handed over before stays where it is not replaced."""
        if provisions == NOTHING:
            return
        known = self._handed.get(run_id, NOTHING)
        self._handed[run_id] = Provisions(
            agents={**known.agents, **provisions.agents}, env={**known.env, **provisions.env}
        )

    def forget(self, run_id: str) -> None:
        """Drop what is known for a run."""
        self._handed.pop(run_id, None)

    def handed(self, run_id: str) -> Provisions:
        """What was handed over for a run."""
        return self._handed.get(run_id, NOTHING)

    def kinds(self, run_id: str, project: Path | None, people: Iterable[str] = ()) -> dict[str, str]:
        """The kind of each executor that a run can have, by name.

        Args:
            run_id: The run: what was handed over for it comes first.
            project: Its project, whose settings come last.
            people: Those of its executors that were a person at the terminal.
        """
        settled = {} if project is None else self._settled(project)
        specs = {**settled, **dict.fromkeys(people, CONSOLE), **self.handed(run_id).agents}
        return {name: _kind(spec) for name, spec in specs.items()}

    def variables(self, run_id: str | None, names: Sequence[str]) -> dict[str, str]:
        """The values of the variables that are known here."""
        env = {name: self._environment[name] for name in names if name in self._environment}
        env.update({} if run_id is None else self.handed(run_id).env)
        return env

    def of(self, run_id: str, needs: Needs, project: Path) -> Provisions:
        """Everything that a run needs.

        Raises:
            EnvironmentMissing: Something of it is not here; it is named, without its value.
        """
        handed = self.handed(run_id)
        agents = {**dict.fromkeys(needs.people, CONSOLE), **handed.agents}
        if not agents.keys() >= set(needs.agents):
            agents = {**self._settled(project), **agents}
        env = self.variables(run_id, needs.variables)
        lacking_agents = tuple(name for name in needs.agents if name not in agents)
        lacking = tuple(name for name in needs.variables if name not in env)
        if lacking_agents or lacking:
            raise EnvironmentMissing(run_id, agents=lacking_agents, variables=lacking)
        return Provisions(
            agents={name: agents[name] for name in needs.agents}, env={name: env[name] for name in needs.variables}
        )


def _kind(spec: str) -> str:
    kind, _, _ = spec.partition(":")
    return _KINDS.get(kind, kind)
