"""A scripted agent session: a branch of entries, busy or at rest, and what its coordinator reports of it."""

import itertools
from typing import Any

from runwright.engine.commands.session import (
    AttachSession,
    CurrentMessage,
    DeliverMessage,
    Delivery,
    DetachSession,
    QueueFollowUp,
    ReportSession,
    ReportTurn,
    SessionReport,
    SessionView,
    TurnEnd,
    TurnReceipt,
)
from runwright.engine.results import Adopted, Applied, Result
from support.stage import Stage, settled


class ScriptedSession:
    """One coordinator of one session, over a stage.

    Attributes:
        branch: The message IDs that the active branch holds, in order.
        turns: Turns that deliveries have started.
    """

    def __init__(self, scene: Stage, session: str = "s1", *, branch: list[str] | None = None) -> None:
        self.scene = scene
        self.session = session
        self.branch: list[str] = [] if branch is None else branch
        self.turns: list[str] = []
        self._numbers = itertools.count(1)
        self.epoch = ""
        self.attach()

    def tell(self, command: Any) -> Result[Any]:
        """Hand in a command."""
        return settled(self.scene.transitions.session(command))

    def attach(self) -> SessionView:
        """Attach in a new epoch."""
        result = self.tell(AttachSession(session=self.session, agent="pi"))
        assert isinstance(result, Applied), result
        view: SessionView = result.value
        self.epoch = view.epoch or ""
        return view

    def detach(self) -> Result[Any]:
        """Leave."""
        return self.tell(DetachSession(session=self.session, epoch=self.epoch))

    def view(self) -> SessionView:
        """The session as the host shows it."""
        return settled(self.scene.transitions.view(self.session))

    @property
    def current(self) -> CurrentMessage | None:
        """The current message."""
        return self.view().current

    def report(
        self, message: str | None = None, *, idle: bool = True, pending: bool = False, spoke: bool = False
    ) -> Result[Any]:
        """Report what the branch holds of one message."""
        entry = f"entry-{self.branch.index(message)}" if message in self.branch else None
        return self.tell(
            ReportSession(
                session=self.session,
                epoch=self.epoch,
                message=message,
                entry=entry,
                idle=idle,
                nothing_pending=not pending,
                person_spoke=spoke,
            )
        )

    def settle(self) -> SessionReport:
        """Say that the agent rests; nothing about any message."""
        result = self.report()
        assert isinstance(result, Applied | Adopted), result
        report: SessionReport = result.value
        return report

    def deliver(self, message: str) -> Result[Any]:
        """Ask for a message to be handed out."""
        return self.tell(DeliverMessage(session=self.session, epoch=self.epoch, message=message))

    def take(self, message: str | None = None) -> Delivery:
        """Look for the current message, find it absent, and be handed it."""
        current = self.current
        assert current is not None
        assert message in (None, current.message), current
        if not current.deliver:
            self.report(current.message)
        result = self.deliver(current.message)
        assert isinstance(result, Applied), result
        handed: Delivery = result.value
        return handed

    def receive(self, message: str | None = None) -> Delivery:
        """Be handed the current message, show it, and report it while the agent is busy with it."""
        handed = self.take(message)
        self.branch.append(handed.message)
        self.report(handed.message, idle=not handed.starts_turn)
        return handed

    def begin(self, message: str, *, run: str = "run-1", turn: str | None = None) -> Result[Any]:
        """Report a turn's start."""
        turn = f"turn-{self.session}-{next(self._numbers)}" if turn is None else turn
        self.turns.append(turn)
        return self.tell(ReportTurn(session=self.session, epoch=self.epoch, turn=turn, message=message, run=run))

    def end(
        self, message: str, reason: Any = "completed", *, run: str = "run-1", turn: str | None = None, **how: Any
    ) -> Result[Any]:
        """Report a turn's end."""
        return self.tell(
            ReportTurn(
                session=self.session,
                epoch=self.epoch,
                turn=turn or self.turns[-1],
                message=message,
                run=run,
                ended=TurnEnd(stop_reason=reason, **how),
            )
        )

    def follow_up(self, run: str, text: str, *, key: str | None = None) -> Result[Any]:
        """Leave a text for the end of a run."""
        return self.scene.ask(QueueFollowUp(run_id=run, session=self.session, epoch=self.epoch, text=text), key=key)

    def work(self, reason: Any = "completed", *, run: str = "run-1") -> str:
        """Be handed the current message, and take one whole turn for it."""
        message = self.receive().message
        assert owned(self.begin(message, run=run)) == "active"
        self.end(message, reason, run=run)
        return message


def owned(result: Result[Any]) -> str:
    """Whose turn it is, as a receipt says."""
    assert isinstance(result, Applied | Adopted), result
    receipt: TurnReceipt = result.value
    return receipt.ownership
