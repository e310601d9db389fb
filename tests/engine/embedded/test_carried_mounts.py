"""What a mount failed with is known behind every answer, and after a restart, as in the run where it happened."""

from pathlib import Path

from attrs import frozen

from runwright import AsyncEngine, Context, Json, Workflow
from support.sound import check_sound


@frozen
class Nothing:
    """There is nothing to say."""


def documented() -> Workflow[Nothing]:
    """Mounts a workflow that fails, asks twice, and tells at the end how the mount had ended."""
    child = Workflow("child", input=Nothing)

    @child.compute
    def work(ctx: Context[Nothing]) -> int:
        raise ValueError("the paper is out")

    child.entry(work)
    done = child.exit("done", work)
    parent = Workflow("parent", input=Nothing)
    mounted = parent.include("sub", child, input=lambda ctx: Nothing())

    @parent.checkpoint(summary="Once?", returns=str)
    def first(ctx: Context[Nothing]) -> Json:
        return [*told(ctx)]

    @parent.checkpoint(summary="Twice?", returns=str)
    def second(ctx: Context[Nothing]) -> Json:
        return [*told(ctx)]

    @parent.compute
    def tell(ctx: Context[Nothing]) -> list[str]:
        return told(ctx)

    def told(ctx: Context[Nothing]) -> list[str]:
        failed = ctx.result(mounted[done])
        assert failed is not None
        assert failed.error is not None
        return [failed.outcome, failed.error.code, failed.error.message]

    parent.entry(mounted)
    parent.then(mounted[done], tell)
    parent.catch(mounted, first)
    parent.then(first, second)
    parent.then(second, tell)
    return parent


async def test_the_error_of_a_mount_goes_with_its_run(tmp_path: Path) -> None:
    """Through a chain of three runs, and into a restart at a node of the last."""
    async with AsyncEngine.open(tmp_path / "home") as engine:
        run_id = (await engine.run(documented(), Nothing())).run_id
        for _ in range(2):
            (request,) = await engine.requests(run_id)
            run_id = (await engine.answer(request.request_id, "yes")).run_id
            await engine.wait(run_id, until="waiting", timeout=30)
        ended = await engine.wait(run_id, timeout=30)
        assert ended.status == "completed"
        assert isinstance(ended.output, list)
        assert ended.output[:2] == ["failed", "node_failed"]
        assert "the paper is out" in str(ended.output[2])
        again = await engine.wait(await engine.restart(run_id, at="tell"), timeout=30)
        assert again.output == ended.output
    check_sound(tmp_path / "home")
