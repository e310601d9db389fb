"""A state machine over commands, workers, deaths and recoveries of one store, with the laws as invariants."""

from collections import Counter
from typing import Any, ClassVar, Final, cast

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from runwright.engine.commands.client import (
    AcceptedSources,
    AnswerRequest,
    Caller,
    CancelRun,
    DecideRequest,
    PauseRun,
    RestartRun,
    ResumeRun,
)
from runwright.engine.commands.host import FireTimer, ParkIdleRun, RecordExit, TimeOutRun
from runwright.engine.results import Applied
from runwright.engine.rundata import Found, MediaTypeMismatch, Missing, Redacted, RunData
from runwright.eventstore.log import EventLog
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.requests import REQUESTS, RequestRow
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.workers import WORKERS
from runwright.projections.rows import MemoryRows
from support.matrix import agree, expect, standing
from support.memory_log import MemoryLog
from support.reached import answered, count
from support.stage import Stage, TestClock, queue_command, settled
from support.streams import check_streams
from support.walking import claim, resolve
from support.working import carry_on, spread, work
from support.world import FLOW, NODES, PRIVATE, World, check

#: The same graph, changed where no run can notice.
CHANGED: Final = evolve(FLOW, description="Another one.")
MOST_RUNS: Final = 5

choices = st.integers(0, 2_999)
sometimes = st.integers(0, 4)


class Lives(RuleBasedStateMachine):
    """One store through any commands of people and workers, and any number of its holder's deaths."""

    #: What all sequences together came to.
    reached: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        clock = TestClock()
        self.log = MemoryLog(clock.now)
        self.world = World(Stage(cast(EventLog, self.log), clock))
        self.seen: dict[str, RunRow] = {}
        self.lives = 1
        #: Every run ID that somebody was told.
        self.told: list[str] = []

    # --- what people ask ------------------------------------------------------------------------------------------

    @initialize(choice=choices)
    def first(self, choice: int) -> None:
        """There is a run, and mostly a worker of it."""
        self.start(choice)
        if choice % 4:
            self.go_on(0, choice, 1 + choice % 24)

    @rule(choice=choices)
    def start(self, choice: int) -> None:
        """Start a run; a repeat with the key is never a second one."""
        self.start_one(choice)

    def start_one(self, choice: int, **more: Any) -> Any:
        """Start a run of these facts."""
        if len(self.told) >= MOST_RUNS:
            return None
        run_id, key = f"run-{len(self.told) + 1}", self.key()
        timeout = 10_000_000 if choice % 4 == 1 else None
        command = queue_command(FLOW, run_id, {"t": PRIVATE}, timeout=timeout, **more)
        result = self.world.do(lambda stage: stage.ask(command, key=key))
        assert not isinstance(self.world.do(lambda stage: stage.ask(command, key=key)), Applied)
        if isinstance(result, Applied):
            self.told.append(run_id)
        return result

    @rule(which=choices, what=st.sampled_from(("pause", "resume", "resume", "resume", "cancel")), rare=sometimes)
    def steer(self, which: int, what: str, rare: int) -> None:
        """Pause, resume and cancel answer what page 05 says; a live run is always cancelled (law 5)."""
        run = self.run(which)
        if what == "cancel" and rare and run.finished_at is None:
            return
        commands = {"pause": PauseRun, "resume": ResumeRun, "cancel": CancelRun}
        self.ask_matrix(run, what, commands[what](run_id=run.run_id))

    @rule(which=choices, choice=choices)
    def restart(self, which: int, choice: int) -> None:
        """Run an ended run afresh, sometimes from a node; a live one is refused."""
        run = self.run(which)
        if len(self.told) >= MOST_RUNS:
            return
        new, at = f"run-{len(self.told) + 1}r", NODES[choice % len(NODES)] if choice % 3 == 0 else None
        command = RestartRun(run_id=run.run_id, new_run_id=new, at=at)
        if at is None and run.session is None:
            result = self.ask_matrix(run, "restart", command)
        else:
            # Whether it came to that node, and who holds the session now, is no matter of the matrix.
            result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
            assert run.finished_at is not None or answered(result) == "Conflict still_live"
        if isinstance(result, Applied):
            self.told.append(new)

    def ask_matrix(self, run: RunRow, what: str, command: Any) -> Any:
        """Ask, and hold the answer against the matrix of page 05."""
        column, expected = standing(self.rows, run), expect(self.rows, run, what)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        agree(expected, result)
        self.reached[f"{what} of {column}: {expected}"] += 1
        return result

    @rule(which=choices)
    def accept(self, which: int) -> None:
        """The sources changed, and somebody accepts them."""
        run = self.run(which)
        accept = AcceptedSources(snapshot=CHANGED.snapshot(), paths=None)
        command = ResumeRun(run_id=run.run_id, definition=CHANGED.digest, accept=accept)
        self.world.do(lambda stage: stage.ask(command, key=self.key()))

    @rule(which=choices, choice=choices)
    def settle(self, which: int, choice: int) -> None:
        """Say what became of an effect."""
        resolve(self.world, self.run(which).run_id, choice)

    @rule(choice=choices)
    def answer(self, choice: int) -> None:
        """Answer a request, mostly an open one; the same answer again makes no second child."""
        found = self.rows.find(REQUESTS)
        self.answer_one([each for each in found if each.state == "open"] if choice % 6 else found, choice)

    def answer_one(self, requests: list[RequestRow], choice: int) -> None:
        """Answer one of these requests."""
        if not requests:
            return
        request = requests[choice % len(requests)]
        if request.kind == "decision":
            self.decide_one(request, choice)
            return
        column = standing(self.rows, self.rows.get(RUNS, request.run_id))
        command = AnswerRequest(request=request.request, value=PRIVATE)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        assert not isinstance(self.world.do(lambda stage: stage.ask(command, key=self.key())), Applied)
        if request.kind == "checkpoint":
            self.reached[f"continue of {column}: {answered(result)}"] += 1
        if isinstance(result, Applied) and result.value not in self.told:
            self.told.append(str(result.value))

    def decide_one(self, request: RequestRow, choice: int) -> None:
        """A person decides, sometimes wrongly, or a model does; the same choice again is no second answer."""
        named, digest = ("yes", "no", "yes", "no", "maybe")[choice % 5], ("0" * 64 if choice % 7 == 0 else None)
        command = DecideRequest(request=request.request, choice=named, by="Ada", digest=digest)
        person = choice % 11 != 3

        def ask(stage: Stage) -> Any:
            caller = Caller(client="cli" if person else "pi:s1", key=self.key(), actor="client:any", person=person)
            return settled(stage.transitions.command(caller, command))

        result = self.world.do(ask)
        self.reached[f"a {'person' if person else 'model'} decides: {answered(result)}"] += 1
        assert person or not isinstance(result, Applied)
        assert not isinstance(self.world.do(ask), Applied)

    # --- what workers and the holder do ---------------------------------------------------------------------------

    @rule(which=choices, choice=choices)
    def launch(self, which: int, choice: int) -> None:
        """The holder claims."""
        claim(self.world, self.run(which).run_id, choice)

    @rule(which=choices, choice=choices)
    def steps(self, which: int, choice: int) -> None:
        """A worker does several things, sensible or not, mostly under a claim that holds."""
        for each in spread(choice, 3):
            work(self.world, self.run(which).run_id, each)

    @rule(which=choices, choice=choices, times=st.integers(2, 16))
    def go_on(self, which: int, choice: int, times: int) -> None:
        """A run goes on as far as it can for a while, as it does when nothing goes wrong."""
        run_id = self.run(which).run_id
        for each in spread(choice, times):
            self.push(run_id, each)

    def push(self, run_id: str, choice: int) -> None:
        """A run goes on: it is claimed, its worker does what comes next or vanishes, what it waits for comes about."""
        queue, run = self.rows.get(QUEUE, run_id), self.rows.get(RUNS, run_id)
        if run.finished_at is not None:
            return
        if choice % 40 == 9:
            self.ask_matrix(run, "pause", PauseRun(run_id=run_id))
        elif choice % 50 == 10:
            self.ask_matrix(run, "cancel", CancelRun(run_id=run_id))
        elif queue.owner is None and queue.eligible:
            claim(self.world, run_id, 0 if choice % 12 == 7 else 1)
        elif queue.owner is not None and (queue.state == "starting" or choice % 15 == 11):
            self.vanish(run_id, "crashed")
        elif queue.owner is not None:
            carry_on(self.world, run_id, choice)
        elif queue.reason == "effect_ambiguous" and choice % 3:
            resolve(self.world, run_id, choice // 3)
        elif queue.reason != "waiting" or choice % 7 == 0:
            self.ask_matrix(run, "resume", ResumeRun(run_id=run_id))
        elif choice % 2:
            self.fire(run_id, choice)
        else:
            self.answer_one([each for each in self.rows.find(REQUESTS, run_id=run_id) if each.state == "open"], choice)

    @rule(which=choices, outcome=st.sampled_from(("crashed", "crashed", "timed_out")))
    def kill(self, which: int, outcome: Any) -> None:
        """A worker vanishes under a living holder; hearing of it twice changes nothing."""
        self.vanish(self.run(which).run_id, outcome)

    def vanish(self, run_id: str, outcome: Any) -> None:
        """The end of its last worker is observed."""
        workers = [each for each in self.world.workers if each.run_id == run_id]
        if not workers:
            return
        self.reached["a worker vanished inside a mount"] += bool(self.world.inside(run_id))
        command = RecordExit(run_id=run_id, worker=workers[-1].worker, outcome=outcome)
        self.world.do(lambda stage: stage.host(command))
        assert not isinstance(self.world.do(lambda stage: stage.host(command)), Applied)

    @rule(which=choices, rare=sometimes)
    def park(self, which: int, rare: int) -> None:
        """Nobody can drive a run."""
        if rare:
            return
        reason = ("environment_missing", "source_changed", "imported")[which % 3]
        command = ParkIdleRun(run_id=self.run(which).run_id, reason=reason)
        self.world.do(lambda stage: stage.host(command))
        assert not isinstance(self.world.do(lambda stage: stage.host(command)), Applied)

    @rule()
    def die(self) -> None:
        """The holder dies and the next one recovers, twice: laws 1 and 2, and the second time adds nothing."""
        self.reached["a holder died inside a mount"] += any(self.world.inside(each) for each in self.told)
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
        self.fire(self.run(which).run_id, which)

    def fire(self, run_id: str, which: int) -> None:
        """One of its timers; its own limit more seldom than the others."""
        found = [each for each in self.rows.find(TIMERS, run_id=run_id) if each.kind != "run" or which % 4 == 0]
        if not found:
            return
        timer = found[which % len(found)]
        late = timer.kind == "run" and which % 8
        command: Any = TimeOutRun(run_id=timer.run_id) if late else FireTimer(run_id=timer.run_id, kind=timer.kind)
        self.world.do(lambda stage: stage.host(command))
        assert not isinstance(self.world.do(lambda stage: stage.host(command)), Applied)

    @rule(rare=sometimes)
    def time_passes(self, rare: int) -> None:
        """Leases end."""
        if rare == 0:
            self.world.stage.wait(31)

    # --- what holds between any two -------------------------------------------------------------------------------

    @invariant()
    def laws(self) -> None:
        """Laws 3 to 8, run by run."""
        for run_id in self.told:
            check(self.world, run_id, self.seen)

    def teardown(self) -> None:
        """Law 1: what is rebuilt is equal; law 9: what readers answer; law 10: what events say openly."""
        self.rebuild()
        check_streams(self.log.recorded)
        count(self.reached, self.log.recorded)
        data = RunData(self.rows, self.log.event)
        for run_id in self.told:
            facts, terminal = data.read_terminal_facts(run_id), self.rows.get(TERMINAL, run_id)
            assert terminal is None or (facts is not None and facts.outcome == terminal.outcome)
            for read in (data.read_run_input, data.read_final_output, data.read_run_error):
                assert isinstance(read(run_id), Found | Missing | MediaTypeMismatch | Redacted)
        for recorded in self.log.recorded:
            assert PRIVATE not in recorded.data, recorded.type

    # --- inside ---------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Any:
        """The control rows."""
        return self.log.control

    def key(self) -> str:
        """A new idempotency key."""
        self.world.number += 1
        return f"key{self.world.number}"

    def run(self, which: int) -> RunRow:
        """One of the runs, the newest that lives most often."""
        runs: list[RunRow] = [self.rows.get(RUNS, run_id) for run_id in self.told]
        live = [each for each in runs if each.finished_at is None]
        return live[-1] if live and which % 3 else runs[which % len(runs)]

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
