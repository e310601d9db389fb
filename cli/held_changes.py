"""Changes that this process carries out: it takes the store for a moment, and gives it back."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from runwright.cli.agent_specs import build_agents
from runwright.cli.changes import Change, Erased, Outcome, Remade
from runwright.cli.hosted_changes import change_of
from runwright.cli.hosting import held_elsewhere
from runwright.cli.invocation import Invocation, user_folder
from runwright.cli.rendering.counting import counted
from runwright.eventstore.values import Json

if TYPE_CHECKING:
    from runwright.engine.agents.agent import Agent
    from runwright.engine.commands.client import ClientCommand
    from runwright.engine.embedded.answering import Answered
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.engine.embedded.holder import Holder

T = TypeVar("T")


@contextmanager
def held_changes(call: Invocation) -> Iterator["HeldChanges"]:
    """Take the store where a command needs it; it is given back at the end.

    Raises:
        Refused: Another process holds it.
    """
    from runwright.eventstore.errors import StoreInUse

    with ExitStack() as stack:
        try:
            yield HeldChanges(call, stack)
        except StoreInUse as error:
            raise held_elsewhere(call, error.message) from None


class HeldChanges:
    """Carries commands out here; as `Changes`.

    Args:
        call: The invocation.
        stack: What is given back at the end.
    """

    drives = False

    def __init__(self, call: Invocation, stack: ExitStack) -> None:
        self._call = call
        self._stack = stack

    def pause(self, run_id: str) -> Change:
        """As `Changes.pause`."""
        from runwright.engine.commands.client import PauseRun

        return self._ask(PauseRun(run_id=run_id))

    def cancel(self, run_id: str, *, reason: str) -> Change:
        """As `Changes.cancel`."""
        from runwright.engine.commands.client import CancelRun

        return self._ask(CancelRun(run_id=run_id, reason=reason))

    def restart(self, run_id: str, *, at: str | None, agents: Mapping[str, str]) -> Change:
        """As `Changes.restart`."""
        executors = build_agents(agents, self._call.asking)
        asked = self._engine(lambda engine: engine.queue_restart(run_id, at=at, drive=False), executors)
        return change_of(asked)

    def answer(self, request_id: str, value: Json) -> Change:
        """As `Replies.answer`."""
        return _answered(self._engine(lambda engine: engine.answer(request_id, value, drive=False)))

    def submit(self, request_id: str, value: Json) -> Change:
        """As `Replies.submit`: what does not fit is refused, and not recorded, for no worker waits for a verdict."""
        return self.answer(request_id, value)

    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """As `Replies.decide`."""
        return _answered(
            self._engine(lambda engine: engine.decide(request_id, choice, text=text, by=by, digest=digest, drive=False))
        )

    def resolve(self, effect_id: str, outcome: Outcome, *, result: Json, reason: str) -> Change:
        """As `Changes.resolve`."""
        return change_of(self._engine(lambda engine: engine.resolve(effect_id, outcome, result=result, reason=reason)))

    def redact(self, run_id: str, *, reason: str) -> Erased:
        """As `Changes.redact`."""
        from runwright.engine.embedded.redacting import redact_tree

        done = redact_tree(self._holder.log, run_id, reason=reason, by="client:cli", actor="client:cli")
        return Erased(root=done.root, runs=tuple(done.runs), events=done.events, pending=done.pending)

    def rebuild(self, control: Sequence[str], views: Sequence[str]) -> Remade:
        """As `Changes.rebuild`."""
        from runwright.projections.rebuild import rebuild

        position, rows = self._holder.log.head().position, dict[str, int]()
        with counted(self._call.out, "rebuilding") as progress:
            if control:
                done = rebuild(self._holder.log, control, progress=progress)
                position, rows = done.position, dict(done.rows)
            if views:
                self._holder.views.rebuild(*views)
        return Remade(position=position, rows=rows)

    @cached_property
    def _holder(self) -> "Holder":
        from runwright.engine.embedded.holder import Holder

        holder = Holder.open(self._call.home, unsafe_filesystem=self._call.flags.unsafe_filesystem)
        self._stack.callback(holder.close)
        return holder

    def _ask(self, command: "ClientCommand") -> Change:
        from runwright.engine.commands.client import Caller
        from runwright.engine.embedded.calling import accepted

        caller = Caller(client="cli", key=secrets.token_hex(16), actor="client:cli", person=True)
        return change_of(accepted(self._holder.transitions.command(caller, command).result()))

    def _engine(self, ask: "Callable[[AsyncEngine], Awaitable[T]]", agents: "Mapping[str, Agent] | None" = None) -> T:
        """Open the engine for one command that needs a workflow's own code."""
        from runwright.engine.embedded.async_engine import AsyncEngine

        async def asked() -> T:
            opened = AsyncEngine.open(
                self._call.home,
                agents=agents or {},
                client="cli",
                user=user_folder(),
                unsafe_filesystem=self._call.flags.unsafe_filesystem,
            )
            async with opened as engine:
                return await ask(engine)

        return asyncio.run(asked())


def _answered(found: "Answered") -> Change:
    return Change(result="adopted" if found.adopted else "applied", run_id=found.run_id, revision=found.revision)
