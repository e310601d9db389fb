"""What becomes of a message whose run loses its private values before the session has it?"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runwright import Context, Workflow
from support.command_processes import LIMIT
from support.conversing import asks, rows
from support.serving import served
from support.socket_session import speaking
from support.sound import check_sound

PRIVATE = "xyzzy-private"


def tells() -> Workflow[Any]:
    """A workflow whose end is told in a turn."""
    flow: Workflow[Any] = Workflow("tells", presentation=f"Say {PRIVATE} aloud.")

    @flow.compute
    def work(ctx: Context[Any]) -> str:
        return PRIVATE

    flow.entry(work)
    return flow


@pytest.mark.parametrize("handed", [False, True], ids=["waiting", "handed out"])
async def test_an_erased_end_is_told_to_nobody(tmp_path: Path, handed: bool) -> None:
    """It was handed out empty, and started a turn about nothing; now it is cancelled, and the session is free."""
    flow = tells()
    async with served(tmp_path / "home", [flow]) as host, speaking(host.home) as pi:
        run_id = await host.engine.start(flow, {}, session="s1")
        await pi.settle()
        await host.engine.wait(run_id)
        async with asyncio.timeout(LIMIT):
            while (await pi.client.run_status(run_id))["presentation"]["state"] != "prepared":
                await asyncio.sleep(0.01)
        if handed:
            assert (await pi.handed())["message"] == f"terminal:{run_id}"
        await pi.client.log_redact(run_id, reason="asked for")
        (message,) = await rows(pi, "messages")
        assert (message["kind"], message["state"]) == ("terminal", "cancelled")
        assert (await pi.client.run_status(run_id))["presentation"]["state"] == "abandoned"
        if handed:
            # Its adapter may keep it until the agent rests: it is told to drop it, and that it has is believed at once.
            while (view := await pi.next())["current"]["state"] != "cancelled":
                pass
            assert (view["current"]["message"], view["current"]["deliver"]) == (message["message"], False)
            await pi.report(message["message"])
        assert (await pi.view())["current"] is None
        # The agent may have shown it already: that is so whatever was believed, and changes no end.
        pi.branch.append(message["message"])
        await pi.report(message["message"])
        (message,) = await rows(pi, "messages")
        assert message["state"] == "sent"
        assert (await pi.client.run_status(run_id))["presentation"]["state"] == "abandoned"
    check_sound(tmp_path / "home")


async def test_a_redaction_twice_says_nothing_twice(tmp_path: Path) -> None:
    """What was cancelled is cancelled; a run that had nothing more to say gets no event."""
    flow = asks("first")
    async with served(tmp_path / "home", [flow]) as host, speaking(host.home) as pi:
        run_id = await host.engine.start(flow, {}, session="s1")
        await pi.client.run_cancel(run_id)  # before it began: there is nothing to tell
        before = (await pi.client.run_status(run_id))["revision"]
        for _ in range(2):
            await pi.client.log_redact(run_id, reason="asked for")
        assert (await pi.client.run_status(run_id))["revision"] == before
    check_sound(tmp_path / "home")
