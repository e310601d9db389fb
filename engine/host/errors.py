"""What a host refuses.

PreflightError
└── EnvironmentMissing      what was handed over for a run in memory is not here any more
"""

from collections.abc import Sequence

from runwright.engine.errors import PreflightError
from runwright.projections.views.lines import agent_line, spec_of


class EnvironmentMissing(PreflightError):
    """A run needs executors or variables that are kept in memory only, and nobody has handed them to this host.

    Attributes:
        run_id: The run.
        agents: The names of executors.
        variables: The names of variables; no values.
    """

    code = "environment_missing"

    def __init__(self, run_id: str, *, agents: Sequence[str] = (), variables: Sequence[str] = ()) -> None:
        self.run_id = run_id
        self.agents = tuple(agents)
        self.variables = tuple(variables)
        lacks = [*(f"executor {name!r}" for name in agents), *(f"variable {name}" for name in variables)]
        line = agent_line("resume", run_id, agents=map(spec_of, agents))
        where = ", typed where the variables are set" if variables else ""
        super().__init__(
            f"What is kept in memory only is not here any more: {', '.join(lacks)}.",
            f"`{line}` hands it over again{where}",
        )
