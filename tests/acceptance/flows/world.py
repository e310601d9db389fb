"""Workflows that write a ledger of what really happened, and die where their input says so."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright import Command, Context, Retry, Uncertain, Workflow, seconds


@frozen
class Task:
    """What is to go wrong.

    Attributes:
        die: Entries of the ledger after which the process is killed, each the first time that it is written.
        mode: What the workflow makes of it.
    """

    die: tuple[str, ...] = ()
    mode: str = ""


def note(ctx: Context[Task]) -> None:
    """Write a line into the ledger: it happened, whatever the log says; then die if that was asked for."""
    entry, ledger = f"{ctx.path} {ctx.visit}", ctx.cwd / "ledger"
    with ledger.open("a") as file:
        file.write(f"{entry}\n")
    if entry in ctx.input.die and ledger.read_text().splitlines().count(entry) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


# --- four steps, each with an output ------------------------------------------------------------------------------

four = Workflow("four", input=Task)


@four.compute
def first(ctx: Context[Task]) -> int:
    """One."""
    note(ctx)
    return 1


@four.compute
def second(ctx: Context[Task]) -> int:
    """Two."""
    note(ctx)
    return ctx.output(first) + 1


@four.compute
def third(ctx: Context[Task]) -> int:
    """Three."""
    note(ctx)
    return ctx.output(second) + 1


@four.compute
def fourth(ctx: Context[Task]) -> list[int]:
    """All of them."""
    note(ctx)
    return [ctx.output(first), ctx.output(second), ctx.output(third)]


four.entry(first)
four.then(first, second)
four.then(second, third)
four.then(third, fourth)

# --- three rounds of two effects, one of them with a declared retry -------------------------------------------------

rounds = Workflow("rounds", input=Task)


@rounds.action(recovery="idempotent", request=lambda ctx: "the same every time")
def notify(ctx: Context[Task], request: str) -> int:
    """An effect whose request does not change from round to round."""
    note(ctx)
    return ctx.visit


@rounds.action(recovery="idempotent", retry=Retry(attempts=2, first=seconds(0)))
def poll(ctx: Context[Task]) -> int:
    """An effect that needs a second try in its first round."""
    note(ctx)
    if ctx.visit == 1 and ctx.attempt == 1:
        raise RuntimeError("not yet")
    return ctx.visit


@rounds.compute
def counted(ctx: Context[Task]) -> list[int]:
    """What the last round answered."""
    return [ctx.output(notify), ctx.output(poll)]


rounds.entry(notify)
rounds.then(notify, poll)
rounds.switch(poll, {3: counted}, default=notify)

# --- one child mounted twice, and around it a loop of three rounds ----------------------------------------------------

twin = Workflow("twin", input=Task)


@twin.action(recovery="idempotent", request=lambda ctx: "the same every time")
def x(ctx: Context[Task], request: str) -> str:
    """One action for both mounts, whose request never changes."""
    note(ctx)
    return f"{ctx.path} {ctx.visit}"


twin.entry(x)
told = twin.exit("told", x)

twins = Workflow("twins", input=Task)
a = twins.include("a", twin, input=lambda ctx: ctx.input)
b = twins.include("b", twin, input=lambda ctx: ctx.input)


@twins.compute
def round_over(ctx: Context[Task]) -> bool:
    """Whether three rounds are over."""
    return ctx.visits(b) == 3


@twins.compute
def both(ctx: Context[Task]) -> list[str]:
    """What the last round came to."""
    return [ctx.output(a[told]), ctx.output(b[told])]


twins.entry(a)
twins.then(a[told], b)
twins.then(b[told], round_over)
twins.switch(round_over, {True: both, False: a})

# --- one effect of each contract -------------------------------------------------------------------------------------

contracts = Workflow("contracts", input=Task)


@contracts.compute
def choose(ctx: Context[Task]) -> str:
    """Which one."""
    note(ctx)
    return ctx.input.mode


@contracts.action(recovery="idempotent")
def repeatable(ctx: Context[Task]) -> str:
    """May be done again."""
    note(ctx)
    return "done"


@contracts.action(recovery="manual")
def careful(ctx: Context[Task]) -> str:
    """Must not be done again by itself."""
    note(ctx)
    return "done"


@contracts.action(recovery="manual")
def failing(ctx: Context[Task]) -> str:
    """Fails in a way that everybody understands."""
    note(ctx)
    raise ValueError("no such account")


@contracts.action(recovery="manual")
def doubtful(ctx: Context[Task]) -> str:
    """Nobody can say whether it happened."""
    note(ctx)
    raise Uncertain("the line went dead")


contracts.entry(choose)
contracts.switch(choose, {"repeatable": repeatable, "careful": careful, "failing": failing}, default=doubtful)

# --- nodes that kill their worker ------------------------------------------------------------------------------------

deadly = Workflow("deadly", input=Task)


@deadly.compute
def fatal(ctx: Context[Task]) -> int:
    """Never saves anything."""
    note(ctx)
    if ctx.input.mode != "harmless" and not (ctx.cwd / "antidote").exists():
        os._exit(9)
    return 1


deadly.entry(fatal)

# --- a command whose environment changes -----------------------------------------------------------------------------

changing = Workflow("changing", input=Task)


@changing.shell(recovery="idempotent")
def send(ctx: Context[Task]) -> Command:
    """Send what stands in a file; the variable is worked out again after a crash."""
    script = 'echo "send 1" >> ledger; [ -e sent ] || { touch sent; kill -9 "$PPID"; sleep 60; }'
    return Command(["/bin/sh", "-c", script], env={"TOKEN": Path(ctx.cwd / "token").read_text()})


changing.entry(send)

# --- what cannot be stored -------------------------------------------------------------------------------------------


class Stubborn(Exception):
    """An exception that needs two arguments and holds what cannot be stored."""

    def __init__(self, what: str, lock: Any) -> None:
        super().__init__(f"cannot {what}")
        self.lock = lock


class Mute(Exception):
    """An exception that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


odd = Workflow("odd", input=Task)


@odd.compute
def give(ctx: Context[Task]) -> Any:
    """Return or raise what the mode says."""
    note(ctx)
    values: dict[str, Any] = {
        "nan": {"a": [1, {"b": float("nan")}]},
        "inf": {"a": [1, {"b": float("inf")}]},
        "-inf": {"a": [1, {"b": float("-inf")}]},
        "lock": {"held": threading.Lock()},
        "generator": (each for each in range(3)),
        "set": {1, 2},
        "bytes": b"raw",
        "large": "x" * (16 * 1024 * 1024),
        "deep": deep(300),
        "surrogate": "half \ud800",
        "keys": {1: "one"},
    }
    if ctx.input.mode == "stubborn":
        raise Stubborn("be stored", threading.Lock())
    if ctx.input.mode == "mute":
        raise Mute
    return values[ctx.input.mode]


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


odd.entry(give)
