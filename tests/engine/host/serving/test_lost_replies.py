"""Every word of a conversation, with its reply lost on the way: the adapter repeats it, and it was said once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from runwright import Adopted, Applied
from support.conversing import asks, check_once, rows, submit
from support.relays import Relay, relayed
from support.serving import Served, served
from support.socket_session import SocketSession, speaking
from support.sound import check_sound

T = TypeVar("T")

WORDS = ("attach", "settle", "report", "begin", "update", "submit", "follow up", "end", "detach")
#: What has a receipt says by itself that it was known.
KEYED = ("update", "submit", "follow up")


class Story:
    """A whole conversation; the reply to one word of it is lost, each time that it is said.

    Attributes:
        lost: The word; empty for none.
        known: What the commands answered, by word.
    """

    def __init__(self, host: Served, relay: Relay, pi: SocketSession, lost: str) -> None:
        self.host = host
        self.relay = relay
        self.pi = pi
        self.lost = lost
        self.known: dict[str, Any] = {}

    async def say(self, word: str, saying: Awaitable[T]) -> T:
        """Say a word, and hear its answer, perhaps to the second try."""
        before = self.relay.lost
        self.relay.lose = int(word == self.lost)
        self.known[word] = answer = await saying
        assert self.relay.lost == before + (word == self.lost)
        return answer

    async def step(self, node: str) -> None:
        """Be handed a step, and take a whole turn for it."""
        pi = self.pi
        message = await pi.handed()
        assert message["content"]["value"]["node"] == node
        pi.branch.append(message["message"])
        await self.say("report", pi.report(message["message"], idle=False))
        assert (await self.say("begin", pi.begin(message["message"], message["run_id"])))["ownership"] == "active"
        request: Any = message["content"]["value"]["requestId"]
        facts: Any = {"session": "s1", "epoch": pi.epoch}
        await self.say("update", pi.client.request_update(request, completed=1, total=2, **facts))
        await self.say("follow up", pi.client.run_follow_up(message["run_id"], "And then?", **facts))
        await self.say("submit", submit(pi, message, "fine"))
        assert (await self.say("end", pi.end()))["ownership"] == "settled"
        await self.say("settle", pi.settle())

    async def tell(self, workflow: Any) -> None:
        """All of it."""
        pi = self.pi
        await self.say("attach", pi.attach())
        run_id = await self.host.engine.start(workflow, {}, session="s1")
        await self.say("settle", pi.settle())
        await self.step("first")
        # A person answers the last one: its turn might be lost with the end of its run, or not.
        last = await pi.receive()
        await self.host.engine.submit(last["content"]["value"]["requestId"], "good")
        await self.host.engine.wait(run_id)
        assert set(await self.told()) == {"terminal", "follow_up"}
        await self.say("detach", pi.client.session_detach("s1", pi.epoch))

    async def told(self) -> list[str]:
        """What is told after the end; each is shown, and the one that starts a turn has it."""
        kinds = []
        for _ in range(2):
            message = await self.pi.handed()
            kinds.append(message["kind"])
            self.pi.branch.append(message["message"])
            await self.say("report", self.pi.report(message["message"], idle=not message["starts_turn"]))
            if message["starts_turn"]:
                await self.say("begin", self.pi.begin(message["message"], message["run_id"]))
                await self.say("end", self.pi.end())
                await self.say("settle", self.pi.settle())
        return kinds


async def play(folder: Path, lost: str) -> tuple[Counter[str], Story]:
    """Tell the story in a store of its own; how often the log has each type of event."""
    workflow = asks("first", "second")
    async with (
        served(folder / "home", [workflow]) as host,
        relayed(host, folder / "front") as relay,
        speaking(relay.path.parent, attach=False) as pi,
    ):
        story = Story(host, relay, pi, lost)
        await story.tell(workflow)
        await check_once(host)
        assert {row["state"] for row in await rows(pi, "messages")} == {"sent"}
        assert {row["deliveries"] for row in await rows(pi, "messages")} == {1}
        assert [row["state"] for row in await rows(pi, "turns")] == ["ended"] * 2
        counted = Counter(each.type for each in await host.engine.events())
    check_sound(folder / "home")
    return counted, story


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """What the log holds where nothing is lost."""
    counted, _ = asyncio.run(play(tmp_path_factory.mktemp("undisturbed"), ""))
    return counted


@pytest.mark.parametrize("word", WORDS)
async def test_a_word_whose_reply_was_lost_was_said_once(tmp_path: Path, word: str, undisturbed: Counter[str]) -> None:
    """The log has every fact as often as where nothing is lost; only attaching again is another epoch."""
    counted, story = await play(tmp_path, word)
    assert counted - undisturbed == Counter({"session.attached": 1} if word == "attach" else {})
    assert not undisturbed - counted
    if word in KEYED:
        assert isinstance(story.known[word], Adopted)
    for other in set(KEYED) - {word}:
        assert isinstance(story.known[other], Applied)
