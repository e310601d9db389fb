"""Nodes, mounts and ways out: what rules name, and what an output is asked of."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from runwright.engine.authoring.conversion import Shape
    from runwright.engine.authoring.declaration import Declaration
    from runwright.engine.authoring.origin import Origin
    from runwright.engine.authoring.workflow import Workflow
    from runwright.eventstore.values import Json

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
T = TypeVar("T", covariant=True)


class Place:
    """A node or a mount: what a rule may lead to.

    Attributes:
        name: Its name in its workflow.
        workflow: The name of the workflow it was declared in.
        origin: Where it was declared.
    """

    def __init__(self, name: str, workflow: str, origin: Origin) -> None:
        self.name = name
        self.workflow = workflow
        self.origin = origin

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.workflow!r}>"


class Node(Place, Generic[P, R, T]):
    """A step of a graph. Calling it calls the plain function.

    Attributes:
        declaration: What its decorator was told.
    """

    def __init__(self, declaration: Declaration, workflow: str) -> None:
        super().__init__(declaration.name, workflow, declaration.origin)
        self.declaration = declaration
        self.__doc__ = declaration.function.__doc__ if declaration.function is not None else None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the plain function."""
        function = self.declaration.function
        if function is None:
            raise TypeError(f"{self.name!r} is a fixed wait and has no function to call")
        result: R = function(*args, **kwargs)
        return result

    @property
    def key(self) -> str:
        """What an output is found by in its workflow."""
        return self.name

    @cached_property
    def shape(self) -> Shape:
        """The output's shape.

        Raises:
            Unstorable: When the declared type cannot be stored.
        """
        from runwright.engine.authoring.outputs import output_shape  # when first used: an import stays light

        return output_shape(self.declaration)


class Exit(Generic[T]):
    """A declared way out of a workflow: its name and the node that leaves by it."""

    def __init__(self, name: str, node: Node[..., Any, T], origin: Origin) -> None:
        self.name = name
        self.node = node
        self.origin = origin

    def __repr__(self) -> str:
        return f"<Exit {self.name!r} at {self.node.name!r}>"


class Mount(Place):
    """A child in a parent's graph.

    Attributes:
        child: The child workflow, or the reference that names it.
        input: Works out the child's input from the parent's context.
    """

    def __init__(
        self,
        name: str,
        workflow: str,
        origin: Origin,
        child: Workflow[Any] | str,
        input: Callable[..., Any],
    ) -> None:
        super().__init__(name, workflow, origin)
        self.child = child
        self.input = input

    @overload
    def __getitem__(self, exit: Exit[T]) -> MountExit[T]: ...
    @overload
    def __getitem__(self, exit: str) -> MountExit[Json]: ...
    def __getitem__(self, exit: Exit[Any] | str) -> MountExit[Any]:
        """The child's way out, as a source of rules and outputs."""
        return MountExit(self, exit)


class MountExit(Generic[T]):
    """One way out of one mount.

    Attributes:
        mount: The mount.
        exit: The child's exit, or its name.
    """

    def __init__(self, mount: Mount, exit: Exit[T] | str) -> None:
        self.mount = mount
        self.exit = exit

    def __repr__(self) -> str:
        return f"<MountExit {self.key!r} of {self.workflow!r}>"

    @property
    def name(self) -> str:
        """The exit's name."""
        return str(getattr(self.exit, "name", self.exit))

    @property
    def workflow(self) -> str:
        """The name of the workflow that the mount was declared in."""
        return self.mount.workflow

    @property
    def key(self) -> str:
        """What an output is found by in the parent."""
        return f"{self.mount.name}[{self.name}]"

    @property
    def shape(self) -> Shape:
        """The output's shape: the exit node's, plain JSON where the child is only named."""
        from runwright.engine.authoring.conversion import PLAIN  # when first used: an import stays light

        return self.exit.node.shape if isinstance(self.exit, Exit) else PLAIN
