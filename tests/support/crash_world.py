"""A program that drives a run and dies where it is told to, and the ledger that counts what really happened."""

import json
import multiprocessing
import os
import signal
from collections import Counter
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Literal

from runwright import Absent, Context, Engine, JsonObject, Observation, Present, Workflow, seconds
from runwright.eventstore.writer import Writer

When = Literal["before", "after"]

#: The key that every start of a scenario uses, so that a repeat adopts the first.
KEY = "scenario"

#: The environment variable that names the ledger's file.
LEDGER = "RUNWRIGHT_TEST_LEDGER"


def note(what: str) -> None:
    """Write a line into the ledger: it happened, whatever the log says."""
    descriptor = os.open(os.environ[LEDGER], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{what}\n".encode())
    finally:
        os.close(descriptor)


def lines(ledger: Path) -> Counter[str]:
    """How often each thing happened."""
    return Counter(ledger.read_text().splitlines()) if ledger.exists() else Counter()


# --- what may be repeated or looked up: it always completes by itself ---------------------------------------------

safe = Workflow("safe", input=JsonObject)


@safe.compute
def plan(ctx: Context[JsonObject]) -> int:
    """A pure step, visited twice."""
    note(f"plan {ctx.visit}")
    return ctx.visit


@safe.action(recovery="idempotent")
def put(ctx: Context[JsonObject]) -> str:
    """An effect that may be applied again."""
    note(f"put {ctx.visit}")
    return f"put {ctx.visit}"


@safe.shell(recovery="idempotent")
def touch(ctx: Context[JsonObject]) -> list[str]:
    """A program that may be run again."""
    return ["/bin/sh", "-c", f'echo "touch {ctx.visit}" >> "${LEDGER}"']


def seen(ctx: Context[JsonObject], request: int) -> Observation[str]:
    """Look into the ledger whether the post went out."""
    return Present(f"post {request}") if lines(Path(os.environ[LEDGER]))[f"post {request}"] else Absent()


@safe.action(request=lambda ctx: ctx.visit, observe=seen)
def post(ctx: Context[JsonObject], request: int) -> str:
    """An effect that can be looked up, and so is never repeated."""
    note(f"post {request}")
    return f"post {request}"


pause = safe.wait("pause", seconds(0.01))


@safe.compute
def result(ctx: Context[JsonObject]) -> list[str]:
    """What the run comes to."""
    note("result 1")
    return [ctx.output(put), ctx.output(post)]


safe.entry(plan)
safe.then(plan, put)
safe.then(put, touch)
safe.then(touch, post)
safe.switch(post, {"post 1": pause}, default=result)
safe.then(pause, plan)

# --- what only a person can settle --------------------------------------------------------------------------------

careful = Workflow("careful", input=JsonObject)


@careful.compute
def before(ctx: Context[JsonObject]) -> int:
    """A pure step."""
    note("before 1")
    return 1


@careful.action(recovery="manual")
def send(ctx: Context[JsonObject]) -> str:
    """An effect that must not happen twice, and that nobody can look up."""
    note("send 1")
    return "sent"


@careful.compute
def after(ctx: Context[JsonObject]) -> str:
    """What comes of it."""
    note("after 1")
    return ctx.output(send)


careful.entry(before)
careful.then(before, send)
careful.then(send, after)

# --- mounts: one child twice, in a loop, and a bad end that is caught at one ------------------------------------------

leaf = Workflow("leaf", input=JsonObject)


@leaf.action(recovery="idempotent")
def place(ctx: Context[JsonObject]) -> str:
    """An effect whose identity is its full path."""
    note(f"{ctx.path} {ctx.visit}")
    return f"{ctx.input['round']} {ctx.visit}"


@leaf.action(request=lambda ctx: f"post {ctx.path} {ctx.visit}", observe=lambda ctx, request: found(request))
def confirm(ctx: Context[JsonObject], request: str) -> str:
    """An effect that can be looked up, and that fails where the input says so."""
    if ctx.input["round"] == 3:
        raise ValueError("the third round is too much")
    note(request)
    return request


def found(request: str) -> Observation[str]:
    """Look into the ledger whether it went out."""
    return Present(request) if lines(Path(os.environ[LEDGER]))[request] else Absent()


leaf.entry(place)
leaf.then(place, confirm)
done = leaf.exit("done", confirm)

pair = Workflow("pair", input=JsonObject, max_steps=6)
left = pair.include("left", leaf, input=lambda ctx: ctx.input)
right = pair.include("right", leaf, input=lambda ctx: {**ctx.input, "left": ctx.output(left[done])})


@pair.compute
def joined(ctx: Context[JsonObject]) -> list[str]:
    """What both came to."""
    note(f"{ctx.path} {ctx.visit}")
    return [ctx.output(left[done]), ctx.output(right[done])]


pair.entry(left)
pair.then(left[done], right)
pair.then(right[done], joined)
both = pair.exit("both", joined)

mounted = Workflow("mounted", input=JsonObject)


@mounted.compute
def step(ctx: Context[JsonObject]) -> int:
    """Counts the rounds."""
    note(f"step {ctx.visit}")
    return ctx.visits(step)


twice = mounted.include("twice", pair, input=lambda ctx: {"round": ctx.output(step)})


@mounted.compute
def caught(ctx: Context[JsonObject]) -> list[object]:
    """The third round fails inside the first leaf, and is caught out here."""
    note("caught 1")
    failed = ctx.result(twice[both])
    assert failed is not None
    assert failed.error is not None
    return [failed.error.code, ctx.visits(twice), ctx.output(step)]


mounted.entry(step)
mounted.then(step, twice)
mounted.then(twice[both], step)
mounted.catch(twice, caught)

FLOWS = {flow.name: flow for flow in (safe, careful, mounted)}

# --- the program ---------------------------------------------------------------------------------------------------


def program(home: str, flow: str, ledger: str, crash: tuple[int, When] | None, count: str | None) -> None:
    """Open the store, start the scenario's run or go on with it, and die at the given commit."""
    os.environ[LEDGER] = ledger
    commits = _watch_commits(crash)
    with Engine.open(home, workflows=list(FLOWS.values())) as engine:
        run_id = engine.start(FLOWS[flow], {}, key=KEY)
        engine.wait(run_id, until="waiting")
    if count is not None:
        Path(count).write_text(json.dumps(commits[0]))


def _watch_commits(crash: tuple[int, When] | None) -> list[int]:
    """Count the writer's commits, and kill this process at one of them."""
    commits = [0]
    execute = Writer._execute

    def watched(self: Writer, text: str) -> list[tuple[object, ...]]:
        if text != "COMMIT":
            return execute(self, text)
        commits[0] += 1
        if crash == (commits[0], "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        answer = execute(self, text)
        if crash == (commits[0], "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Writer._execute = watched  # type: ignore[method-assign]  # in a process that exists for this
    return commits


#: How many runs `start_and_tell` starts.
RUNS = 20


def start_and_tell(home: str, caller: Connection) -> None:
    """Start runs and tell each ID as soon as it is known, then die with the last one still on its lips."""
    with Engine.open(home) as engine:
        for number in range(RUNS):
            caller.send(engine.start(safe, {}, key=f"{KEY}-{number}", drive=False))
        os.kill(os.getpid(), signal.SIGKILL)


_context = multiprocessing.get_context("forkserver")
# What an installed package can import; this module itself is on no path that the fork server knows.
_context.set_forkserver_preload(["runwright.engine.embedded.engine"])


def start_program(
    home: Path, flow: str, ledger: Path, crash: tuple[int, When] | None = None, count: Path | None = None
) -> ForkServerProcess:
    """Start the program in a process of its own, forked from one that has imported everything and opened nothing."""
    arguments = (str(home), flow, str(ledger), crash, None if count is None else str(count))
    process = _context.Process(target=program, args=arguments)
    process.start()
    return process


def run_program(
    home: Path, flow: str, ledger: Path, crash: tuple[int, When] | None = None, count: Path | None = None
) -> int:
    """Run the program to its end, and answer how it ended: 0, or minus the signal."""
    process = start_program(home, flow, ledger, crash, count)
    process.join(60)
    code = process.exitcode
    process.close()
    assert code is not None
    return code
