"""C03: one key names one start; whatever else is asked for under it is a conflict that names the first run."""

from pathlib import Path

import pytest

from runwright import ConflictError, Engine, JsonObject, Surroundings
from support.killed import KILLED, drive, ledger
from support.sound import check_sound

ROUNDS = "world.py:rounds"
VALUE: JsonObject = {"die": ["notify 2"]}
OTHERS: tuple[tuple[str, JsonObject], ...] = (("world.py:four", VALUE), (ROUNDS, {"die": ["poll 3"]}))


def refused(engine: Engine, here: Surroundings, run_id: str) -> None:
    """Another workflow, and another input: each is refused by the first run's name, and leaves nothing."""
    receipts = engine.query("receipts").items
    for workflow, value in OTHERS:
        with pytest.raises(ConflictError, match=run_id) as conflict:
            engine.start(workflow, value, key="K", surroundings=here)
        assert conflict.value.code == "key_reused"
        assert conflict.value.evidence["run"] == run_id
    assert engine.query("receipts").items == receipts


def test_c03_a_key_is_one_start_through_a_kill(project: Path, home: Path) -> None:
    """C03: adopted before, while and after it runs, killed in the middle; it finishes once."""
    assert drive(home, project, ROUNDS, VALUE, "K") == KILLED
    here = Surroundings(cwd=project)
    with Engine.open(home) as engine:
        (run,) = engine.query("runs").items
        run_id = str(run["run_id"])
        assert run["finished_at"] is None
        refused(engine, here, run_id)
        assert engine.start(ROUNDS, VALUE, key="K", surroundings=here) == run_id
        refused(engine, here, run_id)
        assert engine.wait(run_id).status == "completed"
        refused(engine, here, run_id)
        assert engine.start(ROUNDS, VALUE, key="K", surroundings=here) == run_id
        assert len(engine.query("runs").items) == 1
    happened = ledger(project)
    assert (happened["notify 1"], happened["notify 2"], happened["notify 3"]) == (1, 2, 1)
    check_sound(home)
