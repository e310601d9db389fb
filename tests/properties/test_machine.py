"""State machines over commands, crashes and recoveries, with the laws as invariants and a count of what they reach."""

import inspect
import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from support.lives import Lives
from support.reached import table
from support.talks import REASONS, Talks

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))

#: Sequences that are the same every time, so that what is reached does not depend on chance.
WANDERINGS = 300

#: What sequences have to reach: kinds of events, commands in the columns of page 05's matrix, and deaths in mounts.
EVERYWHERE = """
a holder died inside a mount; a worker vanished inside a mount; cancel of never started: Applied;
cancel of running: Applied; cancel of waiting: Applied; cancel of paused: Applied; cancel of parked: Applied;
cancel of cancelled: Adopted; continue of waiting: Applied; continue of continued: Adopted;
pause of never started: Conflict not_started; pause of running: Applied; pause of waiting: Applied;
pause of parked: Applied; pause of paused: Adopted; pause of cancelled: Conflict already_terminal;
resume of never started: Conflict not_parked; resume of waiting: Conflict not_parked; resume of parked: Applied;
resume of paused: Applied; resume of cancelled: Conflict already_terminal;
command.settled; definition.recorded; effect.reserved; effect.applying; effect.applied; effect.rejected;
effect.ambiguous; mount.entered; mount.carried; mount.exited completed; mount.exited failed; mount.exited timed_out;
mount.exited cancelled; node.carried; node.started; node.finished completed; node.finished failed;
node.finished timed_out; node.finished cancelled; request.opened agent; request.opened checkpoint; request.submitted;
request.accepted person; request.closed cancelled; run.queued start; run.queued continue; run.queued restart;
run.input; run.input_erased; run.eligible headless; run.eligible orphaned; run.eligible progress; run.eligible resume;
run.eligible timer; run.claimed; run.started; run.recovered; run.pause_requested; run.paused; run.resumed;
run.parked waiting; run.parked paused; run.parked worker_crashed; run.parked worker_no_progress; run.parked orphaned;
run.source_accepted; run.completed; run.failed; run.timed_out; run.cancelled; run.continued; timer.set wait;
timer.set run; timer.fired wait; timer.fired run; timer.cleared; worker.launched; worker.ready; worker.exited finished;
worker.exited parked; worker.exited crashed; worker.exited orphaned
"""

IN_LIVES = """
request.opened decision; request.accepted policy; request.refused; a person decides: Applied;
a person decides: Conflict paused; a person decides: Conflict revision_changed;
a person decides: Conflict input_invalid; a model decides: Conflict human_required; run.eligible deadline;
effect.released idempotent; effect.resolved done; effect.resolved not_done; effect.resolved timed_out;
request.accepted agent; request.rejected; resume of parked: RecoveryRequired effect_ambiguous;
resume of parked: Adopted; resume of running: Adopted; restart of running: Conflict still_live;
restart of waiting: Conflict still_live; restart of failed: RecoveryRequired input_cleared;
run.eligible host; run.eligible resolved; run.parked effect_ambiguous; run.parked provider_error;
run.parked host_stopped; run.parked imported; run.parked environment_missing; worker.exited timed_out
"""

IN_TALKS = """
request.opened assistant; message.queued notification initial; message.queued decision initial;
message.cancelled answered; a model submits: Applied; a model submits: Conflict protocol_rejected;
request.accepted agent; request.accepted policy; request.rejected;
session.attached; session.detached; session.person_spoke; a coordinator is missed: Applied;
a coordinator is missed: Adopted; run.eligible boundary; run.eligible deadline;
request.opened agent of a session; request.closed timed_out; message.queued step initial; message.queued step reminder;
message.queued step resumed; message.queued follow_up initial; message.queued launch_failure initial;
message.queued terminal initial; message.delivered true; message.delivered false; message.sent;
message.cancelled cancelled; message.cancelled timed_out; turn.started; turn.started unowned; turn.ended completed;
turn.ended error; turn.ended aborted; turn.lost stalled; timer.set deadline; timer.fired deadline; timer.set delivery;
timer.fired delivery; presentation.prepared; presentation.failed; start by a model: Applied;
start by a model: Conflict presentation_pending; start by a model: Conflict session_busy
"""


def names(*texts: str) -> set[str]:
    """Each name of these texts."""
    return {" ".join(name.split()) for text in texts for name in text.split(";")}


def play(machine: type[Lives], sequences: int, steps: int, *expected: str) -> None:
    """Play many sequences, print what they reached (with `-s`), and ask that nothing expected is missing."""
    machine.reached.clear()
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(50, round(sequences * DEPTH)),
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    for seed in range(WANDERINGS):
        wander(machine, Random(seed), steps)
    print(f"\n{machine.__name__}\n{table(machine.reached)}")
    assert sorted(names(*expected) - set(+machine.reached)) == []


#: What a rule's parameter of that name may be.
DRAWN: dict[str, Callable[[Random], Any]] = {
    "choice": lambda chance: chance.randrange(3_000),
    "which": lambda chance: chance.randrange(3_000),
    "rare": lambda chance: chance.randrange(5),
    "times": lambda chance: chance.randint(2, 16),
    "name": lambda chance: chance.choice(("s1", "s1", "s1", "s2")),
    "what": lambda chance: chance.choice(("pause", "resume", "cancel")),
    "outcome": lambda chance: chance.choice(("crashed", "timed_out")),
    "reason": lambda chance: chance.choice(REASONS),
    "there": lambda chance: chance.random() < 0.5,
    "idle": lambda chance: chance.random() < 0.5,
}


def wander(machine: type[Lives], chance: Random, steps: int) -> None:
    """Play one sequence of the rules, drawn by a seed."""
    played = machine()
    played.first(choice=chance.randrange(3_000))
    rules = sorted((each.function for each in played.rules), key=lambda function: function.__name__)
    for _ in range(steps):
        rule = chance.choice(rules)
        drawn = [name for name in inspect.signature(rule).parameters if name != "self"]
        rule(played, **{name: DRAWN[name](chance) for name in drawn})
        for each in played.invariants:
            each.function(played)
    played.teardown()


@pytest.mark.timeout(900)
def test_the_laws_hold_through_any_lives() -> None:
    """Any sequence of commands, kills and deaths keeps every law."""
    play(Lives, 2_000, 22, EVERYWHERE, IN_LIVES)


@pytest.mark.timeout(900)
def test_the_laws_hold_through_any_talks() -> None:
    """The same with sessions: whatever coordinators report, whenever, and whatever turns come to."""
    play(Talks, 500, 30, EVERYWHERE, IN_TALKS)
