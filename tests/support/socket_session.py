"""A scripted agent session that speaks the real protocol over the real socket: a branch, turns, one coordinator."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from runwright.engine.client import AsyncClient
from runwright.engine.protocol.errors import HostUnavailable

#: Seconds after which a test gives up waiting for something that has to come.
PATIENCE = 60.0


class SocketSession:
    """One coordinator of one session; a second one of the same session is a second adapter.

    Attributes:
        client: The connection that it tells by.
        session: The session.
        branch: The message IDs that the active branch holds, in order.
        epoch: The coordinator's.
        turn: The turn that was reported last, with its message and run.
        busy: Whether that goes on.
    """

    def __init__(self, client: AsyncClient, session: str = "s1", *, branch: list[str] | None = None) -> None:
        self.client = client
        self.session = session
        self.branch: list[str] = [] if branch is None else branch
        self.epoch = ""
        self.turn: tuple[str, str, str] | None = None
        self.busy = False
        self._heard: set[str] = set()
        self._turns = itertools.count(1)
        self._views: Any = None

    # --- what its agent does --------------------------------------------------------------------------------------

    def entry_of(self, message: str | None) -> str | None:
        """The entry of the active branch that holds a message; it keeps its name on every branch that has it."""
        return f"entry-{message}" if message in self.branch else None

    def fork(self, *, before: str) -> list[str]:
        """Go back on the branch, and whatever turn went on is over; what was left, to go back to it by `return_to`."""
        at = self.branch.index(before)
        left = list(self.branch)
        del self.branch[at:]
        self.busy = False
        return left

    def return_to(self, branch: list[str]) -> None:
        """Make another branch the active one."""
        self.branch[:] = branch
        self.busy = False

    # --- what it tells --------------------------------------------------------------------------------------------

    async def attach(self, *, rests: bool = False) -> "SocketSession":
        """Attach in a new epoch, and follow the session in it."""
        found = await self.client.session_attach(self.session, agent="scripted", idle=rests, nothing_pending=rests)
        self.epoch = found["epoch"]
        self._heard.clear()
        await self._follow()
        return self

    async def settle(self, *, spoke: bool = False) -> Any:
        """Reach an idle boundary."""
        return await self.client.session_settled(self.session, self.epoch, person_spoke=spoke)

    async def report(self, message: str | None, *, idle: bool | None = None, pending: bool = False) -> Any:
        """Report what the branch holds of a message, and whether the agent rests; by default as it does."""
        if message is not None and message in self.branch:
            self._heard.add(message)
        return await self.client.session_report(
            self.session,
            self.epoch,
            message=message,
            entry=self.entry_of(message),
            idle=not self.busy if idle is None else idle,
            nothing_pending=not pending,
        )

    async def begin(self, message: str, run_id: str, *, turn: str | None = None) -> Any:
        """Report that a turn began for a message; the receipt."""
        turn = turn or f"turn-{self.epoch}-{next(self._turns)}"
        self.turn = (turn, message, run_id)
        receipt = await self.client.turn_begun(self.session, self.epoch, turn=turn, message=message, run_id=run_id)
        self.busy = receipt["ownership"] == "active"
        return receipt

    async def end(self, reason: Any = "completed", **how: Any) -> Any:
        """Report how the turn ended; the receipt."""
        assert self.turn is not None
        turn, message, run_id = self.turn
        self.busy = False
        return await self.client.turn_ended(
            self.session, self.epoch, turn=turn, message=message, run_id=run_id, stop_reason=reason, **how
        )

    # --- what it is shown -----------------------------------------------------------------------------------------

    async def view(self) -> dict[str, Any]:
        """The session as anybody may look at it; this hands nothing out."""
        return dict(await self.client.session_view(self.session))

    async def next(self) -> dict[str, Any]:
        """The next view that the host sends."""
        async with asyncio.timeout(PATIENCE):
            found: dict[str, Any] = await anext(self._views)
        return found

    async def rest(self) -> None:
        """Follow until the host ends it, which raises why."""
        while True:
            await self.next()

    async def handed(self, message: str | None = None) -> dict[str, Any]:
        """Look for whatever the host asks about until it hands a message out; the message as it was handed.

        Where the host is lost meanwhile, the adapter attaches anew, as one has to; a message that turns out to be on
        the branch already is not handed out once more.
        """
        while True:
            try:
                view = await self.next()
            except HostUnavailable:
                await self.attach()
                continue
            current = view["current"]
            if current is None:
                continue
            if current["message"] in self._heard and not current["deliver"]:
                if view["turn"] is None:
                    await self.report(current["message"])
                continue
            if current["deliver"] or current["message"] in self.branch:
                assert message in (None, current["message"]), current
                self._heard.add(current["message"])
                return dict(current)
            await self.report(current["message"])

    async def receive(self, message: str | None = None) -> dict[str, Any]:
        """Be handed a message, show it on the branch, and report it while the agent is busy with it."""
        current = await self.handed(message)
        if current["message"] not in self.branch:
            self.branch.append(current["message"])
        await self.report(current["message"], idle=not current["starts_turn"])
        return current

    async def work(self, reason: Any = "completed", **how: Any) -> dict[str, Any]:
        """Be handed a message, and take one whole turn for it."""
        current = await self.receive()
        receipt = await self.begin(current["message"], current["run_id"])
        assert receipt["ownership"] == "active", receipt
        await self.end(reason, **how)
        return current

    async def close(self) -> None:
        """Stop following."""
        views, self._views = self._views, None
        if views is not None:
            await views.close()

    async def _follow(self) -> None:
        await self.close()
        self._views = aiter(self.client.session_subscribe(self.session, self.epoch))


@asynccontextmanager
async def speaking(
    home: Path, session: str = "s1", *, branch: list[str] | None = None, attach: bool = True
) -> AsyncIterator[SocketSession]:
    """A session whose adapter is connected to a host, and attached."""
    async with await AsyncClient.connect(home, client=f"pi:{session}", start=False) as client:
        found = SocketSession(client, session, branch=branch)
        try:
            yield await found.attach() if attach else found
        finally:
            await found.close()
