"""S39, C26: an effect's identity is run, full path and visit; a crash or a retry changes none of them."""

from pathlib import Path

from runwright import Engine, JsonObject
from runwright.eventstore.events.node import NodeStarted
from support.killed import KILLED, drive, drive_through, ledger
from support.sound import check_sound

ROUNDS = "world.py:rounds"


def test_s39_rounds_are_visits_and_a_crashed_one_keeps_its_number(project: Path, home: Path) -> None:
    """S39: visits 1, 2, 3; the visit that crashed is done again under the same number, attempt and identity."""
    value: JsonObject = {"die": ["notify 2"]}
    assert drive(home, project, ROUNDS, value) == KILLED
    with Engine.open(home) as engine:
        crashed = {(each.path, each.visit): each.effect for each in engine.effects()}
    assert drive(home, project, ROUNDS, value) == 0
    with Engine.open(home) as engine:
        effects = {(each.path, each.visit): each for each in engine.effects()}
        (run,) = engine.query("runs").items
        started = [each.event for each in engine.events(types=["node.started"])]
    assert (run["status"], run["steps"]) == ("completed", 7)
    assert set(effects) == {(path, visit) for path in ("notify", "poll") for visit in (1, 2, 3)}
    assert len({each.effect for each in effects.values()}) == 6
    assert {key: effects[key].effect for key in crashed} == crashed
    assert effects["notify", 2].applications == 2
    visits = [(each.path, each.visit, each.attempt) for each in started if isinstance(each, NodeStarted)]
    assert visits.count(("notify", 2, 1)) == 1
    assert ledger(project) == {
        "notify 1": 1, "notify 2": 2, "notify 3": 1, "poll 1": 2, "poll 2": 1, "poll 3": 1
    }  # fmt: skip
    check_sound(home)


def test_s39_a_retry_is_the_next_attempt_of_the_same_visit(project: Path, home: Path) -> None:
    """S39: a declared retry changes neither the visit nor the effect, only the attempt."""
    assert drive(home, project, ROUNDS, {}) == 0
    with Engine.open(home) as engine:
        started = [each.event for each in engine.events(types=["node.started"])]
        polls = [
            (each.visit, each.attempt) for each in started if isinstance(each, NodeStarted) and each.path == "poll"
        ]
        first = next(each for each in engine.effects() if (each.path, each.visit) == ("poll", 1))
    assert polls == [(1, 1), (1, 2), (2, 1), (3, 1)]
    assert (first.applications, first.state) == (2, "applied")
    check_sound(home)


def test_c26_no_recovery_adopts_a_neighbours_record(project: Path, home: Path) -> None:
    """C26: killed after every second effect, each round's equal request is still its own effect with its own result."""
    value: JsonObject = {"die": ["poll 1", "poll 2", "poll 3"]}
    assert drive_through(home, project, ROUNDS, value) == 3
    with Engine.open(home) as engine:
        effects = engine.effects()
        (run,) = engine.query("runs").items
        assert engine.output(str(run["run_id"])) == [3, 3]
    assert len({each.effect for each in effects}) == len(effects) == 6
    happened = ledger(project)
    assert [happened[f"notify {visit}"] for visit in (1, 2, 3)] == [1, 1, 1]
    assert [happened[f"poll {visit}"] for visit in (1, 2, 3)] == [3, 2, 2]
    check_sound(home)
