"""The workflows that this process can drive: handed in, or loaded by reference when somebody asks."""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.program import Program
from runwright.engine.sources.load import load
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.objects import adopt
from runwright.eventstore.values import JsonObject
from runwright.projections.control.runs import RunRow


@frozen(eq=False, slots=False)
class Driven:
    """A program with everything that a run saves of it, worked out once.

    Attributes:
        loaded: The program and where it came from.
    """

    loaded: Loaded

    @property
    def program(self) -> Program:
        """The definition and its code."""
        return self.loaded.program

    @cached_property
    def snapshot(self) -> JsonObject:
        """The definition as data."""
        return self.program.definition.snapshot()

    @cached_property
    def digest(self) -> str:
        """The digest of the definition."""
        return self.program.definition.digest

    @property
    def sources(self) -> str | None:
        """The digest of the source set; ``None`` where nothing was loaded from a file."""
        return self.loaded.sources.digest if self.loaded.sources.files else None

    @property
    def paths(self) -> JsonObject | None:
        """The source set as data."""
        return self.loaded.sources.paths() if self.loaded.sources.files else None

    def carries(self, run: RunRow) -> bool:
        """Whether a run stands on exactly this definition and these sources."""
        return (run.definition, run.sources) == (self.digest, self.sources)

    def named_by(self, run: RunRow) -> bool:
        """Whether it is what a run's reference names; a file may be named with or without its variable."""
        own, saved = self.loaded.reference, run.reference
        if run.workflow != self.program.definition.workflow:
            return False
        if own == saved:
            return True
        file, _, _ = own.rpartition(":")
        return file.endswith(".py") and file == saved


class Catalog:
    """The programs of one engine.

    Args:
        workflows: What was handed in: their runs are driven without being asked for.
        user: The user's configuration folder, which may hold workflows.
        adapt: Changes what was loaded before anything is driven by it; tests put stand-ins into programs.

    Raises:
        WorkflowInvalid: One of them does not hold.
    """

    def __init__(
        self,
        workflows: Iterable[Workflow[Any]] = (),
        *,
        user: Path | None = None,
        adapt: Callable[[Loaded], Loaded] | None = None,
    ) -> None:
        self._user = user
        self._adapt = adapt or (lambda loaded: loaded)
        self._objects: dict[int, tuple[Workflow[Any], Driven]] = {}
        self._handed: list[Driven] = [self.of_object(workflow) for workflow in workflows]

    def of_object(self, workflow: Workflow[Any]) -> Driven:
        """The program of a workflow object, compiled once.

        Raises:
            WorkflowInvalid: Its definition does not hold.
        """
        found = self._objects.get(id(workflow))
        if found is None:
            # The object is kept beside its program, so that its identity is not given to another one.
            found = self._objects[id(workflow)] = (workflow, Driven(self._adapt(adopt(workflow))))
        return found[1]

    def of_reference(self, reference: str, project: Path) -> Driven:
        """Load a program by its name, file or import path, as its files stand now.

        Raises:
            WorkflowNotFound: There is none.
            WorkflowInvalid: It cannot be loaded, or its definition does not hold.
        """
        return Driven(self._adapt(load(reference, project, self._user)))

    def handed(self, run: RunRow) -> Driven | None:
        """The program of a handed-in workflow that a run names, whether or not it is still the same."""
        named = [each for each in self._handed if each.named_by(run)]
        return next((each for each in named if each.carries(run)), named[0] if named else None)

    def started_here(self, run: RunRow) -> Driven | None:
        """The program of an object that was started in this process and that a run stands on exactly."""
        return next((each for _, each in self._objects.values() if each.named_by(run) and each.carries(run)), None)
