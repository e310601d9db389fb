"""Where a run stands in its graph: its nodes and mounts, counted, and who has steps left."""

from collections.abc import Mapping

from attrs import evolve

from runwright.engine.execution.port import MountState, NodeState, revised
from runwright.engine.graph.definition import Definition
from runwright.eventstore.values import Json


def scope_of(path: str) -> str:
    """The mount path that a place stands in; empty for the root."""
    return path.rpartition("/")[0]


class Places:
    """The nodes and mounts of one run as they stand.

    Attributes:
        nodes: The nodes that were visited, by path.
        mounts: The mounts that were entered, by path.
        steps: The steps so far.
    """

    def __init__(
        self,
        definition: Definition,
        nodes: Mapping[str, NodeState],
        mounts: Mapping[str, MountState],
        *,
        steps: int,
        max_steps: int,
    ) -> None:
        self.nodes = dict(nodes)
        self.mounts = dict(mounts)
        self.steps = steps
        self._definition = definition
        self._max_steps = max_steps

    def copy(self) -> "Places":
        """A snapshot, for a function that looks at it later."""
        return Places(self._definition, self.nodes, self.mounts, steps=self.steps, max_steps=self._max_steps)

    def invocation(self, scope: str) -> int:
        """The last entry of a mount, 0 for the root: what is of an older one is not seen any more."""
        mount = self.mounts.get(scope)
        return 0 if mount is None else mount.invocation

    def node(self, path: str) -> NodeState | None:
        """A node, where it was visited in the last entry of the mount around it."""
        node = self.nodes.get(path)
        return node if node is not None and node.invocation == self.invocation(scope_of(path)) else None

    def mount(self, path: str) -> MountState | None:
        """A mount, where it was entered in the last entry of the one around it."""
        mount = self.mounts.get(path)
        return mount if mount is not None and mount.within == self.invocation(scope_of(path)) else None

    def entries(self, path: str) -> int:
        """How often a place was entered in the last entry of the mount around it."""
        if path in self._definition.mounts:
            mount = self.mount(path)
            return 0 if mount is None else mount.entries
        node = self.node(path)
        return 0 if node is None else node.invocation_visits

    def all_entries(self) -> dict[str, int]:
        """How often each place was entered, each in the last entry of the mount around it."""
        return {path: self.entries(path) for path in (*self.nodes, *self.mounts)}

    def steps_left(self, scope: str) -> int:
        """How many more steps a workflow may take: what is left of its own, and of those around it."""
        left = self._max_steps - self.steps
        while scope:
            left = min(left, self._left(self.mounts[scope]))
            scope = scope_of(scope)
        return max(0, left)

    def exhausted(self, path: str) -> MountState | None:
        """The innermost mount around a place that has no step left."""
        for spec in self._definition.mounts_around(path):
            if self._left(self.mounts[spec.path]) <= 0:
                return self.mounts[spec.path]
        return None

    def visit(self, path: str) -> NodeState:
        """Count the next visit of a node, which is a step; what an older entry of its mount left is forgotten."""
        self.steps += 1
        invocation = self.invocation(scope_of(path))
        known = self.nodes.get(path)
        if known is not None and known.invocation == invocation:
            visits, entries = known.visits + 1, known.invocation_visits + 1
            self.nodes[path] = revised(known, visits=visits, invocation_visits=entries, attempt=1)
        else:
            self.nodes[path] = _first(path, invocation, 1 if known is None else known.visits + 1)
        return self.nodes[path]

    def counted(self, path: str, now: int) -> MountState:
        """Count the next entry of a mount, which is no step; how its last one was left is still seen."""
        within = self.invocation(scope_of(path))
        known = self.mounts.get(path)
        if known is None or known.within != within:
            number = 1 if known is None else known.invocation + 1
            known = MountState(path=path, invocation=number, within=within, entries=1, inside=False)
        else:
            known = evolve(known, invocation=known.invocation + 1, entries=known.entries + 1)
        self.mounts[path] = evolve(known, step_base=self.steps, entered_at=now)
        return self.mounts[path]

    def enter(self, path: str, document: Json) -> None:
        """Go into a mount that was counted."""
        self.mounts[path] = evolve(
            self.mounts[path],
            inside=True,
            input=document,
            exit=None,
            outcome=None,
            code=None,
            error=None,
            output=None,
            exited_at=None,
        )

    def leave(
        self, path: str, exit: str | None, outcome: str, *, output: Json, code: str | None, error: str | None, now: int
    ) -> MountState:
        """Leave a mount."""
        self.mounts[path] = evolve(
            self.mounts[path],
            inside=False,
            exit=exit,
            outcome=outcome,
            code=code,
            error=error,
            output=output,
            exited_at=now,
        )
        return self.mounts[path]

    def _left(self, mount: MountState) -> int:
        return self._definition.mounts[mount.path].max_steps - (self.steps - mount.step_base)


def _first(path: str, invocation: int, visits: int) -> NodeState:
    return NodeState(
        path=path,
        visits=visits,
        invocation_visits=1,
        open=False,
        attempt=1,
        outcome=None,
        has_output=False,
        output=None,
        code=None,
        error=None,
        started_at=None,
        finished_at=None,
        deadline=None,
        invocation=invocation,
    )
