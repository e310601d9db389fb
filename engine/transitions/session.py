"""What coordinators ask: each command one transaction, whatever streams it touches (page 07)."""

from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from runwright.engine.commands.session import (
    AttachSession,
    DeliverMessage,
    Delivery,
    DetachSession,
    MissSession,
    ReportSession,
    ReportTurn,
    ReturnSession,
    SessionCommand,
    SessionReport,
    SessionView,
)
from runwright.engine.decisions.message import absent, present
from runwright.engine.decisions.session import boundary, check_epoch, check_session, person_spoke
from runwright.engine.decisions.turn import TurnFacts, decide_turn, left_alone, lost, unproductive
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.engine.transitions.carry import REFUSALS, carry_out, refused
from runwright.engine.transitions.conversation import Conversation
from runwright.engine.transitions.definitions import Definitions
from runwright.engine.transitions.facts import FactsLoader
from runwright.engine.transitions.presence import Presence
from runwright.engine.transitions.trees import Trees
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.message import MessageDelivered
from runwright.eventstore.events.session import SessionAttached, SessionDetached
from runwright.eventstore.transaction import Tx
from runwright.projections.control.messages import MessageRow
from runwright.projections.control.sessions import SessionRow
from runwright.projections.control.turns import TURNS, TurnRow

Told: TypeAlias = Result[Any]


class SessionUnit:
    """One command of a coordinator as a unit of work; it may be run again from the start.

    Args:
        command: What is asked.
        epoch: A new epoch, for an attach.
        actor: Who is said to cause it.
        definitions: The definitions known.
        trees: The secrets known.
        presence: What coordinators told.
    """

    def __init__(
        self,
        command: SessionCommand,
        *,
        epoch: str,
        actor: str,
        definitions: Definitions,
        trees: Trees,
        presence: Presence,
    ) -> None:
        self._command = command
        self._epoch = epoch
        self._actor = actor
        self._definitions = definitions
        self._trees = trees
        self._presence = presence

    def __call__(self, tx: Tx) -> Told:
        """Check the session and the coordinator, then decide; all of it is one append, or nothing is."""
        command = self._command
        unknown = check_session(command.session)
        if unknown is not None:
            return unknown
        loader = FactsLoader(tx, self._definitions, self._trees)
        at = Conversation(loader, self._presence, command.session)
        try:
            with tx.whole():
                if isinstance(command, AttachSession):
                    return self._attach(tx, at, command)
                row = at.row
                if isinstance(command, DetachSession) and _has_left(row, command):
                    return Adopted(at.view(), tx.version(f"session/{command.session}"))
                if isinstance(command, ReturnSession) and row is not None and _is_missed(row, command):
                    return self._return(tx, at, row)
                fenced = check_epoch(row, command.session, command.epoch)
                if row is None or fenced is not None:
                    return fenced or Conflict("not_found", {"what": "session", "id": command.session})
                self._presence.heard(command.session, command.epoch)
                match command:
                    case DetachSession():
                        return self._detach(tx, at, command)
                    case MissSession():
                        return self._miss(tx, at, command)
                    case ReturnSession():
                        return Adopted(at.view(), tx.version(f"session/{command.session}"))
                    case ReportSession():
                        return self._report(loader, at, row, command)
                    case DeliverMessage():
                        return self._deliver(tx, at, command)
                    case ReportTurn():
                        return self._turn(loader, at, command)
                    case never:
                        assert_never(never)
        except REFUSALS as error:
            return refused(error)

    def _attach(self, tx: Tx, at: Conversation, command: AttachSession) -> Told:
        version = self._append(
            tx, f"session/{command.session}", [SessionAttached(epoch=self._epoch, agent=command.agent)]
        )
        self._presence.gone(command.session)
        self._presence.heard(command.session, self._epoch)
        return Applied(at.view(), version)

    def _detach(self, tx: Tx, at: Conversation, command: DetachSession) -> Told:
        version = self._append(tx, f"session/{command.session}", [SessionDetached(epoch=command.epoch)])
        self._presence.gone(command.session)
        return Applied(at.view(), version)

    def _miss(self, tx: Tx, at: Conversation, command: MissSession) -> Told:
        """Take a coordinator for gone, where a run is shown at work on its word; what it knows is kept for it."""
        turn, stream = at.open_turn(), f"session/{command.session}"
        if turn is None or turn.run_id is None or turn.epoch != command.epoch:
            return Adopted(at.view(), tx.version(stream))
        version = self._append(tx, stream, [SessionDetached(epoch=command.epoch)])
        return Applied(at.view(), version)

    def _return(self, tx: Tx, at: Conversation, row: SessionRow) -> Told:
        """Take the same coordinator back, in its own epoch: nothing that was open in it has ended."""
        back = SessionAttached(epoch=str(row.epoch), agent=str(row.agent))
        version = self._append(tx, f"session/{row.session}", [back])
        self._presence.heard(row.session, back.epoch)
        return Applied(at.view(), version)

    def _deliver(self, tx: Tx, at: Conversation, command: DeliverMessage) -> Told:
        current = at.current()
        if current is None or current.message.message != command.message or not current.deliver:
            other = None if current is None else current.message.message
            return Conflict("revision_changed", {"message": command.message, "current": other})
        row = current.message
        delivered = MessageDelivered(
            message=row.message,
            session=row.session,
            number=row.deliveries + 1,
            epoch=command.epoch,
            starts_turn=current.starts_turn,
            request=row.source if row.kind == "step" else None,
        )
        version = self._append(tx, f"run/{row.run_id}", [delivered])
        self._presence.handed(command.session, command.epoch, row.message)
        handed = Delivery(
            message=row.message, number=delivered.number, starts_turn=delivered.starts_turn, position=row.content
        )
        return Applied(handed, version)

    # --- reports ----------------------------------------------------------------------------------------------

    def _report(self, loader: FactsLoader, at: Conversation, row: SessionRow, command: ReportSession) -> Told:
        """Take evidence in, part by part, each on the facts that the ones before it leave."""
        tx, touched = loader.tx, dict[str, None]()
        message = at.message(command.message)
        turn = at.open_turn()
        if message is not None:
            self._touch(tx, touched, message.run_id, self._evidence(tx, at, message, command))
        if command.rests:
            self._stall(loader, at, message, turn, command, touched)
        spoke = person_spoke(row) if command.person_spoke else []
        if spoke:
            self._append(tx, f"session/{command.session}", spoke)
        if command.rests:
            holder = at.holder()
            if holder is not None:
                self._touch(tx, touched, holder.run.run_id, boundary(holder))
        report = SessionReport(view=at.view(), touched=tuple(touched))
        revision = tx.version(f"session/{command.session}")
        return Applied(report, revision) if touched or spoke else Adopted(report, revision)

    def _evidence(self, tx: Tx, at: Conversation, message: MessageRow, command: ReportSession) -> Sequence[Event]:
        """What the branch says about the message that was looked for."""
        step = at.step(message)
        if command.entry is not None:
            self._presence.present(command.session, command.epoch, message.message)
            return present(message, step, epoch=command.epoch, entry=command.entry, now=tx.now)
        if not command.rests:
            return ()
        # A cancelled step may yet show, and another one is about to take its place; of the rest nothing comes any more.
        may_come = message.state == "pending" or (message.state == "cancelled" and message.kind == "step")
        handed = may_come and message.epoch == command.epoch and message.sends > 0
        self._presence.absent(command.session, command.epoch, message.message, handed=handed)
        return absent(message, step)

    def _stall(
        self,
        loader: FactsLoader,
        at: Conversation,
        named: MessageRow | None,
        turn: TurnRow | None,
        command: ReportSession,
        touched: dict[str, None],
    ) -> None:
        """End the session's open turn, whose end nobody will learn; where its message shows, that was unproductive.

        Whether it still shows is asked, where the report does not say so.
        """
        tx = loader.tx
        if turn is not None and (of := at.message(turn.message)) is not None:
            self._touch(tx, touched, of.run_id, [lost(turn, "stalled")])
            if named is None or named.message != turn.message:
                self._presence.forget(command.session, command.epoch, turn.message)
        if named is None or command.entry is None:
            return
        step = at.step(named)
        if step is None or step.request.message != named.message:
            return
        turns = loader.rows.find(TURNS, message=named.message)
        if left_alone(named, step, turns, at.row, command.epoch):
            self._touch(tx, touched, named.run_id, unproductive(step))

    def _turn(self, loader: FactsLoader, at: Conversation, command: ReportTurn) -> Told:
        rows = loader.rows
        message = at.message(command.message)
        of = None if message is None else loader.run(message.run_id)
        facts = TurnFacts(
            of=of,
            message=message,
            saved=rows.get(TURNS, command.turn),
            of_message=() if message is None else tuple(rows.find(TURNS, message=message.message)),
            of_session=at.open_turn(),
            step=None if message is None else at.step(message),
        )
        decision = decide_turn(facts, command, self._actor)
        if of is None:
            assert isinstance(decision, Adopted | Conflict), "nothing is written about a message that does not exist"
            return decision
        return carry_out(loader.tx, of, decision, actor=self._actor)

    # --- appending --------------------------------------------------------------------------------------------

    def _touch(self, tx: Tx, touched: dict[str, None], run_id: str, events: Sequence[Event]) -> None:
        if events:
            self._append(tx, f"run/{run_id}", events)
            touched[run_id] = None

    def _append(self, tx: Tx, stream: str, events: Sequence[Event]) -> int:
        return tx.append(stream, tx.version(stream), events, actor=self._actor).version


def _has_left(row: SessionRow | None, command: DetachSession) -> bool:
    """Whether a coordinator says once more that it leaves: nobody has attached since it did."""
    return row is not None and not row.attached and row.epoch == command.epoch


def _is_missed(row: SessionRow, command: ReturnSession) -> bool:
    """Whether nobody has attached since that coordinator was taken for gone."""
    return not row.attached and row.epoch == command.epoch


def view_unit(
    session: str, epoch: str | None, definitions: Definitions, trees: Trees, presence: Presence, tx: Tx
) -> SessionView:
    """Answer a session as its coordinator sees it; nothing is written.

    Who asks under an epoch is heard of by that, also where another process held the store when it attached.
    """
    at = Conversation(FactsLoader(tx, definitions, trees), presence, session)
    if epoch is not None and check_epoch(at.row, session, epoch) is None:
        presence.heard(session, epoch)
    return at.view()
