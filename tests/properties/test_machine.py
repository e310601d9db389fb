"""A state machine over commands, crashes and recoveries, with the laws as invariants."""

import os
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from runwright.engine.commands.client import AnswerRequest, CancelRun, PauseRun, RestartRun, ResumeRun
from runwright.engine.commands.host import FailPresentation, FireTimer, PresentRun, RecordExit, TimeOutRun
from runwright.engine.commands.session import AttachSession, DeliverMessage, ReportSession, ReportTurn, TurnEnd
from runwright.engine.results import Applied, Conflict
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, RunData
from runwright.eventstore.log import EventLog
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.workers import WORKERS
from runwright.projections.rows import MemoryRows
from support.memory_log import MemoryLog
from support.stage import Stage, TestClock, queue_command, settled
from support.walking import FLOW, NODES, PRIVATE, World, carry_on, check, claim, resolve, work

DEPTH = float(os.environ.get("RUNWRIGHT_DEPTH", "1"))
SEQUENCES = max(50, round(2_000 * DEPTH))
STEPS = 30
SESSION = "s1"

choices = st.integers(0, 2_999)
sometimes = st.integers(0, 4)


class Lives(RuleBasedStateMachine):
    """One store through any commands of people and workers, and any number of its holder's deaths."""

    def __init__(self) -> None:
        super().__init__()
        clock = TestClock()
        self.log = MemoryLog(clock.now)
        self.world = World(Stage(cast(EventLog, self.log), clock))
        self.seen: dict[str, RunRow] = {}
        self.epoch = ""
        self.lives = 1
        #: Every run ID that somebody was told.
        self.told: list[str] = []

    # --- what people ask ---------------------------------------------------------------------------------------

    @initialize(choice=choices, in_session=st.booleans())
    def first(self, choice: int, in_session: bool) -> None:
        """There is a run, sometimes of a session that rests, and mostly a worker of it."""
        self.start(choice, in_session)
        if in_session:
            self.attach(0)
            self.report(True, False, False)
        if choice % 4:
            claim(self.world, self.told[0], 1)

    @rule(choice=choices, in_session=st.booleans())
    def start(self, choice: int, in_session: bool) -> None:
        """Start a run; a repeat with the key is never a second one."""
        if len(self.told) >= 4:
            return
        run_id, key = f"run-{len(self.told) + 1}", self.key()
        more: dict[str, Any] = {"session": SESSION} if in_session else {}
        timeout = 10_000_000 if choice % 8 == 1 else None
        command = queue_command(FLOW, run_id, {"t": PRIVATE}, timeout=timeout, **more)
        result = self.world.do(lambda stage: stage.ask(command, key=key))
        assert not isinstance(self.world.do(lambda stage: stage.ask(command, key=key)), Applied)
        if isinstance(result, Applied):
            self.told.append(run_id)

    @rule(which=choices, what=st.sampled_from(("pause", "resume", "resume", "resume", "cancel")), rare=sometimes)
    def steer(self, which: int, what: str, rare: int) -> None:
        """Pause, resume and cancel; a live run is always cancelled (law 5)."""
        run = self.run(which)
        if what == "cancel" and rare:
            return
        commands = {"pause": PauseRun, "resume": ResumeRun, "cancel": CancelRun}
        command = commands[what](run_id=run.run_id)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        if what == "cancel":
            assert isinstance(result, Applied) is (run.finished_at is None)

    @rule(which=choices, choice=choices)
    def settle(self, which: int, choice: int) -> None:
        """Say what became of an effect."""
        resolve(self.world, self.run(which).run_id, choice)

    @rule(which=choices, choice=choices)
    def restart(self, which: int, choice: int) -> None:
        """Run an ended run afresh, sometimes from a node; a live one is refused."""
        run = self.run(which)
        if len(self.told) >= 5:
            return
        new, at = f"run-{len(self.told) + 1}r", NODES[choice % len(NODES)] if choice % 3 == 0 else None
        command = RestartRun(run_id=run.run_id, new_run_id=new, at=at)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        assert run.finished_at is not None or isinstance(result, Conflict)
        if isinstance(result, Applied):
            self.told.append(new)

    @rule(choice=choices)
    def answer(self, choice: int) -> None:
        """Answer a request; the same answer again makes no second child."""
        requests = [each for each in self.rows.find(REQUESTS) if each.state == "open"]
        if not requests:
            return
        request = requests[choice % len(requests)]
        command = AnswerRequest(request=request.request, value=PRIVATE)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        assert not isinstance(self.world.do(lambda stage: stage.ask(command, key=self.key())), Applied)
        if isinstance(result, Applied) and result.value not in self.told:
            self.told.append(str(result.value))

    # --- what workers and the holder do ------------------------------------------------------------------------

    @rule(which=choices, choice=choices)
    def launch(self, which: int, choice: int) -> None:
        """The holder claims."""
        claim(self.world, self.run(which).run_id, choice)

    @rule(which=choices, choice=choices)
    def step(self, which: int, choice: int) -> None:
        """A worker does something sensible, mostly under a claim that holds."""
        work(self.world, self.run(which).run_id, choice)

    @rule(which=choices, choice=choices)
    def steps(self, which: int, choice: int) -> None:
        """A worker does several things."""
        for each in (choice, choice // 2, choice // 3):
            work(self.world, self.run(which).run_id, each)

    @rule(which=choices, choice=choices, count=st.integers(2, 12))
    def go_on(self, which: int, choice: int, count: int) -> None:
        """A run goes on as far as it can for a while, as it does when nothing goes wrong."""
        run_id = self.run(which).run_id
        for number in range(count):
            queue = self.rows.get(QUEUE, run_id)
            if queue.owner is None and queue.eligible:
                claim(self.world, run_id, 1)
            if self.rows.get(QUEUE, run_id).owner is not None:
                carry_on(self.world, run_id, choice // (number + 1))

    @rule(which=choices, outcome=st.sampled_from(("crashed", "crashed", "timed_out")))
    def kill(self, which: int, outcome: Any) -> None:
        """A worker vanishes under a living holder; hearing of it twice changes nothing."""
        workers = [each for each in self.world.workers if each.run_id == self.run(which).run_id]
        if not workers:
            return
        command = RecordExit(run_id=workers[-1].run_id, worker=workers[-1].worker, outcome=outcome)
        self.world.do(lambda stage: stage.host(command))
        assert not isinstance(self.world.do(lambda stage: stage.host(command)), Applied)

    @rule()
    def die(self) -> None:
        """The holder dies and the next one recovers, twice: laws 1 and 2, and the second time adds nothing."""
        self.rebuild()
        self.lives += 1
        self.world.stage = self.world.stage.succeed(f"epoch{self.lives}")
        self.recover()
        before = len(self.log.recorded)
        self.recover()
        assert len(self.log.recorded) == before
        assert all(self.rows.get(RUNS, run_id) is not None for run_id in self.told)
        for row in self.rows.find(QUEUE):
            assert row.owner is None, "no claim outlives its holder"

    @rule(which=choices)
    def timers(self, which: int) -> None:
        """What has a timer falls due; firing it twice does nothing more."""
        found = self.rows.find(TIMERS, run_id=self.run(which).run_id)
        if not found:
            return
        timer = found[0]
        late = timer.kind == "run"
        command: Any = TimeOutRun(run_id=timer.run_id) if late else FireTimer(run_id=timer.run_id, kind=timer.kind)
        self.world.do(lambda stage: stage.host(command))
        assert not isinstance(self.world.do(lambda stage: stage.host(command)), Applied)

    @rule(rare=sometimes)
    def time_passes(self, rare: int) -> None:
        """Leases end."""
        if rare == 0:
            self.world.stage.wait(31)

    # --- what sessions report ----------------------------------------------------------------------------------

    @rule(rare=sometimes)
    def attach(self, rare: int) -> None:
        """A coordinator attaches, and fences the one before."""
        if rare and self.epoch:
            return
        result = self.world.do(self.telling(AttachSession(session=SESSION, agent="pi")))
        if isinstance(result, Applied):
            self.epoch = result.value.epoch

    @precondition(lambda self: self.epoch)
    @rule(idle=st.booleans(), arrived=st.booleans(), spoke=st.booleans())
    def report(self, idle: bool, arrived: bool, spoke: bool) -> None:
        """Evidence about the current message, at a boundary or not."""
        current = settled(self.world.stage.transitions.view(SESSION)).current
        command = ReportSession(
            session=SESSION,
            epoch=self.epoch,
            message=None if current is None else current.message,
            entry="e1" if arrived and current is not None else None,
            idle=idle,
            nothing_pending=True,
            person_spoke=spoke,
        )
        self.world.do(self.telling(command))

    @precondition(lambda self: self.epoch)
    @rule(ends=st.booleans())
    def deliver(self, ends: bool) -> None:
        """The current message is handed out; its turn begins, and sometimes ends."""
        current = settled(self.world.stage.transitions.view(SESSION)).current
        if current is None:
            return
        handed = DeliverMessage(session=SESSION, epoch=self.epoch, message=current.message)
        self.world.do(self.telling(handed))
        facts: dict[str, Any] = {
            "session": SESSION,
            "epoch": self.epoch,
            "message": current.message,
            "run": current.run,
        }
        turn = f"turn-{current.message}"
        self.world.do(self.telling(ReportTurn(turn=turn, **facts)))
        if ends:
            end = TurnEnd(stop_reason="completed", entry="e2", text=PRIVATE)
            self.world.do(self.telling(ReportTurn(turn=turn, ended=end, **facts)))

    @rule(choice=choices)
    def tell_of_ends(self, choice: int) -> None:
        """Every end that owes a message gets it."""
        for terminal in self.rows.find(TERMINAL, presentation="pending"):
            self.present_one(terminal.run_id, fails=choice % 3 == 0)

    @rule(which=choices, fails=st.booleans())
    def present(self, which: int, fails: bool) -> None:
        """The end of a run is told of, or cannot be: neither changes the end (laws 5 and 6)."""
        self.present_one(self.run(which).run_id, fails=fails)

    def present_one(self, run_id: str, *, fails: bool) -> None:
        """Tell of one end."""
        run = self.rows.get(RUNS, run_id)
        told: Any = PresentRun(run_id=run.run_id, instructions=PRIVATE)
        if fails:
            told = FailPresentation(run_id=run.run_id, code="presentation_failed", reason="it took too long")
        self.world.do(lambda stage: stage.host(told))
        assert self.rows.get(RUNS, run.run_id).status == run.status

    # --- what holds between any two ----------------------------------------------------------------------------

    @invariant()
    def laws(self) -> None:
        """Laws 3 to 8, run by run."""
        for run_id in self.told:
            check(self.world, run_id, self.seen)
        for turn in self.rows.find(TURNS):
            ended = self.rows.get(RUNS, turn.run_id).finished_at is not None
            assert not (ended and turn.state == "active"), "law 6: a run that ended has no open turn"
        for session in self.rows.find(SESSIONS):
            held = [each for each in self.rows.find(RUNS, session=session.session) if each.finished_at is None]
            assert len(held) <= 1, "one run holds a session"

    def teardown(self) -> None:
        """Law 1: what is rebuilt is equal; law 9: what readers answer; law 10: what events say openly."""
        self.rebuild()
        data = RunData(self.rows, self.log.event)
        for run_id in self.told:
            facts, terminal = data.read_terminal_facts(run_id), self.rows.get(TERMINAL, run_id)
            assert terminal is None or (facts is not None and facts.outcome == terminal.outcome)
            for read in (data.read_run_input, data.read_final_output, data.read_run_error):
                assert isinstance(read(run_id), Found | Missing | MediaTypeMismatch | Redacted)
        for recorded in self.log.recorded:
            assert PRIVATE not in recorded.data, recorded.type

    # --- inside ------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Any:
        """The control rows."""
        return self.log.control

    def key(self) -> str:
        """A new idempotency key."""
        self.world.number += 1
        return f"key{self.world.number}"

    def run(self, which: int) -> RunRow:
        """One of the runs, the newest most often."""
        run_id = self.told[-1] if which % 3 else self.told[which % len(self.told)]
        return cast(RunRow, self.rows.get(RUNS, run_id))

    def telling(self, command: Any) -> Any:
        """What a coordinator tells, as a call."""
        return lambda stage: settled(stage.transitions.session(command))

    def recover(self) -> None:
        """Record the end of every worker that is left, as a new holder does."""
        for worker in [each for each in self.rows.find(WORKERS) if each.state != "exited"]:
            command = RecordExit(run_id=worker.run_id, worker=worker.worker, outcome="orphaned")
            settled(self.world.stage.transitions.host(command))

    def rebuild(self) -> None:
        """Fold every event anew, compare, and go on with what came out."""
        fresh = MemoryRows(CONTROL)
        for recorded in self.log.recorded:
            fresh.apply(recorded)
        for projection in CONTROL:
            assert _ordered(fresh.find(projection)) == _ordered(self.log.control.find(projection)), projection.name
        self.log.control = fresh


def _ordered(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


@pytest.mark.timeout(900)
def test_the_laws_hold_through_any_lives() -> None:
    """Any sequence of commands, kills, deaths and reports keeps every law."""
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
