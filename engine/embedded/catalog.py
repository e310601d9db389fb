"""The workflows that this process can drive: handed in, or loaded by reference when somebody asks."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attrs import field, frozen

from runwright.engine.authoring.workflow import Workflow
from runwright.engine.embedded.code import ProgramFacts, Wanted, assistants_of, executors_of
from runwright.engine.graph.program import Program
from runwright.engine.sources.load import load
from runwright.engine.sources.loaded import Loaded
from runwright.engine.sources.objects import adopt
from runwright.projections.control.runs import RunRow


@frozen(kw_only=True, eq=False)
class Driven(ProgramFacts):
    """A program that this process has, with its code.

    Attributes:
        loaded: The program and where it came from.
    """

    loaded: Loaded = field(repr=False)

    @classmethod
    def of(cls, loaded: Loaded) -> "Driven":
        """Work out what is saved of a program, once."""
        definition, sources = loaded.program.definition, loaded.sources
        return cls(
            reference=loaded.reference,
            project=loaded.project,
            workflow=definition.workflow,
            definition=definition.digest,
            snapshot=definition.snapshot(),
            sources=sources.digest if sources.files else None,
            paths=sources.paths() if sources.files else None,
            executors=executors_of(definition),
            assistants=assistants_of(definition),
            max_steps=definition.max_steps,
            loaded=loaded,
        )

    @property
    def program(self) -> Program:
        """The definition and its code."""
        return self.loaded.program


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
        self.user = user
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
            found = self._objects[id(workflow)] = (workflow, Driven.of(self._adapt(adopt(workflow))))
        return found[1]

    def of_reference(self, reference: str, project: Path) -> Driven:
        """Load a program by its name, file or import path, as its files stand now.

        Raises:
            WorkflowNotFound: There is none.
            WorkflowInvalid: It cannot be loaded, or its definition does not hold.
        """
        return Driven.of(self._adapt(load(reference, project, self.user)))

    def handed(self, run: RunRow | Wanted) -> Driven | None:
        """The program of a handed-in workflow that a run names, whether or not it is still the same."""
        named = [each for each in self._handed if each.named_by(run)]
        return next((each for each in named if each.carries(run)), named[0] if named else None)

    def started_here(self, run: RunRow | Wanted) -> Driven | None:
        """The program of an object that was started in this process and that a run stands on exactly."""
        return next((each for _, each in self._objects.values() if each.named_by(run) and each.carries(run)), None)
