"""The closed table of operations of `runwright.client.v1`: what each takes and answers, and what a call has to name."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from attrs import frozen

from runwright.engine.protocol import answers, conversation, ledger, payloads, views


class Needs(Enum):
    """What a field of the envelope is to an operation."""

    YES = "needed"
    MAY = "optional"
    NO = "none"


class Lane(Enum):
    """Behind what an operation may wait.

    Attributes:
        COMMAND: The writer alone.
        QUICK: Other short questions alone.
        LONG: Other long questions, too; a host takes few at once.
    """

    COMMAND = "command"
    QUICK = "quick"
    LONG = "long"


@frozen(kw_only=True)
class Operation:
    """One operation.

    Attributes:
        name: Its name.
        does: What it does, in one sentence.
        payload: The class of what it takes.
        answer: The class of what it answers.
        of_session: The class of what it answers about a session instead.
        run: Whether the call names a run.
        key: Whether the call has an idempotency key.
        expected: Whether the call may say at which revision the run has to be.
        receipt: Whether a durable receipt is committed with it; a key without one is known while the host lives.
        streams: Whether events may follow its reply.
        lane: Behind what it may wait.
    """

    name: str
    does: str
    payload: type
    answer: type
    of_session: type | None = None
    run: Needs = Needs.NO
    key: Needs = Needs.NO
    expected: bool = False
    receipt: bool = False
    streams: bool = False
    lane: Lane = Lane.LONG

    @property
    def answers(self) -> tuple[type, ...]:
        """The classes of what it can answer."""
        return (self.answer,) if self.of_session is None else (self.answer, self.of_session)


def _command(
    name: str, does: str, payload: type, answer: type, *, run: Needs = Needs.YES, expected: bool = False
) -> Operation:
    """An operation that changes a run, with a durable receipt."""
    return Operation(
        name=name, does=does, payload=payload, answer=answer, run=run, key=Needs.YES, expected=expected, receipt=True,
        lane=Lane.COMMAND,
    )  # fmt: skip


def _told(name: str, does: str, payload: type, answer: type, *, run: Needs = Needs.NO) -> Operation:
    """What a session's coordinator tells: evidence, which may be told again; an equal one is adopted without a key."""
    return Operation(name=name, does=does, payload=payload, answer=answer, run=run, lane=Lane.COMMAND)


def _chore(name: str, does: str, payload: type, answer: type, *, run: Needs = Needs.NO) -> Operation:
    """An operation that changes something other than a run; repeating it does no harm."""
    return Operation(name=name, does=does, payload=payload, answer=answer, run=run, key=Needs.YES)


_ALL: Final = (
    Operation(
        name="workflow.list",
        does="What can be started by name.",
        payload=payloads.WorkflowList,
        answer=answers.WorkflowsFound,
    ),
    Operation(
        name="workflow.check",
        does="Everything that is wrong with a workflow, at once.",
        payload=payloads.WorkflowCheck,
        answer=answers.WorkflowChecked,
    ),
    _command("run.start", "Queue a run, durably.", payloads.RunStart, answers.RunQueued, run=Needs.NO),
    _command("run.pause", "Let no further node of a run start.", payloads.Nothing, answers.RunNamed, expected=True),
    _command("run.resume", "Let a paused or parked run go on.", payloads.RunResume, answers.RunNamed, expected=True),
    _command("run.cancel", "End a run now.", payloads.RunCancel, answers.RunNamed, expected=True),
    _command("run.restart", "Run an ended run afresh.", payloads.RunRestart, answers.RunNamed, expected=True),
    Operation(
        name="run.status",
        does="One run's facts.",
        payload=payloads.RunStatusOf,
        answer=answers.RunStatus,
        run=Needs.MAY,
        lane=Lane.QUICK,
    ),
    Operation(
        name="run.list", does="Runs, newest first, or all live ones.", payload=payloads.RunList, answer=answers.RunsPage
    ),
    Operation(
        name="run.output",
        does="A run's output, or a node's.",
        payload=payloads.RunOutput,
        answer=answers.RunOutputFound,
        run=Needs.YES,
    ),
    Operation(
        name="run.logs",
        does="What a run's code wrote, and what it writes.",
        payload=payloads.RunLogs,
        answer=answers.LogLines,
        run=Needs.YES,
        streams=True,
    ),
    _command(
        "run.follow_up", "A text for a run's session once the run completed.", payloads.RunFollowUp, answers.RunNamed
    ),
    Operation(
        name="request.list",
        does="Open requests, of one run or all.",
        payload=payloads.Nothing,
        answer=answers.RequestsPage,
        run=Needs.MAY,
        lane=Lane.QUICK,
    ),
    Operation(
        name="request.get",
        does="One open request.",
        payload=payloads.RequestGet,
        answer=answers.RequestFound,
        lane=Lane.QUICK,
    ),
    _command(
        "request.submit",
        "Hand in a candidate for an agent's request, and hear the verdict.",
        conversation.RequestSubmit,
        answers.RequestAnswered,
        run=Needs.NO,
    ),
    _command(
        "request.update",
        "Report progress of an agent's request.",
        conversation.RequestUpdate,
        answers.RunNamed,
        run=Needs.NO,
    ),
    _command("request.answer", "Answer a request.", payloads.RequestAnswer, answers.RequestAnswered, run=Needs.NO),
    _command(
        "request.decide", "Make a person's decision.", conversation.RequestDecide, answers.RequestAnswered, run=Needs.NO
    ),
    _told(
        "session.attach",
        "Take a session as its coordinator.",
        conversation.SessionAttach,
        conversation.SessionAttached,
    ),
    _told("session.detach", "Leave a session.", conversation.SessionDetach, conversation.SessionTold),
    _told("session.settled", "Say that the agent rests.", conversation.SessionSettled, conversation.SessionTold),
    _told(
        "session.report",
        "Say what the active branch holds of one message.",
        conversation.SessionReport,
        conversation.SessionTold,
    ),
    _told(
        "turn.report",
        "Say that a turn began or ended, and hear whose it is.",
        conversation.TurnReport,
        conversation.TurnReceipt,
        run=Needs.YES,
    ),
    Operation(
        name="view.get",
        does="The view of one run or one session.",
        payload=payloads.ViewGet,
        answer=views.RunViewed,
        of_session=conversation.SessionViewed,
        run=Needs.MAY,
    ),
    Operation(
        name="view.page",
        does="More of a run's view.",
        payload=payloads.ViewPage,
        answer=views.ViewItems,
        run=Needs.YES,
    ),
    Operation(
        name="view.subscribe",
        does="The view of a run until it has ended, or of a session or all live runs, now and whenever it changes.",
        payload=payloads.ViewSubscribe,
        answer=payloads.Nothing,
        run=Needs.MAY,
        streams=True,
        lane=Lane.QUICK,
    ),
    Operation(
        name="events.read",
        does="Events in order, of one run or all.",
        payload=payloads.EventsRead,
        answer=ledger.EventsPage,
        run=Needs.MAY,
    ),
    Operation(
        name="events.subscribe",
        does="Events after a position, then new ones as they commit.",
        payload=payloads.EventsSubscribe,
        answer=payloads.Nothing,
        run=Needs.MAY,
        streams=True,
        lane=Lane.QUICK,
    ),
    Operation(
        name="content.read",
        does="A part of a private value.",
        payload=payloads.ContentRead,
        answer=answers.ContentPart,
    ),
    Operation(
        name="projection.list",
        does="What can be queried.",
        payload=payloads.Nothing,
        answer=ledger.ProjectionsFound,
    ),
    Operation(
        name="projection.query",
        does="Rows of a projection.",
        payload=payloads.ProjectionQuery,
        answer=ledger.RowsPage,
    ),
    Operation(
        name="projection.verify",
        does="The tables against a replay of the log.",
        payload=payloads.ProjectionNames,
        answer=ledger.ProjectionsVerified,
    ),
    _chore(
        "projection.rebuild", "The tables made anew from the log.", payloads.ProjectionNames, ledger.ProjectionsRebuilt
    ),
    Operation(name="effect.get", does="One side effect.", payload=payloads.EffectGet, answer=answers.EffectFound),
    _command("effect.resolve", "Say what became of an effect.", payloads.EffectResolve, answers.RunNamed, run=Needs.NO),
    Operation(
        name="log.head",
        does="The log's last position and its hash.",
        payload=payloads.Nothing,
        answer=ledger.LogHead,
        lane=Lane.QUICK,
    ),
    _chore(
        "log.redact",
        "Erase the private values of an ended run's tree.",
        payloads.LogRedact,
        ledger.LogRedacted,
        run=Needs.YES,
    ),
    _chore("store.backup", "A verified copy of the store.", payloads.StoreBackup, ledger.StoreBackedUp),
    Operation(
        name="host.status",
        does="How the host stands.",
        payload=payloads.Nothing,
        answer=views.HostStatus,
        lane=Lane.QUICK,
    ),
    Operation(
        name="host.stop",
        does="Drain the host and have it exit.",
        payload=payloads.HostStop,
        answer=views.HostStopping,
        lane=Lane.QUICK,
    ),
)

#: Every operation of this version by its name.
OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType({each.name: each for each in _ALL})
