"""What a test gives for each node: answers in order, a function, or reality."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from runwright.engine.authoring.nodes import Node
from runwright.engine.graph.program import Program
from runwright.engine.testing.errors import StandInUnknown, StandInUnused

#: A node: as it was declared, or its full path. A declared one stands for every path that it has.
NodeKey: TypeAlias = "Node[..., Any, Any] | str"
Answers: TypeAlias = "Sequence[object] | Callable[..., object]"
EffectAnswers: TypeAlias = "Answers | Literal['real']"

_KINDS: Mapping[str, tuple[str, ...]] = {
    "agents": ("agent", "choose", "assistant"),
    "effects": ("action", "shell"),
    "decisions": ("decision", "checkpoint"),
}


class NoMore(LookupError):
    """There is no answer left."""


class Script:
    """What stands in for one node.

    Args:
        name: How the test named the node.
        given: Answers in order (one that is an exception is raised), a function, or ``"real"``.
    """

    def __init__(self, name: str, given: EffectAnswers) -> None:
        self.name = name
        self.real = given == "real"
        self.function = given if callable(given) else None
        self._answers = [] if callable(given) or isinstance(given, str) else list(given)
        self._told: dict[Hashable, int] = {}
        self.asked = 0

    def answer(self, question: Hashable) -> object:
        """The answer to a question; the same question has the same answer.

        Raises:
            NoMore: All of them are given away.
        """
        number = self._told.setdefault(question, len(self._told))
        if number >= len(self._answers):
            raise NoMore
        return self._answers[number]

    @property
    def left(self) -> str | None:
        """What of it was not used, as a sentence."""
        if not self.asked:
            return f"Nothing was asked of {self.name!r}, which has a stand-in."
        unused = len(self._answers) - len(self._told)
        if unused > 0:
            return f"{self.name!r} has {len(self._answers)} answers, and {unused} of them were never asked for."
        return None


class Scripts:
    """The stand-ins of one kind, by path.

    Args:
        argument: The argument that they were given as: ``agents``, ``effects`` or ``decisions``.
        given: The stand-ins by node or path.
    """

    def __init__(self, argument: str, given: Mapping[Any, EffectAnswers]) -> None:
        self._argument = argument
        self._given = [(key, Script(_name(key), each)) for key, each in given.items()]
        self._by_path: dict[str, Script] = {}

    def fit(self, program: Program) -> None:
        """Find the paths that the stand-ins are for.

        Raises:
            StandInUnknown: One is for no node of the workflow, or for one of another kind.
        """
        kinds = _KINDS[self._argument]
        for key, script in self._given:
            paths = [path for path, node in program.nodes.items() if key in (path, node)]
            if not paths and isinstance(key, Node):
                # A workflow that was named by its file was loaded anew, and its nodes are others.
                paths = [path for path, node in program.nodes.items() if path == key.name and _same(node, key)]
            if not paths:
                known = ", ".join(sorted(program.nodes))
                raise StandInUnknown(self._argument, script.name, f"the workflow has no such node; it has {known}")
            for path in paths:
                kind = program.definition.nodes[path].kind
                if kind not in kinds:
                    problem = f"it is a node of kind {kind}, and {self._argument} are for {' and '.join(kinds)} nodes"
                    raise StandInUnknown(self._argument, path, problem)
                self._by_path[path] = script

    def of(self, path: str) -> Script | None:
        """The stand-in of a node."""
        return self._by_path.get(path)

    @property
    def left(self) -> list[str]:
        """What was not used, in sentences."""
        return [said for _, script in self._given if (said := script.left) is not None]


def check_used(scripts: Sequence[Scripts], ended: str) -> None:
    """Refuse what the run never asked for.

    Raises:
        StandInUnused: There is something.
    """
    unused = [said for each in scripts for said in each.left]
    if unused:
        raise StandInUnused(unused, ended)


def _name(key: NodeKey) -> str:
    return key if isinstance(key, str) else key.name


def _same(one: Node[..., Any, Any], other: Node[..., Any, Any]) -> bool:
    return (one.workflow, one.declaration.kind) == (other.workflow, other.declaration.kind)
