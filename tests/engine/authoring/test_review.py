"""The example of page 04: it imports, it is sound, and its nodes are still plain functions."""

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runwright import Context, Json, NodeError, NodeResult, OutputMissing
from runwright.engine.authoring.context import Update
from runwright.engine.sources.load import loading

CASES = Path(__file__).parents[2] / "typing" / "cases"
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def module() -> ModuleType:
    """The example, loaded fresh."""
    with loading("review.py", CASES) as (workflow, _, _):
        return sys.modules[workflow.module]


def done(output: Json) -> NodeResult[Json]:
    """A completed visit."""
    return NodeResult("completed", output, None, AT, AT)


def context(
    module: ModuleType,
    results: Mapping[str, NodeResult[Json]] | None = None,
    visits: Mapping[str, int] | None = None,
    report: Callable[[Update], None] = lambda update: None,
) -> Context[Any]:
    """A context as an executor builds it."""
    return Context(
        input=module.Change("repo"),
        run_id="r" * 20,
        node="fix",
        path="fix",
        visit=1,
        attempt=1,
        steps_left=9,
        cwd=Path("/repo"),
        scratch=Path("/scratch"),
        deadline=None,
        log=logging.getLogger("test"),
        workflow="review-change",
        results=results or {},
        visits=visits or {},
        report=report,
    )


def test_the_example_is_sound(module: ModuleType) -> None:
    """Nothing is wrong with it, not even a warning."""
    assert module.review.check() == []


def test_a_node_can_be_called_as_the_plain_function(module: ModuleType) -> None:
    """Decorators keep the function."""
    assert module.diff(context(module)) == ["git", "-C", "repo", "diff", "--stat"]
    assert module.finish(context(module, visits={"inspect_change": 2})) == {"visits": 2}


def test_an_output_is_rebuilt_by_its_declared_type(module: ModuleType) -> None:
    """From JSON, always; each reading is its own."""
    ctx = context(module, {"inspect_change": done({"verdict": "clean", "notes": "fine"})})
    assert ctx.output(module.inspect_change) == module.Verdict("clean", "fine")
    assert module.fix(ctx) == "Fix these issues: fine"
    assert ctx.outputs["inspect_change"] == {"verdict": "clean", "notes": "fine"}
    assert ctx.outputs["inspect_change"] is not ctx.outputs["inspect_change"]


def test_a_missing_output_says_why_and_how_to_give_a_default(module: ModuleType) -> None:
    """Never ran, or its last visit failed."""
    ctx = context(module)
    with pytest.raises(OutputMissing, match=r"has not finished a visit.*ctx\.output\(diff, …\)"):
        ctx.output(module.diff)
    failed: NodeResult[Json] = NodeResult("timed_out", None, NodeError("node_timed_out", ""), AT, AT)
    with pytest.raises(OutputMissing, match="its last visit ran out of time"):
        context(module, {"diff": failed}).output(module.diff)
    assert ctx.output(module.inspect_change, None) is None
    with pytest.raises(KeyError, match="has not finished"):
        ctx.outputs["diff"]
    assert ctx.outputs.get("diff") is None
    assert "diff" not in ctx.outputs


def test_a_result_tells_outcome_output_error_and_times(module: ModuleType) -> None:
    """Of the last visit, whatever it was."""
    failed: NodeResult[Json] = NodeResult("failed", None, NodeError("node_failed", "no"), AT, AT)
    ctx = context(module, {"diff": failed, "inspect_change": done({"verdict": "clean"})})
    assert ctx.result(module.diff) == failed
    result = ctx.result(module.inspect_change)
    assert result is not None
    assert result.output == module.Verdict("clean")
    assert ctx.result(module.fix) is None


def test_visits_are_those_of_this_invocation(module: ModuleType) -> None:
    """A place that was never entered has none."""
    ctx = context(module, visits={"fix": 3})
    assert (ctx.visits(module.fix), ctx.visits(module.diff)) == (3, 0)


def test_a_node_of_another_workflow_is_refused(module: ModuleType) -> None:
    """A function sees its own names only, and equal names are no excuse."""
    from runwright import Workflow

    other = Workflow("other").compute(name="diff")(lambda ctx: 1)
    with pytest.raises(LookupError, match="'diff' belongs to 'other'"):
        context(module, {"diff": done({})}).output(other)


def test_an_update_is_handed_on(module: ModuleType) -> None:
    """With all that was said, and nothing more."""
    seen: list[Update] = []
    context(module, report=seen.append).update("files", completed=1, total=2, unit="files", message="reading")
    assert seen == [Update(key="files", completed=1, total=2, unit="files", message="reading")]


def test_a_context_is_frozen(module: ModuleType) -> None:
    """A snapshot cannot be changed."""
    with pytest.raises(AttributeError):
        context(module).run_id = "x"  # type: ignore[misc]


def test_importing_a_workflow_imports_nothing_heavy() -> None:
    """No SQLAlchemy, no asyncio, no rich, and none of what only compiling needs."""
    code = (
        "import sys, review; print(sorted({'sqlalchemy', 'asyncio', 'rich', 'cattrs', 'click', 'decimal',"
        " 'runwright.engine.graph.check', 'runwright.engine.authoring.conversion'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=CASES, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there() -> None:
    """Handed out lazily, listed for completion, and the same for type checkers."""
    import runwright

    for name in runwright.__all__:
        assert getattr(runwright, name) is not None
    assert set(runwright.__all__) <= set(dir(runwright))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = runwright.nothing
