"""Small compiled definitions for tests of what comes after compiling."""

import itertools
from typing import Any

from runwright.engine.graph.definition import Definition, NodeSpec, RetrySpec


def node(path: str, kind: Any = "compute", *, attempts: int = 1, contract: Any = None) -> NodeSpec:
    """A node; an effect where a contract is given, with a declared retry where it has several attempts."""
    retry = None if attempts == 1 else RetrySpec(attempts=attempts, first_us=0, factor=1.0, maximum_us=0)
    effect_type = None if contract is None else ("shell" if kind == "shell" else path.rpartition("/")[2])
    return NodeSpec(path=path, kind=kind, retry=retry, contract=contract, effect_type=effect_type)


def graph(*nodes: NodeSpec, max_steps: int = 1_000, name: str = "flow") -> Definition:
    """A chain of nodes."""
    paths = [each.path for each in nodes]
    return Definition(
        workflow=name,
        entry=paths[0],
        nodes={each.path: each for each in nodes},
        then=dict(itertools.pairwise(paths)),
        max_steps=max_steps,
    )
