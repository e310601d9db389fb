"""What a test gives for each node: answers in order, a function, or reality."""

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from runwright.engine.authoring.nodes import Node
from runwright.engine.graph.program import Program
from runwright.engine.near import meant
from runwright.engine.testing.errors import StandInUnknown, StandInUnused, StandInWrong, TestingError

#: A node: as it was declared, or its full path. A declared one stands for every path that it has.
NodeKey: TypeAlias = "Node[..., Any, Any] | str"
Answers: TypeAlias = "Sequence[object] | Callable[..., object]"
EffectAnswers: TypeAlias = "Answers | Literal['real']"

_KINDS: Mapping[str, tuple[str, ...]] = {
    "agents": ("agent", "choose", "assistant"),
    "effects": ("action", "shell"),
    "decisions": ("decision", "checkpoint"),
}
#: What may be given for a node.
_LIST: Final = "a list of answers in order, or a function"
_GIVE: Mapping[str, str] = {"effects": 'a list of results in order, a function, or "real"'}


class NoMore(LookupError):
    """There is no answer left."""


class Script:
    """What stands in for one node.

    Args:
        name: How the test named the node.
        given: Answers in order (one that is an exception is raised), a function, or ``"real"`` for an effect.
        argument: What it was given as.

    Raises:
        StandInWrong: It is none of these.
    """

    def __init__(self, name: str, given: EffectAnswers, argument: str) -> None:
        self.name = name
        self.real = argument == "effects" and isinstance(given, str) and given == "real"
        self.function = given if callable(given) else None
        self._answers: list[object] = []
        if isinstance(given, Sequence) and not isinstance(given, str | bytes):
            self._answers = list(given)
        elif self.function is None and not self.real:
            given_is = f"{argument}={{{name!r}: …}} is of type {type(given).__name__}"
            raise StandInWrong(name, f"{given_is}. Give {_GIVE.get(argument, _LIST)}.")
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

    def takes(self, *arguments: object) -> bool:
        """Whether the function can be called with these arguments, as far as it says what it takes."""
        assert self.function is not None, "asked of functions only"
        try:
            inspect.signature(self.function).bind(*arguments)
        except ValueError:
            return True  # one that is written in C may have no signature
        except TypeError:
            return False
        return True

    def spent(self, because: str = "") -> str:
        """Which answer is asked for, and why another one is, against how many there are."""
        many = f"only {len(self._answers)}" if self._answers else "none"
        return f"needs answer {len(self._told)}{because}, and the test has {many}"

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

    Raises:
        TestingError: They are not given by node, or one of them is of no use.
    """

    def __init__(self, argument: str, given: Mapping[Any, EffectAnswers]) -> None:
        self._argument = argument
        if not isinstance(given, Mapping):
            raise TestingError(
                f"{argument} is of type {type(given).__name__}. Give a dictionary from nodes, or their paths, to what "
                "stands in for them."
            )
        self._given = [(key, Script(name_of(key, argument), each, argument)) for key, each in given.items()]
        self._by_path: dict[str, Script] = {}

    def fit(self, program: Program) -> None:
        """Find the paths that the stand-ins are for; a full path goes before a declared node.

        Raises:
            StandInUnknown: One is for no node of the workflow, or for one of another kind.
            StandInWrong: A node has two.
        """
        for key, script in sorted(self._given, key=lambda each: isinstance(each[0], str)):
            for path in self._paths(key, script, program):
                self._by_path[path] = script
        standing = {id(each) for each in self._by_path.values()}
        for _, script in self._given:
            if id(script) not in standing:
                said = f"{self._argument} names node {script.name!r} twice, as declared and by its path. Keep one."
                raise StandInWrong(script.name, said)

    def _paths(self, key: NodeKey, script: Script, program: Program) -> list[str]:
        """The paths that one is for."""
        kinds = _KINDS[self._argument]
        paths = [path for path, node in program.nodes.items() if key in (path, node)]
        if not paths and isinstance(key, Node):
            # A workflow that was named by its file was loaded anew, and its nodes are others.
            paths = [path for path, node in program.nodes.items() if path == key.name and _same(node, key)]
        if not paths:
            there = meant(script.name, program.nodes, "nodes")
            raise StandInUnknown(self._argument, script.name, f"the workflow has no such node. {there}")
        for path in paths:
            kind = program.definition.nodes[path].kind
            if kind not in kinds:
                problem = f"it is a node of kind {kind}, and {self._argument} are for {' and '.join(kinds)} nodes."
                raise StandInUnknown(self._argument, path, f"{problem} {_place_of(kind)}")
        return paths

    def of(self, path: str) -> Script | None:
        """The stand-in of a node."""
        return self._by_path.get(path)

    @property
    def left(self) -> list[str]:
        """What was not used, in sentences."""
        return [said for _, script in self._given if (said := script.left) is not None]


def check_used(scripts: Sequence[Scripts], ended: str) -> None:
    """Refuse what the run never asked for.

    Args:
        scripts: What was given.
        ended: How the run stands, after *the run*.

    Raises:
        StandInUnused: There is something.
    """
    unused = [said for each in scripts for said in each.left]
    if unused:
        raise StandInUnused(unused, ended)


def name_of(key: object, argument: str) -> str:
    """How a test named a node.

    Raises:
        TestingError: It named none.
    """
    if isinstance(key, str):
        return key
    if not isinstance(key, Node):
        raise TestingError(f"{argument} has a key of type {type(key).__name__}. Give a declared node, or its path.")
    return key.name


def _same(one: Node[..., Any, Any], other: Node[..., Any, Any]) -> bool:
    return (one.workflow, one.declaration.kind) == (other.workflow, other.declaration.kind)


def _place_of(kind: str) -> str:
    """Where what stands in for a node of a kind belongs."""
    argument = next((argument for argument, kinds in _KINDS.items() if kind in kinds), None)
    return f"Nothing stands in for {kind} nodes: they run." if argument is None else f"Give it in {argument}."
