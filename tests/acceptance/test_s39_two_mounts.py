"""S39, C26: one child mounted twice, in a loop: identities are run, full path and visit, whatever crashes."""

from pathlib import Path

from runwright import Engine, JsonObject
from support.killed import KILLED, drive, drive_through, ledger
from support.sound import check_sound

TWINS = "world.py:twins"


def test_s39_two_mounts_of_one_action_in_a_loop(project: Path, home: Path) -> None:
    """S39: a/x and b/x differ, rounds are visits 1, 2, 3; the crashed visit keeps number, attempt and identity."""
    value: JsonObject = {"die": ["a/x 2"]}
    assert drive(home, project, TWINS, value) == KILLED
    with Engine.open(home) as engine:
        crashed = {(each.path, each.visit): each.effect for each in engine.effects()}
    assert drive(home, project, TWINS, value) == 0
    with Engine.open(home) as engine:
        effects = {(each.path, each.visit): each for each in engine.effects()}
        (run,) = engine.query("runs").items
        assert engine.output(str(run["run_id"])) == ["a/x 3", "b/x 3"]
        mounts = {str(row["path"]): row["invocation"] for row in engine.query("mounts").items}
    assert (run["status"], run["steps"]) == ("completed", 10)
    assert mounts == {"a": 3, "b": 3}
    assert set(effects) == {(path, visit) for path in ("a/x", "b/x") for visit in (1, 2, 3)}
    assert len({each.effect for each in effects.values()}) == 6
    assert {key: effects[key].effect for key in crashed} == crashed
    assert effects["a/x", 2].applications == 2
    assert ledger(project) == {"a/x 1": 1, "a/x 2": 2, "a/x 3": 1, "b/x 1": 1, "b/x 2": 1, "b/x 3": 1}
    check_sound(home)


def test_c26_no_recovery_adopts_the_other_mounts_record(project: Path, home: Path) -> None:
    """C26: killed after every second effect, each mount and round has its own record and its own result."""
    value: JsonObject = {"die": ["b/x 1", "b/x 2", "b/x 3"]}
    assert drive_through(home, project, TWINS, value) == 3
    with Engine.open(home) as engine:
        effects = engine.effects()
        (run,) = engine.query("runs").items
        assert engine.output(str(run["run_id"])) == ["a/x 3", "b/x 3"]
    assert len({each.effect for each in effects}) == len(effects) == 6
    assert ledger(project) == {"a/x 1": 1, "a/x 2": 1, "a/x 3": 1, "b/x 1": 2, "b/x 2": 2, "b/x 3": 2}
    check_sound(home)
