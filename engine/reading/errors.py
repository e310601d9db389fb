"""What asking for a value can meet.

EngineError
└── NotFound
    ├── OutputMissing     there is no such output
    └── OutputRedacted    there was one, and it was erased
"""

from runwright.engine.errors import EngineError, NotFound


class OutputMissing(NotFound):
    """A run, a node or a visit has no output; ``why`` says in which way."""

    def __init__(self, run_id: str, node: str | None, why: str) -> None:
        whose = f"Run {run_id}" if node is None else f"Node {node} of run {run_id}"
        EngineError.__init__(self, f"{whose} has no output: {why}.", f"`runwright show {run_id}` shows what it did")
        self.what = "output"
        self.identity = run_id
        self.node = node
        self.why = why

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.identity, self.node, self.why)


class OutputRedacted(OutputMissing):
    """The output was erased with the private values of its run tree."""

    def __init__(self, run_id: str, node: str | None) -> None:
        super().__init__(run_id, node, "it was redacted")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.identity, self.node)
