"""What is handed over for runs because it is never stored: how their executors are started, and values of variables."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from runwright.cli.agent_specs import collect_specs
from runwright.cli.invocation import Invocation
from runwright.engine.agents.agent import CONSOLE
from runwright.eventstore.events.run import PERSON


@frozen(kw_only=True)
class Bound:
    """What runs were started with.

    Attributes:
        agents: The names of their executors that a program is, or an object.
        people: The names of those that are a person at the terminal.
        variables: The names of the variables that their code gets.
    """

    agents: frozenset[str]
    people: frozenset[str]
    variables: frozenset[str]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "Bound":
        """Read it from the rows of the runs."""
        agents, people, variables = set[str](), set[str](), set[str]()
        for row in rows:
            for each in json.loads(str(row["agents"])):
                (people if each["kind"] == PERSON else agents).add(str(each["name"]))
            variables.update(map(str, json.loads(str(row["pass_env"]))))
        return cls(agents=frozenset(agents), people=frozenset(people), variables=frozenset(variables))


@frozen(kw_only=True)
class Handed:
    """What is handed over.

    Attributes:
        agents: Executors by name, with their specifications.
        pass_env: Variables, with their values.
    """

    agents: Mapping[str, str] = field(factory=dict)
    pass_env: Mapping[str, str] = field(factory=dict, repr=False)

    @classmethod
    def of(cls, call: Invocation, bound: Bound) -> "Handed":
        """Look for it: in the flags, then in the settings and the environment that hold here.

        Raises:
            Refused: A specification is of a kind that this version does not run.
        """
        specs = collect_specs(call.flags.agents, call.settings, bound.agents)
        variables = {name: os.environ[name] for name in sorted(bound.variables) if name in os.environ}
        return cls(agents={**dict.fromkeys(bound.people, CONSOLE), **specs}, pass_env=variables)
