"""What a run came to, as a program gets it."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from runwright.engine.authoring.nodes import MountExit, Node
from runwright.engine.reading.history import History
from runwright.engine.reading.status import RunError
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RunRow

T = TypeVar("T")


class Outcome:
    """How a run stands when `run` or `wait` returns; everything private is read when it is asked for.

    Attributes:
        run_id: The run.
        status: The display status (``completed``, ``failed``, ``waiting`` …).
        error: Code and safe message, where it ended badly.
    """

    def __init__(self, run_id: str, status: str, error: RunError | None, read: Callable[[str], History]) -> None:
        self.run_id = run_id
        self.status = status
        self.error = error
        self._read = read

    @classmethod
    def of_ended(cls, run: RunRow, read: Callable[[str], History]) -> "Outcome":
        """The outcome of a run that has ended, from its own row."""
        error = None if run.code is None else RunError(code=run.code, message=run.message or "")
        return cls(run.run_id, run.status, error, read)

    def __repr__(self) -> str:
        return f"<Outcome {self.status} of run {self.run_id}>"

    @cached_property
    def _history(self) -> History:
        return self._read(self.run_id)

    @property
    def output(self) -> Json:
        """The final output, as JSON; ``None`` where there is none."""
        return self._history.output

    @property
    def path(self) -> tuple[str, ...]:
        """The node paths that were started, in order, one for each visit."""
        return self._history.path

    def output_of(self, source: "Node[..., object, T] | MountExit[T]") -> T:
        """The last accepted output of a node, by its declared type.

        Raises:
            LookupError: It has none.
        """
        key = source.key
        if key not in self._history.outputs:
            raise LookupError(f"Run {self.run_id} has no output of {key!r}: it never completed there.")
        value: T = source.shape.load(self._history.outputs[key])
        return value

    def prompts(self, node: "Node[..., object, object] | str") -> Sequence[str]:
        """The prompts that an agent or choose node sent, in order."""
        return self._history.prompts.get(node if isinstance(node, str) else node.key, ())
