"""C45: nothing of a shell node's process tree outlives its cancellation or its time limit."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # no stubs
import pytest

from runwright import Command, Context, Engine, JsonObject, Surroundings, Workflow
from support.sound import check_sound

#: A tree: the shell, a child that writes late, and one that lasts; each says who it is.
TREE = """
{trap}
echo $$ >> pids
(sleep 1.5; touch late) & echo $! >> pids
sleep 300 & echo $! >> pids
touch ready
wait
"""


def tree(trap: str, timeout: float | None) -> Workflow[JsonObject]:
    """A workflow whose only node starts the tree."""
    workflow: Workflow[JsonObject] = Workflow("tree")

    @workflow.shell(recovery="idempotent", timeout=timeout)
    def grow(ctx: Context[JsonObject]) -> Command:
        return Command.sh(TREE.format(trap=trap))

    workflow.entry(grow)
    return workflow


def alive(folder: Path) -> list[int]:
    """The processes of the tree that still run; a dead one that nobody fetched does not."""
    found = []
    for pid in map(int, (folder / "pids").read_text().split()):
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            continue
    return found


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is so that no event tells of."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("trap", ["", "trap '' TERM"], ids=["listens", "ignores"])
@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_c45_nothing_is_left_of_the_tree(tmp_path: Path, home: Path, how: str, trap: str) -> None:
    """C45: TERM, then KILL after the grace; no descendant is left, and none of them gets to write late."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with Engine.open(home) as engine:
        workflow = tree(trap, 0.6 if how == "timeout" else None)
        run_id = engine.start(workflow, {}, surroundings=Surroundings(cwd=folder))
        until((folder / "ready").exists)
        if how == "cancel":
            engine.cancel(run_id)
            assert engine.status(run_id).status == "cancelled"
            until(lambda: alive(folder) == [])
        else:
            outcome = engine.wait(run_id)
            # The end is recorded after it was seen.
            assert alive(folder) == []
            assert (outcome.status, outcome.error and outcome.error.code) == ("timed_out", "node_timed_out")
    assert alive(folder) == []
    if not trap:
        assert not (folder / "late").exists()
    check_sound(home)
