"""What is not executed yet is named, one sentence each."""

from runwright import Context, JsonObject, Workflow
from runwright.engine.execution.support import unsupported
from runwright.engine.graph.compile import compile_workflow


def test_kinds_that_are_not_executed_yet() -> None:
    """A start with one of them is refused; the others say nothing."""
    workflow = Workflow("mixed")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        return 1

    @workflow.notify
    def tell(ctx: Context[JsonObject]) -> str:
        return "done"

    workflow.entry(work)
    workflow.then(work, tell)
    [sentence] = unsupported(compile_workflow(workflow).definition)
    assert "'tell'" in sentence
    assert "notify" in sentence
