"""Every decorator and every typed answer of the public surface, used well; nothing here may be an error."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypedDict, assert_type

from attrs import frozen

from runwright import (
    Absent,
    Choice,
    Command,
    Context,
    Decided,
    Json,
    NodeResult,
    Observation,
    Present,
    Question,
    Retry,
    ShellResult,
    Unclear,
    Workflow,
    hours,
    minutes,
    seconds,
)


@frozen
class Task:
    """An input."""

    name: str
    limit: float = 5


@frozen
class Tag:
    """An output."""

    tag: str


class Row(TypedDict):
    """Another output."""

    tag: str


flow = Workflow("flow", input=Task, timeout=lambda ctx: ctx.input.limit, max_steps=10, presentation="Say it.")
bare = Workflow("bare")


def agree(ctx: Context[Task], tags: list[Tag] | None) -> None:
    """Refuse an empty answer."""
    if not tags:
        raise ValueError(ctx.input.name)


@flow.agent(returns=list[Tag] | None, by="reviewer", validate=agree, retry=Retry(attempts=2), label="Tags")
async def tags(ctx: Context[Task]) -> str:
    return ctx.input.name


@flow.agent(schema={"type": "object"})
def described(ctx: Context[Task]) -> str:
    return str(ctx.output(tags))


@flow.agent()
def anything(ctx: Context[Task]) -> str:
    return "?"


@flow.choose(choices=["a", "b"])
def pick(ctx: Context[Task]) -> str:
    return "a or b?"


@flow.assistant
def answer(ctx: Context[Task]) -> str:
    return "Tell."


@flow.assistant(max_chars=100)
def short(ctx: Context[Task]) -> str:
    return "Tell."


@flow.compute(timeout=seconds(5), name="other-name")
async def row(ctx: Context[Task]) -> Row:
    return {"tag": ctx.input.name}


@flow.compute
async def later(ctx: Context[Task]) -> tuple[int, ...]:
    return (1, 2)


def wanted(ctx: Context[Task]) -> Tag:
    """The request."""
    return Tag(ctx.input.name)


async def look(ctx: Context[Task], request: Tag) -> Observation[int]:
    """Observe."""
    if request.tag:
        return Present(3)
    return Absent() if ctx.visit else Unclear("cannot tell")


@flow.action(request=wanted, observe=look, effect="tagging")
def observed(ctx: Context[Task], request: Tag) -> int:
    return len(request.tag)


@flow.action(request=wanted, recovery="idempotent", certain=[ValueError], retry=Retry(3, factor=1.5))
async def asked(ctx: Context[Task], request: Tag) -> str:
    return request.tag


@flow.action
def plain(ctx: Context[Task]) -> None:
    return None


@flow.action(recovery="manual", uncertain=[OSError])
def manual(ctx: Context[Task]) -> Path:
    return ctx.scratch


@flow.shell
def listing(ctx: Context[Task]) -> Command:
    return Command(["ls"], cwd=ctx.cwd, env={"A": "b"})


def lines(result: ShellResult) -> list[str]:
    """Parse."""
    return result.stdout.splitlines()


@flow.shell(recovery="idempotent", parse=lines, timeout=None)
def names(ctx: Context[Task]) -> tuple[str, ...]:
    return ("ls", "-a")


@flow.shell(observe=lambda ctx, command: Present(None), timeout=lambda ctx: minutes(1))
async def shelled(ctx: Context[Task]) -> list[str]:
    return ["true"]


@flow.notify
def tell(ctx: Context[Task]) -> str:
    return "Half way."


@flow.notify(kind="final")
def tell_all(ctx: Context[Task]) -> str:
    return "Done."


@flow.decision(choices=["yes", Choice("no", label="No", text="Why not?")], deadline=hours(1), on_timeout="no")
def approve(ctx: Context[Task]) -> Question:
    return Question("Go on?", facts={"name": ctx.input.name})


@flow.checkpoint(summary="Look at this", returns=Tag, protected=True)
def stop(ctx: Context[Task]) -> Json:
    return None


@flow.wait
def until(ctx: Context[Task]) -> datetime:
    return datetime(2030, 1, 1, tzinfo=UTC)


@flow.wait()
def a_while(ctx: Context[Task]) -> timedelta:
    return minutes(1)


pause = flow.wait("pause", hours(1))
nothing = flow.exit("nothing", plain)


@flow.presentation
def present(ctx: Context[Task], result: Json) -> str | None:
    return None if result is None else f"Tell about {ctx.input.name}"


@bare.compute
def start(ctx: Context[dict[str, Json]]) -> Literal["x", "y"]:
    return "x" if ctx.input.get("x") else "y"


child = bare.include("child", flow, input=lambda ctx: Task(ctx.run_id))
named = bare.include("named", "documentation", input=lambda ctx: {"path": ctx.run_id})


@bare.compute
def end(ctx: Context[dict[str, Json]]) -> int:
    assert_type(ctx.output(child[nothing]), None)
    assert_type(ctx.output(named["ready"]), Json)
    assert_type(ctx.output(start), Literal["x", "y"])
    assert_type(ctx.visits(child) + ctx.steps_left, int)
    ctx.update("files", completed=1, total=3, unit="files", message="reading")
    ctx.log.info("half way")
    return ctx.attempt


def typed(ctx: Context[Task]) -> None:
    """What each output is."""
    assert_type(ctx.output(tags), list[Tag] | None)
    assert_type(ctx.output(described), Json)
    assert_type(ctx.output(anything), Json)
    assert_type(ctx.output(pick), str)
    assert_type(ctx.output(answer) + ctx.output(short), str)
    assert_type(ctx.output(row), Row)
    assert_type(ctx.output(later), tuple[int, ...])
    assert_type(ctx.output(observed), int)
    assert_type(ctx.output(asked), str)
    assert_type(ctx.output(manual, None), Path | None)
    assert_type(ctx.output(listing), ShellResult)
    assert_type(ctx.output(names), list[str])
    assert_type(ctx.output(shelled), ShellResult)
    assert_type(ctx.output(approve), Decided)
    decided = ctx.output(approve)
    assert_type((decided.choice, decided.by, decided.timed_out), tuple[str, str, bool])
    assert_type(decided.text, str | None)
    assert_type(decided.at, datetime)
    assert_type(ctx.output(stop), Tag)
    assert_type(ctx.result(row), NodeResult[Row] | None)
    assert_type(observed(ctx, Tag("t")), int)


flow.entry(tags)
flow.then(tags, described)
flow.switch(pick, {"a": answer, "b": pause}, default=short)
flow.catch(described, plain, on=("failed",))
flow.limit(pick, visits=3, to=plain)
bare.entry(child)
bare.then(child[nothing], named)
bare.switch(named["ready"], {True: start, None: end, 3: child})
