"""The workflows that a workflow mounts, found once each, and the ways that mounts may not go."""

from collections.abc import Callable, Iterator
from typing import Any

from runwright.engine.authoring.nodes import Exit, Mount
from runwright.engine.authoring.workflow import Workflow

Resolve = Callable[[str], Workflow[Any]]


class Children:
    """Finds the child of a mount, each reference once.

    Attributes:
        unknown: The references that lead nowhere, and why.
    """

    def __init__(self, resolve: Resolve | None) -> None:
        self._resolve = resolve
        self._found: dict[str, Workflow[Any] | None] = {}
        self.unknown: dict[str, str] = {}

    def of(self, mount: Mount) -> Workflow[Any] | None:
        """The child; ``None`` where its reference cannot be followed here."""
        child = mount.child
        if not isinstance(child, str):
            return child if isinstance(child, Workflow) else None
        if child not in self._found:
            self._found[child] = self._follow(child)
        return self._found[child]

    def _follow(self, reference: str) -> Workflow[Any] | None:
        if self._resolve is None:
            return None
        try:
            return self._resolve(reference)
        except Exception as problem:  # noqa: BLE001 (a resolver loads the user's files, which may raise anything)
            self.unknown[reference] = str(getattr(problem, "message", type(problem).__name__))
            return None

    def all(self, root: Workflow[Any]) -> Iterator[Workflow[Any]]:
        """A workflow and all that it mounts, each once."""
        seen: list[Workflow[Any]] = []
        waiting = [root]
        while waiting:
            workflow = waiting.pop(0)
            if any(workflow is known for known in seen):
                continue
            seen.append(workflow)
            yield workflow
            waiting.extend(child for mount in workflow.mounts if (child := self.of(mount)) is not None)

    def cycle(self, root: Workflow[Any]) -> list[Mount] | None:
        """The chain of mounts by which a workflow contains itself, if there is one."""
        return self._cycle(root, [], [root])

    def _cycle(self, at: Workflow[Any], chain: list[Mount], open: list[Workflow[Any]]) -> list[Mount] | None:
        for mount in at.mounts:
            child = self.of(mount)
            if child is None:
                continue
            if any(child is each for each in open):
                return [*chain, mount]
            found = self._cycle(child, [*chain, mount], [*open, child])
            if found is not None:
                return found
        return None


def exit_named(child: Workflow[Any], way_out: Exit[Any] | str) -> Exit[Any] | None:
    """A child's exit, by itself or by its name."""
    for known in child.exits:
        if known is way_out or (isinstance(way_out, str) and known.name == way_out):
            return known
    return None
