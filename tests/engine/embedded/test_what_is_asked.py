"""What a workflow asks is stored, shown and handed out: what cannot be fails its node, and stops no run."""

from pathlib import Path
from typing import Any

import pytest

from runwright import AsyncEngine, Context, Question, Workflow
from runwright.engine.agents.agent import PersonElsewhere
from runwright.engine.errors import AnswerRejected
from runwright.engine.execution.runners.texts import MAX_ASKED
from support.engine_session import attached

#: Half of a character pair, as a file name has that is not UTF-8, and an emoji that somebody cut in two.
HALF = "caf\udce9"
#: What a title, a prompt or a shown value costs beside its characters: two quotes.
FITS = "x" * (MAX_ASKED - 2)
KINDS = ("agent", "assistant", "choose", "checkpoint", "decision", "facts", "notify")


def asking(kind: str, text: str) -> Workflow[Any]:
    """A workflow of one node that asks with a text, where its kind has one."""
    flow: Workflow[Any] = Workflow("asking")

    def ask(ctx: Context[Any]) -> Any:
        match kind:
            case "facts":
                return Question("Go on?", facts={"one": text})
            case _:
                return text

    match kind:
        case "agent":
            node: Any = flow.agent(returns=str, timeout=None)(ask)
        case "assistant":
            node = flow.assistant()(ask)
        case "choose":
            node = flow.choose(choices=["a", "b"])(ask)
        case "checkpoint":
            node = flow.checkpoint(summary="Go on?")(ask)
        case "notify":
            node = flow.notify()(ask)
        case _:
            node = flow.decision(choices=["yes", "no"])(ask)
    flow.entry(node)
    return flow


async def outcome(tmp_path: Path, kind: str, text: str, session: bool) -> str:
    """How its run stands once it has asked: ``waiting``, or the code that its node failed with."""
    agents = {"default": PersonElsewhere()}
    async with AsyncEngine.open(tmp_path / "home", agents=agents) as engine:
        pi = await attached(engine)
        run_id = await engine.start(asking(kind, text), {}, session="s1" if session else None)
        await engine.drive(run_id)
        if session:
            await pi.settle()
        found = await engine.wait(run_id, until="waiting")
        (visit,) = (await engine.query("visits")).items
        return found.status if visit["code"] is None else str(visit["code"])


@pytest.mark.parametrize(
    ("kind", "session"),
    # An assistant is its run's session.
    [(kind, session) for kind in KINDS for session in (False, True) if session or kind != "assistant"],
)
async def test_what_utf8_cannot_carry_fails_its_node(tmp_path: Path, kind: str, session: bool) -> None:
    """It was taken for a worker that breaks down: the run stopped, and no `catch` led on."""
    assert await outcome(tmp_path, kind, HALF, session) == "output_invalid"


@pytest.mark.parametrize("session", [False, True], ids=["person", "session"])
@pytest.mark.parametrize("kind", ["agent", "checkpoint", "facts"])
async def test_what_is_too_large_fails_its_node(tmp_path: Path, kind: str, session: bool) -> None:
    """It was taken for a worker that breaks the rules; what has just room is asked, with all that stands around it."""
    room = 200 if kind == "facts" else 0  # the title, the names and the choices count, too
    assert await outcome(tmp_path, kind, FITS + "x", session) == "payload_too_large"
    assert await outcome(tmp_path / "fits", kind, FITS[room:], session) == "waiting"


async def test_a_refusal_that_utf8_cannot_carry_is_a_refusal(tmp_path: Path) -> None:
    """The reason is told as far as it can be: where a process of its own checks, it was taken for that one's crash."""

    def check(ctx: Context[Any], answer: str) -> None:
        raise ValueError(f"there is no file {HALF}")

    flow: Workflow[Any] = Workflow("refusing")

    @flow.agent(returns=str, validate=check, timeout=None)
    def ask(ctx: Context[Any]) -> str:
        return "Which file?"

    flow.entry(ask)
    async with AsyncEngine.open(tmp_path / "home", agents={"default": PersonElsewhere()}) as engine:
        run_id = await engine.start(flow, {})
        await engine.drive(run_id)
        await engine.wait(run_id, until="waiting")
        (request,) = await engine.requests(run_id)
        with pytest.raises(AnswerRejected) as refused:
            await engine.submit(request.request_id, "one")
    assert refused.value.code == "validation_failed"
    assert "there is no file caf\\udce9" in refused.value.message
