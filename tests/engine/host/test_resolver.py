"""Questions about code: each in a child of its own, within its time, and a child that fails harms nobody."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runwright.engine.embedded.code import Wanted
from runwright.engine.embedded.launcher import Provisions
from runwright.engine.embedded.remote_code import NoAnswer
from runwright.engine.errors import ActivationFailed
from runwright.engine.host import resolver
from runwright.engine.host.limits import MOST_RESOLVERS, RESOLVERS
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.host.resolver import Resolvers
from runwright.engine.host.unusable import NoProcess
from runwright.engine.wire.errors import FrameRefused
from runwright.engine.worker.messages import Ask, Resolved, Unresolved
from support.scripted_workers import ScriptedChild

WANTED = Wanted(reference="flow.py", project=Path("/project"), cwd=Path("/here"), run_id="run", pass_env=("TOKEN",))


class Children:
    """Children that follow one script, counted."""

    def __init__(self, script: Callable[[ScriptedChild], Awaitable[object]] | None) -> None:
        self.script = script
        self.started: list[ScriptedChild] = []

    async def spawn(self, interpreter: str | None) -> ScriptedChild:
        """Answer the next one."""
        del interpreter
        if self.script is None:
            raise NoProcess
        child = ScriptedChild(len(self.started) + 1)
        self.started.append(child)
        self.playing = asyncio.ensure_future(self.script(child))
        return child


async def answers(child: ScriptedChild) -> None:
    """Answer with what was asked and what came with it."""
    ask = await child.told.get()
    assert isinstance(ask, Ask)
    child.say(Resolved(answer={"asked": ask.question, "cwd": str(ask.cwd), "names": ",".join(ask.environment)}))


async def vanishes(child: ScriptedChild) -> None:
    """Exit without an answer."""
    child.exit(3)


async def hangs(child: ScriptedChild) -> None:
    """Say nothing."""
    await child.gone.wait()


async def stammers(child: ScriptedChild) -> None:
    """Say what is no message."""
    child.say(FrameRefused("is no JSON"))


async def gives_up(child: ScriptedChild) -> None:
    """Say that there is no answer."""
    child.say(Unresolved(problem="it raised KeyError"))


async def test_a_question_goes_with_what_the_run_was_given() -> None:
    """And its child is ended after the answer."""
    children = Children(answers)
    provisioning = Provisioning(lambda _: {}, {})
    provisioning.keep("run", Provisions(env={"TOKEN": "secret"}))
    resolvers = Resolvers(children, provisioning, user=None)
    answer = await resolvers.carry(WANTED, {"question": 1})
    assert answer == {"asked": {"question": 1}, "cwd": "/here", "names": "TOKEN"}
    await resolvers.close()
    assert [child.ends for child in children.started] == [1]


@pytest.mark.parametrize("script", [vanishes, hangs, stammers, gives_up, None])
async def test_a_child_without_an_answer_refuses_the_question_by_name(
    script: Callable[[ScriptedChild], Awaitable[object]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it does; and places are given back, also after more questions than there are."""
    monkeypatch.setattr(resolver, "RESOLVE", 0.02)
    children = Children(script)
    resolvers = Resolvers(children, Provisioning(lambda _: {}, {}), user=None)
    for _ in range(RESOLVERS + 1):
        with pytest.raises((NoAnswer, ActivationFailed)):
            await resolvers.carry(WANTED, {})
    await resolvers.close()
    assert all(child.ends == 1 for child in children.started)


async def test_only_a_few_questions_are_asked_at_once() -> None:
    """More wait in line; one that is given up gives its place back."""
    children = Children(hangs)
    resolvers = Resolvers(children, Provisioning(lambda _: {}, {}), user=None)
    asking = [asyncio.ensure_future(resolvers.carry(WANTED, {})) for _ in range(RESOLVERS + 2)]
    while len(children.started) < RESOLVERS:
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(children.started) == RESOLVERS
    for each in asking[:2]:
        each.cancel()
    while len(children.started) < RESOLVERS + 2:
        await asyncio.sleep(0)
    for each in asking:
        each.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    await resolvers.close()


async def test_a_slow_question_gives_its_place_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that never end hold up nobody's start, up to as many as there may be of them."""
    monkeypatch.setattr(resolver, "QUICK", 0.01)
    children = Children(hangs)
    resolvers = Resolvers(children, Provisioning(lambda _: {}, {}), user=None)
    asking = [asyncio.ensure_future(resolvers.carry(WANTED, {})) for _ in range(MOST_RESOLVERS - 1)]
    while len(children.started) < MOST_RESOLVERS - 1:
        await asyncio.sleep(0.001)
    children.script = answers
    assert await resolvers.carry(WANTED, {"question": 2})
    children.script = hangs
    asking += [asyncio.ensure_future(resolvers.carry(WANTED, {})) for _ in range(3)]
    while len(children.started) < MOST_RESOLVERS + 1:  # once the child that has answered is put away
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.05)
    assert len(children.started) == MOST_RESOLVERS + 1
    for each in asking:
        each.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    await resolvers.close()
