"""The workflow: nodes and rules as people write them, collected as they come and judged by `check`."""

from __future__ import annotations  # kept unread: reading them would cost more than the rest of the import

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from runwright.engine.authoring.declaring import Declaring, I
from runwright.engine.authoring.nodes import Exit, Mount
from runwright.engine.authoring.origin import Origin, calling_frame, calling_line
from runwright.engine.authoring.rules import Catch, Entry, Limit, Switch, Then

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from typing_extensions import TypeForm

    from runwright.engine.authoring.context import Context
    from runwright.engine.authoring.declaring import Timeout
    from runwright.engine.authoring.errors import DefinitionError
    from runwright.engine.authoring.nodes import MountExit, Node, Place
    from runwright.engine.authoring.rules import Rule
    from runwright.eventstore.values import Json, JsonObject

    #: Finds a child workflow that is named by a reference.
    Resolve = Callable[[str], "Workflow[Any]"]

C = TypeVar("C")
T = TypeVar("T")


class Workflow(Declaring[I]):
    """A graph of named nodes.

    Decorators and rules only collect, and raise nothing; `check` finds what is wrong, all at once.

    Attributes:
        name: Its name, ``[A-Za-z_][A-Za-z0-9_-]{0,63}``.
        input: The type of its input.
        max_steps: The last resort against loops.
        timeout: The limit of a whole run.
        instructions: What to say after the run, as text.
        presenters: The functions that work that out; one at most.
        nodes: Its nodes, in order.
        mounts: Its mounted children, in order.
        exits: Its ways out, in order.
        rules: Its rules, in order.
        origin: Where it was made.
        module: The name of the module that made it.
        doc: That module's docstring.
    """

    @overload
    def __init__(
        self: Workflow[JsonObject],
        name: str,
        *,
        max_steps: int = 1000,
        timeout: Timeout[JsonObject] = None,
        presentation: str | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        *,
        input: TypeForm[I],
        max_steps: int = 1000,
        timeout: Timeout[I] = None,
        presentation: str | None = None,
    ) -> None: ...
    def __init__(
        self,
        name: str,
        *,
        input: Any = dict,
        max_steps: int = 1000,
        timeout: Timeout[Any] = None,
        presentation: str | None = None,
    ) -> None:
        """Begin a workflow.

        Args:
            name: Its name.
            input: The type of its input; without one, any JSON object.
            max_steps: How many visits a run may start; in a mounted child, per invocation.
            timeout: The limit of a run: seconds, a timedelta, ``None`` for none, or a function of the context.
            presentation: Instructions for one ordinary answer after the run.
        """
        super().__init__()
        frame = calling_frame()
        self.name = name
        self.input = input
        self.max_steps = max_steps
        self.timeout: Any = timeout
        self.instructions = presentation
        self.presenters: list[Callable[..., Any]] = []
        self.mounts: list[Mount] = []
        self.exits: list[Exit[Any]] = []
        self.rules: list[Rule] = []
        self.origin = Origin(frame.f_code.co_filename, frame.f_lineno)
        self.module = str(frame.f_globals.get("__name__", ""))
        self.doc = str(frame.f_globals.get("__doc__") or "")

    def __repr__(self) -> str:
        return f"<Workflow {self.name!r}>"

    def entry(self, place: Place) -> None:
        """Say where a run begins; exactly once."""
        self.rules.append(Entry(place, calling_line()))

    def then(self, source: Node[..., Any, Any] | MountExit[Any], to: Place) -> None:
        """Go from a source to a place whenever it completes."""
        self.rules.append(Then(source, to, calling_line()))

    def switch(
        self,
        source: Node[..., Any, Any] | MountExit[Any],
        cases: Mapping[str | int | bool | None, Place],
        *,
        on: str = "$",
        default: Place | None = None,
    ) -> None:
        """Go from a source to a place that depends on its output.

        Args:
            source: The node, or the way out of a mount.
            cases: The place for each value, matched by JSON type and value.
            on: The path to the value in the output: ``$``, ``.name``, ``[n]``, ``["any key"]``.
            default: The place for what no case matches; without one such a value fails the run.
        """
        self.rules.append(Switch(source, cases, on, default, calling_line()))

    def catch(
        self,
        place: Place,
        to: Place,
        *,
        on: Sequence[Literal["failed", "timed_out"]] = ("failed", "timed_out"),
    ) -> None:
        """Go from a place to another when it ends badly; a mount catches what nothing inside it caught."""
        self.rules.append(Catch(place, to, on, calling_line()))

    def limit(self, place: Place, visits: int, to: Place) -> None:
        """Let the first ``visits`` entries per invocation in, and send further ones to another place."""
        self.rules.append(Limit(place, visits, to, calling_line()))

    @overload
    def include(self, name: str, child: Workflow[C], *, input: Callable[[Context[I]], C]) -> Mount: ...
    @overload
    def include(self, name: str, child: str, *, input: Callable[[Context[I]], JsonObject]) -> Mount: ...
    def include(self, name: str, child: Workflow[Any] | str, *, input: Callable[..., Any]) -> Mount:
        """Mount a child workflow.

        Args:
            name: The mount's name in this workflow.
            child: The child, or a reference that is resolved before a run is queued.
            input: Works out the child's input for each invocation.
        """
        mount = Mount(name, self.name, calling_line(), child, input)
        self.mounts.append(mount)
        return mount

    def exit(self, name: str, node: Node[..., Any, T]) -> Exit[T]:
        """Declare a way out, for whoever mounts this workflow: it is left where ``node`` completes."""
        way_out = Exit(name, node, calling_line())
        self.exits.append(way_out)
        return way_out

    def presentation(
        self, function: Callable[[Context[I], Json], str | None]
    ) -> Callable[[Context[I], Json], str | None]:
        """Work out the instructions for one ordinary answer after the run, from context and final result."""
        self.presenters.append(function)
        return function

    def check(self, resolve: Resolve | None = None) -> list[DefinitionError]:
        """Find everything that is wrong, at once, each with file, line, code and fix.

        Args:
            resolve: Finds children that are named by reference; without it they are taken on trust.

        Returns:
            Errors and warnings, in the order of the lines; empty where all is well.
        """
        from runwright.engine.graph.check import check  # the one way up: a workflow can judge itself

        return check(self, resolve)
