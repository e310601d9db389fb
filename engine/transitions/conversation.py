"""Loading what a session's coordinator has to do with, in one transaction; bounded however long its history is."""

from collections.abc import Collection
from typing import Final

from runwright.engine.commands.session import CurrentMessage, SessionView
from runwright.engine.decisions.facts import RunFacts, Step
from runwright.engine.decisions.message import Current, Queue, Waiting, current_message, has_sends_left
from runwright.engine.decisions.turn import saved_turn
from runwright.engine.transitions.chains import last_of_chain
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.presence import Presence
from runwright.projections.control.messages import MESSAGES, MessageRow
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.control.sessions import SESSIONS, SessionRow
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS, TurnRow

#: Messages of each kind that are looked at; those behind them have their turn when these have reached the session.
MOST_WAITING: Final = 32
#: As many where those are all ones that this coordinator is not handed any more, and hears nothing of. Fewer than
#: presence is remembered of, or the oldest would be asked for again and again.
FARTHEST: Final = 512
#: Messages that are counted; who has so many waiting need not know how many more there are.
MOST_COUNTED: Final = 100
_KINDS: Final = ("step", "decision", "notification", "terminal", "launch_failure", "follow_up")


class Conversation:
    """One session as it stands in a transaction.

    Args:
        loader: The facts.
        presence: What coordinators told.
        session: The session.
    """

    def __init__(self, loader: FactsLoader, presence: Presence, session: str) -> None:
        self._loader = loader
        self._rows = loader.rows
        self._presence = presence
        self._session = session

    @property
    def row(self) -> SessionRow | None:
        """The session's row."""
        return self._rows.get(SESSIONS, self._session)

    def open_turn(self) -> TurnRow | None:
        """The open turn of the session."""
        found = self._rows.find(TURNS, session=self._session, state="open")
        return found[0] if found else None

    def holder(self) -> RunFacts | None:
        """The run that holds the session."""
        found = self._rows.find(RESERVATIONS, session=self._session)
        return self._loader.run(found[0].run_id) if found else None

    def message(self, message: str | None) -> MessageRow | None:
        """A message of this session; another session's does not exist for it."""
        row = None if message is None else self._rows.get(MESSAGES, message)
        return row if row is not None and row.session == self._session else None

    def step(self, message: MessageRow) -> Step | None:
        """What a step message asks for."""
        of = self._loader.run(message.run_id) if message.kind == "step" else None
        return None if of is None else self._loader.step(of, self._rows.get(REQUESTS, message.source))

    def cause(self) -> RunRow | None:
        """The run whose message caused the session's open turn."""
        turn = self.open_turn()
        message = None if turn is None else self._rows.get(MESSAGES, turn.message)
        return None if message is None else self._rows.get(RUNS, message.run_id)

    def current(self) -> Current | None:
        """The one message that the present coordinator has to do with."""
        row = self.row
        if row is None or not row.attached or not self._presence.connected(self._session, row.epoch):
            return None
        turn, holder = self.open_turn(), self.holder()
        known = self._presence.known(self._session, row.epoch)
        return current_message(
            Queue(
                session=row,
                open_turn=None if turn is None else self._rows.get(MESSAGES, turn.message),
                waiting=self._waiting(row, known),
                shown=None if holder is None else self._shown(holder),
                cancelled=self._cancelled(holder, row),
                known=known,
            )
        )

    def presenting(self) -> MessageRow | None:
        """The message of an end that the session is answering, or was given to answer."""
        turn = self.open_turn()
        message = None if turn is None else self._rows.get(MESSAGES, turn.message)
        if message is None:
            current = self.current()
            # One that waits to be handed out holds nobody up.
            message = current.message if current is not None and current.message.deliveries else None
        return message if message is not None and message.kind == "terminal" and message.starts_turn else None

    def view(self) -> SessionView:
        """The session as its coordinator sees it."""
        row, turn, holder, current = self.row, self.open_turn(), self.holder(), self.current()
        return SessionView(
            session=self._session,
            epoch=None if row is None or not row.attached else row.epoch,
            run=None if holder is None else holder.run.run_id,
            turn=None if turn is None else saved_turn(turn),
            current=None if current is None else self._described(current),
            pending=self._rows.count(MESSAGES, MOST_COUNTED, session=self._session, state="pending"),
            wake_ups=0 if row is None else row.wake_ups,
        )

    def _waiting(self, session: SessionRow, known: Collection[str]) -> tuple[Waiting, ...]:
        """What has not reached the session: the oldest of each kind, so that none blocks another kind."""
        each_kind = (self._oldest(kind, session, known) for kind in _KINDS)
        found = sorted((row for rows in each_kind for row in rows), key=lambda row: row.order)
        return tuple(each for row in found if (each := self._one(row)) is not None)

    def _oldest(self, kind: str, session: SessionRow, known: Collection[str]) -> list[MessageRow]:
        """The oldest messages of a kind; farther on, where nothing can be done about any of those any more."""
        most = MOST_WAITING
        while True:
            of_kind = {"session": self._session, "state": "pending", "kind": kind}
            found = self._rows.first(MESSAGES, "order", most, **of_kind)
            at_end = len(found) < most or most >= FARTHEST
            if at_end or any(each.message not in known or has_sends_left(each, session) for each in found):
                return found
            most *= 2

    def _one(self, row: MessageRow) -> Waiting | None:
        run = self._rows.get(RUNS, row.run_id)
        if run is None:
            return None
        asks = row.kind in ("step", "decision")
        return Waiting(
            message=row,
            run=run,
            outcome=self._outcome(run) if row.kind == "follow_up" else None,
            request=self._rows.get(REQUESTS, row.source) if asks else None,
            delayed=asks and self._rows.get(TIMERS, run.run_id, "delivery") is not None,
        )

    def _outcome(self, run: RunRow) -> str | None:
        """How a run's chain ended; ``None`` while it lives."""
        last = last_of_chain(self._rows, run)
        return None if last.finished_at is None else last.status

    def _shown(self, holder: RunFacts) -> MessageRow | None:
        """The last message of the open request, where it was sent: it may have left the branch."""
        if holder.run.paused or holder.run.node is None:
            return None
        for request in self._rows.find(REQUESTS, run_id=holder.run.run_id, state="open"):
            row = self.message(request.message)
            if row is not None and row.state == "sent":
                return row
        return None

    def _cancelled(self, holder: RunFacts | None, session: SessionRow) -> tuple[MessageRow, ...]:
        """What this coordinator was handed, may still show, and is to show no more.

        Of the run that holds the session that is looked up; of any other, and of what tells rather than asks, it is
        remembered for as long as this process holds the store.
        """
        handed = (self.message(each) for each in self._presence.in_flight(self._session, session.epoch))
        found = {each.message: each for each in handed if each is not None and each.state == "cancelled"}
        if holder is not None:
            of = {"run_id": holder.run.run_id, "kind": "step", "epoch": session.epoch}
            found |= {each.message: each for each in self._rows.find(MESSAGES, state="cancelled", **of) if each.sends}
        return tuple(sorted(found.values(), key=lambda row: row.order))

    def _described(self, current: Current) -> CurrentMessage:
        row = current.message
        recorded = self._loader.tx.event(row.content)
        body = None if recorded is None else recorded.body
        digest = None if recorded is None else recorded.digest
        return CurrentMessage(
            message=row.message,
            kind=row.kind,
            run=row.run_id,
            state=row.state,
            starts_turn=current.starts_turn,
            deliver=current.deliver,
            position=row.content,
            size=0 if body is None else len(body.encode()),
            digest=None if digest is None else digest.hex(),
        )
