"""A program that starts runs until no file may grow any more, and then until it may again."""

import multiprocessing
import resource
from pathlib import Path
from typing import Any

from runwright import Context, Engine, JsonObject, StoreError, Workflow

context = multiprocessing.get_context("forkserver")
# What an installed package can import; this module itself is on no path that the fork server knows.
context.set_forkserver_preload(["runwright.engine.embedded.engine"])


def sending(ledger: Path) -> Workflow[JsonObject]:
    """A workflow that sends, and says so in a ledger of its own."""
    workflow: Workflow[JsonObject] = Workflow("sending")

    @workflow.action(recovery="idempotent", request=lambda ctx: "x" * 2000)
    def send(ctx: Context[JsonObject], request: str) -> str:
        with ledger.open("a") as file:
            file.write(f"{ctx.run_id}\n")
        return request

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> int:
        return len(ctx.output(send))

    workflow.entry(send)
    workflow.then(send, after)
    return workflow


def program(home: str, ledger: str, said: Any) -> None:
    """Start runs until the disk is full, look what still works, make room, and let everything end."""
    workflow = sending(Path(ledger))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    codes: list[str] = []
    with Engine.open(home) as engine:
        first = engine.run(workflow, {}).run_id
        largest = max(path.stat().st_size for path in Path(home).iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 1_500_000, hard))
        started: list[str] = []
        while "store_full" not in codes:
            # A COMMIT that failed is neither yes nor no: the same key is asked again.
            try:
                started.append(engine.start(workflow, {}, key=f"k{len(started)}"))
            except StoreError as error:
                codes.append(error.code)
            assert len(started) < 2000
        status = engine.status(first).status
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        ends = [engine.wait(run_id, timeout=20).status for run_id in started]
        ends.append(engine.run(workflow, {}).status)
    said.put((codes, status, ends))
