"""A compiled workflow: the definition as data, and the functions and types behind each path."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from runwright.engine.authoring.conversion import Shape
from runwright.engine.authoring.nodes import Node
from runwright.engine.graph.definition import Definition


@frozen(kw_only=True, eq=False)
class Scope:
    """One workflow as its own functions see it: the root, or a mounted child.

    Attributes:
        path: The mount's path; empty for the root.
        workflow: The workflow's name.
        input: The shape of its input.
        make_input: Works out a child's input from the parent's context; ``None`` for the root.
        sources: The node path behind each local name; ``docs[ready]`` for a mount's way out.
        places: The path behind each local name of a node or a mount.
    """

    path: str
    workflow: str
    input: Shape
    make_input: Callable[..., Any] | None
    sources: Mapping[str, str]
    places: Mapping[str, str]


@frozen(kw_only=True, eq=False)
class Program:
    """A compiled workflow: the definition, and what runs.

    Attributes:
        definition: The graph as data.
        nodes: The nodes as they were written, by full path.
        scopes: The workflows inside by mount path; the root's is the empty one.
        input: The shape of the input.
        timeout: The run's own limit where it is a function of the context.
        present: The presentation function, if there is one.
        stand_in: In tests: answers what takes the place of an effect, given the walk, the visit and the effect.
    """

    definition: Definition
    nodes: Mapping[str, Node[..., Any, Any]]
    scopes: Mapping[str, Scope]
    input: Shape
    timeout: Callable[..., Any] | None = None
    present: Callable[..., Any] | None = None
    stand_in: Callable[[Any, Any, Any], Any] | None = None

    def scope_of(self, path: str) -> Scope:
        """The workflow that a node's function sees: the one it stands in."""
        return self.scopes[path.rpartition("/")[0]]
