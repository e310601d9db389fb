"""Changes that this process carries out: it takes the store for a moment, and gives it back."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from runwright.cli.agent_specs import build_agents
from runwright.cli.changes import Change, Erased, Outcome, Remade
from runwright.cli.handing import Handed
from runwright.cli.hosted_changes import HostedChanges, change_of
from runwright.cli.hosting import held_elsewhere, host_if_any, when_free
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
P = ParamSpec("P")


@contextmanager
def held_changes(call: Invocation, handed: Handed | None = None) -> Iterator["HeldChanges"]:
    """Take the store where a command needs it; it is given back at the end.

    Args:
        call: The invocation.
        handed: What a host gets that came meanwhile.
    """
    with ExitStack() as stack:
        yield HeldChanges(call, stack, handed)


def _by_whoever_holds(
    method: "Callable[Concatenate[HeldChanges, P], T]",
) -> "Callable[Concatenate[HeldChanges, P], T]":
    """Carry a command out here; where a host took the store a moment before, have that do it.

    Raises:
        Refused: A program that serves nobody holds it.
    """

    @wraps(method)
    def carried(self: "HeldChanges", /, *args: P.args, **kwargs: P.kwargs) -> T:
        from runwright.eventstore.errors import StoreInUse

        if self.host is None:
            try:
                return method(self, *args, **kwargs)
            except StoreInUse as error:
                self.find_host(error.message)
        return cast(T, getattr(self.host, method.__name__)(*args, **kwargs))

    return carried


class HeldChanges:
    """Carries commands out here; as `Changes`.

    Args:
        call: The invocation.
        stack: What is given back at the end.
        handed: What a host gets that came meanwhile.

    Attributes:
        host: The host that came meanwhile, and does it instead.
    """

    def __init__(self, call: Invocation, stack: ExitStack, handed: Handed | None = None) -> None:
        self._call = call
        self._stack = stack
        self._handed = handed
        self.host: HostedChanges | None = None

    @property
    def drives(self) -> bool:
        """As `Changes.drives`."""
        return self.host is not None

    def find_host(self, message: str) -> None:
        """Have a host that lives now carry out what follows.

        Args:
            message: What is said where none does.

        Raises:
            Refused: None does; a program that serves nobody holds the store.
        """
        client = self._stack.enter_context(host_if_any(self._call))
        if client is None:
            raise held_elsewhere(self._call, message)
        self.host = HostedChanges(client, self._handed)

    @_by_whoever_holds
    def pause(self, run_id: str) -> Change:
        """As `Changes.pause`."""
        from runwright.engine.commands.client import PauseRun

        return self._ask(PauseRun(run_id=run_id))

    @_by_whoever_holds
    def cancel(self, run_id: str, *, reason: str) -> Change:
        """As `Changes.cancel`."""
        from runwright.engine.commands.client import CancelRun

        return self._ask(CancelRun(run_id=run_id, reason=reason))

    @_by_whoever_holds
    def restart(self, run_id: str, *, at: str | None, agents: Mapping[str, str]) -> Change:
        """As `Changes.restart`."""
        executors = build_agents(agents, self._call.asking)
        asked = self._engine(lambda engine: engine.queue_restart(run_id, at=at, drive=False), executors)
        return change_of(asked)

    @_by_whoever_holds
    def answer(self, request_id: str, value: Json) -> Change:
        """As `Replies.answer`."""
        return self._answer(request_id, value)

    @_by_whoever_holds
    def submit(self, request_id: str, value: Json) -> Change:
        """As `Replies.submit`: what does not fit is refused, and not recorded, for no worker waits for a verdict."""
        return self._answer(request_id, value)

    @_by_whoever_holds
    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """As `Replies.decide`."""
        return _answered(
            self._engine(lambda engine: engine.decide(request_id, choice, text=text, by=by, digest=digest, drive=False))
        )

    @_by_whoever_holds
    def resolve(self, effect_id: str, outcome: Outcome, *, result: Json, reason: str) -> Change:
        """As `Changes.resolve`."""
        return change_of(self._engine(lambda engine: engine.resolve(effect_id, outcome, result=result, reason=reason)))

    @_by_whoever_holds
    def redact(self, run_id: str, *, reason: str) -> Erased:
        """As `Changes.redact`."""
        from runwright.engine.embedded.redacting import redact_tree

        done = redact_tree(self._holder.log, run_id, reason=reason, by="client:cli", actor="client:cli")
        return Erased(root=done.root, runs=tuple(done.runs), events=done.events, pending=done.pending)

    @_by_whoever_holds
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

    def _answer(self, request_id: str, value: Json) -> Change:
        return _answered(self._engine(lambda engine: engine.answer(request_id, value, drive=False)))

    @cached_property
    def _holder(self) -> "Holder":
        from runwright.engine.embedded.holder import Holder

        unsafe = self._call.flags.unsafe_filesystem
        holder = when_free(self._call, lambda: Holder.open(self._call.home, unsafe_filesystem=unsafe))
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

        return when_free(self._call, lambda: asyncio.run(asked()))


def _answered(found: "Answered") -> Change:
    return Change(result="adopted" if found.adopted else "applied", run_id=found.run_id, revision=found.revision)
