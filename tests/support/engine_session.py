"""A scripted session whose coordinator speaks to an asynchronous engine."""

from typing import Any

from runwright import AsyncEngine
from runwright.engine.commands.session import (
    AttachSession,
    DeliverMessage,
    ReportSession,
    ReportTurn,
    SessionView,
    TurnEnd,
)


class EngineSession:
    """One coordinator.

    Attributes:
        branch: The message IDs that the active branch holds, in order.
    """

    def __init__(self, engine: AsyncEngine, session: str = "s1", *, branch: list[str] | None = None) -> None:
        self.engine = engine
        self.session = session
        self.branch: list[str] = [] if branch is None else branch
        self.epoch = ""

    async def attach(self) -> "EngineSession":
        """Attach in a new epoch."""
        result = await self.engine.tell_session(AttachSession(session=self.session, agent="pi"))
        self.epoch = result.value.epoch or ""
        return self

    async def view(self) -> SessionView:
        """The session as the engine shows it."""
        return await self.engine.session_view(self.session)

    async def report(self, message: str | None = None, *, idle: bool = True, pending: bool = False) -> Any:
        """Report what the branch holds of a message, and whether the agent rests."""
        entry = f"entry-{self.branch.index(message)}" if message in self.branch else None
        return await self.engine.tell_session(
            ReportSession(
                session=self.session,
                epoch=self.epoch,
                message=message,
                entry=entry,
                idle=idle,
                nothing_pending=not pending,
            )
        )

    async def settle(self) -> Any:
        """Reach an idle boundary."""
        return await self.report()

    async def receive(self) -> str | None:
        """Be handed the current message, and show it; ``None`` where there is none to be handed out."""
        current = (await self.view()).current
        if current is not None and not current.deliver:
            await self.report(current.message)
            current = (await self.view()).current
        if current is None or not current.deliver:
            return None
        deliver = DeliverMessage(session=self.session, epoch=self.epoch, message=current.message)
        handed = await self.engine.tell_session(deliver)
        self.branch.append(current.message)
        await self.report(current.message, idle=not handed.value.starts_turn)
        return current.message

    async def turn(self, turn: str, message: str, run: str, ended: TurnEnd | None = None) -> Any:
        """Report a turn's start, or its end; answer the receipt."""
        command = ReportTurn(session=self.session, epoch=self.epoch, turn=turn, message=message, run=run, ended=ended)
        return (await self.engine.tell_session(command)).value


async def attached(engine: AsyncEngine, session: str = "s1") -> EngineSession:
    """A session that has just attached."""
    return await EngineSession(engine, session).attach()
