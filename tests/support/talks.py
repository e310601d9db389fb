"""The state machine of lives, with sessions that talk: boundaries, messages, turns, follow-ups, ends that are told."""

from collections import Counter
from functools import partial
from typing import Any, ClassVar

from attrs import define, field
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from runwright.engine.commands.client import Caller, SubmitAnswer
from runwright.engine.commands.host import FailPresentation, JudgeSubmission, PresentRun
from runwright.engine.commands.session import (
    AttachSession,
    CurrentMessage,
    DeliverMessage,
    DetachSession,
    MissSession,
    QueueFollowUp,
    ReportSession,
    ReportTurn,
    ReturnSession,
    SessionView,
    TurnEnd,
)
from runwright.engine.results import Applied
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.turns import TURNS
from support.lives import MOST_RUNS, Lives, choices, sometimes
from support.reached import answered
from support.stage import Stage, queue_command, settled
from support.working import spread
from support.world import FLOW, PRIVATE, check_sessions

SESSIONS_USED = ("s1", "s2")
names = st.sampled_from(("s1", "s1", "s1", "s2"))

#: How turns end, the ordinary way most often.
REASONS = ("completed", "completed", "completed", "error", "error", "aborted")


@define
class Agent:
    """One agent's side of its session: the branch that it holds, and the turn that it takes.

    Attributes:
        session: The session.
        epoch: Its coordinator's; empty where none is attached.
        branch: The messages that its active branch holds.
        turn: The turn that it takes, with the message and the run that it names.
        turns: How many it took.
    """

    session: str
    epoch: str = ""
    branch: list[str] = field(factory=list)
    turn: tuple[str, str, str] | None = None
    turns: int = 0


class Talks(Lives):
    """Lives of runs in sessions."""

    reached: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.agents = {name: Agent(name) for name in SESSIONS_USED}
        self.sent: set[str] = set()

    @initialize(choice=choices)
    def first(self, choice: int) -> None:
        """There is a run of an attached session, mostly at its idle boundary and at work."""
        self.attach("s1", 0)
        self.start_one(choice, session="s1")
        if choice % 5:
            self.whole(choice, 1 + choice % 40)

    @rule(choice=choices)
    def start(self, choice: int) -> None:
        """Start a run in a session, or in none; by a person, or by the model inside its turn."""
        session = (*SESSIONS_USED, "s1", "s1", None)[choice % 5]
        if session is None or choice % 3:
            self.start_one(choice, session=session)
        else:
            self.start_by_model(session)

    def start_by_model(self, session: str) -> None:
        """Its model starts a run, mostly inside the turn that a message caused."""
        if len(self.told) >= MOST_RUNS:
            return
        run_id, caller = f"run-{len(self.told) + 1}", self.model(session)
        command = queue_command(FLOW, run_id, {"t": PRIVATE}, session=session)
        result = self.world.do(lambda stage: settled(stage.transitions.command(caller, command)))
        self.reached[f"start by a model: {answered(result)}"] += 1
        if isinstance(result, Applied):
            self.told.append(run_id)

    # --- the coordinator ------------------------------------------------------------------------------------------

    @rule(name=names, rare=sometimes)
    def attach(self, name: str, rare: int) -> None:
        """A coordinator attaches, and fences the one before; what it was doing is not tied to the old one."""
        agent = self.agents[name]
        if rare and agent.epoch:
            return
        result = self.tell(AttachSession(session=name, agent="pi"))
        assert isinstance(result, Applied)
        agent.epoch = result.value.epoch

    @rule(name=names, rare=sometimes)
    def detach(self, name: str, rare: int) -> None:
        """A coordinator leaves; the agent's turn goes on without it."""
        agent = self.agents[name]
        if rare or not agent.epoch:
            return
        self.tell(DetachSession(session=name, epoch=agent.epoch))
        agent.epoch = ""

    @rule(name=names)
    def lose_touch(self, name: str) -> None:
        """A coordinator is without a connection for a while, and comes back: it is missed at most in a run's turn."""
        if self.agents[name].epoch:
            self.be_missed(self.agents[name])

    def be_missed(self, agent: Agent) -> None:
        """Nobody hears of a coordinator, and then somebody does; said twice, it is one fact."""
        name = agent.session
        missed = self.tell(MissSession(session=name, epoch=agent.epoch))
        self.reached[f"a coordinator is missed: {answered(missed)}"] += 1
        assert not isinstance(self.tell(MissSession(session=name, epoch=agent.epoch)), Applied)
        back = self.tell(ReturnSession(session=name, epoch=agent.epoch))
        assert type(back) is type(missed)

    @rule(name=names, choice=choices, times=st.integers(1, 12))
    def talk(self, name: str, choice: int, times: int) -> None:
        """The session and its agent do what comes next for a while."""
        agent = self.agents[name]
        if not agent.epoch:
            self.attach(name, 0)
        for each in spread(choice, times):
            self.next_word(agent, each)

    def next_word(self, agent: Agent, choice: int) -> None:
        """What comes next: a turn's end, evidence, a delivery and its turn, or rest."""
        view: SessionView = settled(self.world.stage.transitions.view(agent.session))
        current = view.current
        if agent.turn is not None:
            if choice % 4 == 0:
                self.be_missed(agent)
            if choice % 7 == 0:
                self.report(agent, agent.turn[1], idle=False)
            elif choice % 7 == 2:
                self.submit(agent, choice)
            elif choice % 7 == 1:
                # It ended, and nobody was told how: the next report at rest shows that.
                agent.turn = None
            else:
                self.end(agent, REASONS[choice % len(REASONS)])
        elif current is None:
            self.report(agent, None, spoke=choice % 4 == 0)
        elif not current.deliver:
            self.report(agent, current.message, idle=choice % 5 != 0)
        else:
            self.hand_out(agent, current, choice)

    def submit(self, agent: Agent, choice: int) -> None:
        """Its model hands a candidate in for what is open, mostly its own; it is checked at once, or later."""
        found = [each for each in self.rows.find(REQUESTS) if each.state in ("open", "validating")]
        own = [each for each in found if each.session == agent.session] if choice % 5 else found
        if not own:
            return
        request = own[choice % len(own)]
        command = SubmitAnswer(request=request.request, value=PRIVATE, session=agent.session, epoch=agent.epoch)
        caller = self.model(agent.session)
        result = self.world.do(lambda stage: settled(stage.transitions.command(caller, command)))
        self.reached[f"a model submits: {answered(result)}"] += 1
        assert not isinstance(self.world.do(lambda stage: settled(stage.transitions.command(caller, command))), Applied)
        if choice % 4:
            self.judge(request.request, choice // 4)

    @rule(choice=choices)
    def judge_any(self, choice: int) -> None:
        """A candidate that was left is checked after all."""
        left = self.rows.find(REQUESTS, state="validating")
        if left:
            self.judge(left[choice % len(left)].request, choice)

    def judge(self, name: str, choice: int) -> None:
        """What the check came to; said twice, it is one verdict."""
        request = self.rows.get(REQUESTS, name)
        code = (None, None, "output_invalid", "validation_failed", "worker_crashed", "source_changed")[choice % 6]
        verdict = JudgeSubmission(
            run_id=request.run_id,
            request=name,
            submission=request.submission or "",
            output=PRIVATE,
            refusal=None if code is None else PRIVATE,
            code=code,
        )
        self.world.do(partial(_by_the_holder, verdict))
        assert not isinstance(self.world.do(partial(_by_the_holder, verdict)), Applied)

    def hand_out(self, agent: Agent, current: CurrentMessage, choice: int) -> None:
        """The current message is handed out; mostly it arrives, and its turn begins."""
        result = self.tell(DeliverMessage(session=agent.session, epoch=agent.epoch, message=current.message))
        assert isinstance(result, Applied), result
        if choice % 6 == 1:
            return
        agent.branch.append(current.message)
        self.report(agent, current.message, idle=not current.starts_turn)
        if result.value.starts_turn:
            self.begin(agent, current.message, current.run)

    def report(self, agent: Agent, message: str | None, *, idle: bool = True, spoke: bool = False) -> Any:
        """What the branch says of a message."""
        entry = f"entry-{message}" if message in agent.branch else None
        return self.tell(
            ReportSession(
                session=agent.session,
                epoch=agent.epoch,
                message=message,
                entry=entry,
                idle=idle,
                nothing_pending=idle,
                person_spoke=spoke,
            )
        )

    def begin(self, agent: Agent, message: str, run: str) -> None:
        """A turn begins; its repeat is never a second one."""
        agent.turns += 1
        turn = f"turn-{agent.session}-{agent.turns}"
        command = ReportTurn(session=agent.session, epoch=agent.epoch, turn=turn, message=message, run=run)
        result = self.tell(command)
        assert not isinstance(self.tell(command), Applied)
        if isinstance(result, Applied):
            assert result.value.ownership == "active"
            agent.turn = (turn, message, run)

    def end(self, agent: Agent, reason: Any) -> None:
        """The agent's turn ends; the same word again adopts, another one conflicts."""
        assert agent.turn is not None
        turn, message, run = agent.turn
        agent.turn = None
        facts: dict[str, Any] = {"session": agent.session, "epoch": agent.epoch, "turn": turn, "message": message}
        told = ReportTurn(**facts, run=run, ended=TurnEnd(stop_reason=reason, entry="e", text=PRIVATE))
        self.tell(told)
        again, other = self.tell(told), self.tell(ReportTurn(**facts, run="run-other", ended=told.ended))
        assert answered(again) == "Adopted"
        assert answered(other) == "Conflict revision_changed"

    # --- what goes another way ------------------------------------------------------------------------------------

    @rule(name=names, choice=choices)
    def loses(self, name: str, choice: int) -> None:
        """The agent goes to another branch, or drops its turn without a word."""
        agent = self.agents[name]
        agent.turn = None
        if agent.branch and choice % 2:
            del agent.branch[choice % len(agent.branch)]

    @rule(name=names, choice=choices, there=st.booleans(), idle=st.booleans())
    def odd_report(self, name: str, choice: int, there: bool, idle: bool) -> None:
        """A report about any message that there is, of this session or not, shown or not."""
        agent, messages = self.agents[name], self.rows.find(MESSAGES)
        if not messages or not agent.epoch:
            return
        message = messages[choice % len(messages)]
        if there and message.session == name and message.message not in agent.branch:
            agent.branch.append(message.message)
        self.report(agent, message.message, idle=idle, spoke=choice % 5 == 0)

    @rule(name=names, choice=choices, reason=st.sampled_from(REASONS))
    def odd_turn(self, name: str, choice: int, reason: Any) -> None:
        """A turn of any message is reported, or a late end of any turn."""
        agent, messages, turns = self.agents[name], self.rows.find(MESSAGES), self.rows.find(TURNS)
        if not agent.epoch:
            return
        if turns and choice % 2:
            turn = turns[choice % len(turns)]
            run = self.rows.get(MESSAGES, turn.message).run_id
            agent.turn = (turn.turn, turn.message, run)
            told = ReportTurn(
                session=name, epoch=agent.epoch, turn=turn.turn, message=turn.message, run=run,
                ended=TurnEnd(stop_reason=reason),
            )  # fmt: skip
            result = self.tell(told)
            assert turn.state == "open" or not isinstance(result, Applied)
            agent.turn = None
        elif messages:
            message = messages[choice % len(messages)]
            self.begin(agent, message.message, message.run_id)

    @rule(rare=sometimes)
    def long_time_passes(self, rare: int) -> None:
        """What was handed out and never shown may be handed out once more."""
        if rare == 0:
            self.world.stage.wait(61)

    # --- what people and runs have to say -------------------------------------------------------------------------

    @rule(which=choices, choice=choices)
    def follow_up(self, which: int, choice: int) -> None:
        """The session leaves a text for the end of its run."""
        run = self.run(which)
        name = run.session if run.session is not None and choice % 8 else "s2"
        agent = self.agents[name]
        command = QueueFollowUp(run_id=run.run_id, session=name, epoch=agent.epoch, text=PRIVATE)
        result = self.world.do(lambda stage: stage.ask(command, key=self.key()))
        self.reached[f"a follow-up: {answered(result)}"] += 1
        assert not isinstance(result, Applied) or (run.finished_at is None and run.session == name and agent.epoch)

    @rule(choice=choices)
    def present(self, choice: int) -> None:
        """Every end that owes a message gets it, or cannot: neither changes the end (laws 5 and 6)."""
        for terminal in [each for each in self.rows.find(TERMINAL) if each.presentation in ("pending", "failed")]:
            run = self.rows.get(RUNS, terminal.run_id)
            told: Any = PresentRun(run_id=run.run_id, instructions=PRIVATE if choice % 2 else None)
            if choice % 3 == 0:
                told = FailPresentation(run_id=run.run_id, code="presentation_failed", reason="it took too long")
            self.world.do(partial(_by_the_holder, told))
            assert self.rows.get(RUNS, run.run_id) == run

    @rule(choice=choices, times=st.integers(2, 20))
    def whole(self, choice: int, times: int) -> None:
        """The session's run and its agent go on together, as they do when nothing goes wrong."""
        agent = self.agents["s1"]
        if not agent.epoch:
            self.attach("s1", 0)
        for each in spread(choice, times):
            self.next_word(agent, each)
            live = [run for run in self.rows.find(RUNS, session="s1") if run.finished_at is None]
            for run in live:
                self.push(run.run_id, each // 7)
            if not live and agent.turn is not None:
                self.start_by_model("s1")
            elif not live:
                self.present(each)

    # --- what holds -----------------------------------------------------------------------------------------------

    @invariant()
    def conversations(self) -> None:
        """What page 07 bounds, and what it says is final."""
        check_sessions(self.world, self.sent)

    def model(self, session: str) -> Caller:
        """A model that speaks for a session."""
        return Caller(client=f"pi:{session}", key=self.key(), actor=f"client:pi:{session}", person=False)

    def tell(self, command: Any) -> Any:
        """Hand in what a coordinator tells."""
        return self.world.do(lambda stage: settled(stage.transitions.session(command)))


def _by_the_holder(command: Any, stage: Stage) -> Any:
    return stage.host(command)
