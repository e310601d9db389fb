"""Everything that is wrong with a workflow, at once, before anything is queued."""

from collections.abc import Iterator
from typing import Any

from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.check_nodes import check_names, check_node, check_workflow
from runwright.engine.graph.check_rules import check_rules
from runwright.engine.graph.check_switch import check_switches
from runwright.engine.graph.check_times import check_times
from runwright.engine.graph.check_ways import check_cycle, check_exits, check_mounts, check_reachable
from runwright.engine.graph.children import Children, Resolve


def check(workflow: Workflow[Any], resolve: Resolve | None = None) -> list[DefinitionError]:
    """Check a workflow and all that it mounts.

    Args:
        workflow: The root.
        resolve: Finds children that are named by reference; without it they are taken on trust.

    Returns:
        Errors and warnings in the order of the lines.
    """
    children = Children(resolve)
    cycles = list(check_cycle(workflow, children))
    workflows = list(children.all(workflow))
    found = [problem for each in workflows for problem in _check_one(each, children)]
    return sorted(
        [*cycles, *found, *check_times(workflow, workflows)], key=lambda problem: (problem.file, problem.line)
    )


def _check_one(workflow: Workflow[Any], children: Children) -> Iterator[DefinitionError]:
    yield from check_names(workflow)
    yield from check_workflow(workflow)
    for node in workflow.nodes:
        yield from check_node(node)
    yield from check_rules(workflow)
    yield from check_reachable(workflow)
    yield from check_switches(workflow, children)
    yield from check_exits(workflow)
    yield from check_mounts(workflow, children)
