"""One attempt of one visit under way, and the ways it can end."""

from typing import Any, Literal, TypeAlias

from attrs import define, field, frozen

from runwright.engine.authoring.context import Context
from runwright.engine.authoring.declaration import Declaration
from runwright.engine.authoring.nodes import Node
from runwright.engine.commands.worker import AskPerson, AskSession, ParkRun, StartNode, WorkerTransition
from runwright.engine.execution.failures import Failure
from runwright.engine.execution.port import SavedEffect, SavedRequest
from runwright.engine.graph.definition import NodeSpec
from runwright.eventstore.values import Json

Outcome: TypeAlias = Literal["completed", "failed", "timed_out"]


@frozen(kw_only=True)
class Ended:
    """The attempt ended.

    Attributes:
        outcome: How.
        output: The output as it is stored, when it completed.
        code: The code, when it did not.
        error: The private error text.
        settles: What has to be settled before the attempt is finished.
        retriable: Whether a declared retry may apply.
    """

    outcome: Outcome
    output: Json = None
    code: str | None = None
    error: str | None = None
    settles: tuple[WorkerTransition, ...] = ()
    retriable: bool = True

    @classmethod
    def badly(cls, failure: Failure, *settles: WorkerTransition, retriable: bool = True) -> "Ended":
        """The attempt ended as a failure says."""
        return cls(
            outcome=failure.outcome,
            code=failure.code,
            error=failure.error,
            settles=settles,
            retriable=retriable,
        )


@frozen(kw_only=True)
class Parked:
    """The run stops here; the attempt stays open, or never started. ``before`` stands in the same list."""

    park: ParkRun | AskSession | AskPerson
    before: tuple[WorkerTransition, ...] = ()


@define(kw_only=True)
class Visit:
    """One attempt of one visit.

    Attributes:
        spec: The compiled node.
        node: The node as it was written.
        number: The visit.
        attempt: The attempt.
        deadline: When its time is up (UTC microseconds), fixed once per attempt.
        limit: How long that is; a session's time begins only once it was asked.
        context: What its functions see.
        resumed: Whether the attempt was open already when this worker came.
        effect: The effect of this visit, where it was saved before.
        request: The request of this attempt, where it was saved before.
    """

    spec: NodeSpec
    node: Node[..., Any, Any]
    number: int
    attempt: int
    deadline: int | None
    context: Context[object]
    limit: int | None = None
    resumed: bool = False
    effect: SavedEffect | None = None
    request: SavedRequest | None = None
    _announced: bool = field(default=False, init=False)

    @property
    def path(self) -> str:
        """The full node path."""
        return self.spec.path

    @property
    def declaration(self) -> Declaration:
        """What the node's decorator was told."""
        return self.node.declaration

    def opening(self) -> tuple[StartNode, ...]:
        """What starts the attempt: once, and only where it is not open already."""
        if self.resumed or self._announced:
            return ()
        self._announced = True
        return (StartNode(path=self.path, visit=self.number, attempt=self.attempt, deadline=self.deadline),)

    def tries_again(self, outcome: str | None, code: str | None) -> bool:
        """Whether a declared try is left after this attempt ended so."""
        return self.spec.tries_again(self.attempt, outcome, code)
