"""An agent that has hooks alone: can a coordinator that lives for a moment at each stop carry its session?"""

from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from runwright import Context, Workflow
from runwright.engine.client import AsyncClient
from support.conversing import check_once
from support.serving import Served, served
from support.sound import check_sound


def says() -> Workflow[Any]:
    """A workflow that takes a visible answer, and then another one."""
    workflow: Workflow[Any] = Workflow("says")

    @workflow.assistant(max_chars=100)
    def first(ctx: Context[Any]) -> str:
        """Ask."""
        return "Say a word."

    @workflow.assistant(max_chars=100)
    def second(ctx: Context[Any]) -> str:
        """Ask on."""
        return "Say another."

    workflow.entry(first)
    workflow.then(first, second)
    return workflow


@define
class Hooked:
    """An agent whose hooks are its coordinator: each begins from nothing, with the transcript to look into.

    Attributes:
        host: The host.
        transcript: The messages that the session was given, and after each what the model said.
        busy_first: Whether an injected message is reported as busy until its turn is.
    """

    host: Served
    busy_first: bool = True
    transcript: list[tuple[str, str]] = field(factory=list)

    async def stop(self) -> dict[str, Any] | None:
        """The agent is about to rest: what is injected, so that it takes another turn; it waits while a run goes on."""
        async with await AsyncClient.connect(self.host.home, client="hook:s1") as client:
            epoch = (await client.session_attach("s1", agent="hooked"))["epoch"]
            await self._tell_of_a_turn(client, epoch)
            await client.session_settled("s1", epoch)
            async with client.session_subscribe("s1", epoch) as views:
                async for view in views:
                    current = view["current"]
                    if current is None and view["run_id"] is None:
                        return None
                    if current is not None and current["deliver"] and current["starts_turn"]:
                        return dict(current)
                    if current is not None and current["deliver"]:
                        self.transcript.append((current["message"], ""))  # shown, and no turn comes of it
                    if current is not None:
                        await self._report(client, epoch, current["message"], rests=True)
        return None

    async def _tell_of_a_turn(self, client: AsyncClient, epoch: str) -> None:
        """The turn that an injected message caused is over; nobody has told of it yet."""
        current = (await client.session_view("s1", epoch))["current"]
        entry = None if current is None else self._entry(current["message"])
        if entry is None:
            return
        message = current["message"]
        await self._report(client, epoch, message, rests=not self.busy_first)
        facts = {"turn": f"turn-{entry}", "message": message, "run_id": current["run_id"]}
        if (await client.turn_begun("s1", epoch, **facts))["ownership"] == "active":
            answer = dict(self.transcript)[message]
            await client.turn_ended("s1", epoch, **facts, stop_reason="completed", entry=f"{entry}-a", text=answer)

    async def _report(self, client: AsyncClient, epoch: str, message: str, *, rests: bool) -> None:
        await client.session_report(
            "s1", epoch, message=message, entry=self._entry(message), idle=rests, nothing_pending=rests
        )

    def _entry(self, message: str) -> str | None:
        return f"entry-{message}" if message in dict(self.transcript) else None


async def play(agent: Hooked, workflow: Workflow[Any], answers: list[str]) -> Any:
    """A run is started in a person's turn; what each stop injects is answered, an empty text being no answer."""
    run_id = await agent.host.engine.start(workflow, {}, session="s1")
    for answer in answers:
        injected = await agent.stop()
        assert injected is not None
        agent.transcript.append((injected["message"], answer))
    assert await agent.stop() is None
    return await agent.host.engine.wait(run_id)


async def test_stops_carry_a_session(tmp_path: Path) -> None:
    """Each stop is a coordinator of its own: it tells of the turn that was, and injects the next message."""
    workflow = says()
    async with served(tmp_path / "home", [workflow]) as host:
        outcome = await play(Hooked(host), workflow, ["one", "two"])
        assert (outcome.status, outcome.output) == ("completed", "two")
        rows = (await host.engine.query("requests")).items
        assert [(row["state"], row["unproductive"], row["messages"]) for row in rows] == [("accepted", 0, 1)] * 2
        assert [row["state"] for row in (await host.engine.query("turns")).items] == ["ended"] * 2
        await check_once(host)
    check_sound(tmp_path / "home")


@pytest.mark.parametrize(("busy_first", "status"), [(True, "completed"), (False, "failed")])
async def test_an_injected_message_is_busy_until_its_turn_is_reported(
    tmp_path: Path, busy_first: bool, status: str
) -> None:
    """Shown to an agent at rest before its turn was told of, it counts as one that nothing comes of: the third ends it.

    So the guide has hooks report it as busy: the answer of the third turn is heard then.
    """
    workflow = says()
    async with served(tmp_path / "home", [workflow]) as host:
        agent = Hooked(host, busy_first=busy_first)
        answers = ["", "", "at last", *(["and two"] if busy_first else [])]
        outcome = await play(agent, workflow, answers)
        assert outcome.status == status
        (first,) = (await host.engine.query("requests", where=["path=first"])).items
        assert (first["state"], first["unproductive"]) == (("accepted", 2) if busy_first else ("closed", 2))
