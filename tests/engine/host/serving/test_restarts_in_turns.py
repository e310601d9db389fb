"""What becomes of a session whose run is ended and begun anew while its agent takes a turn for the old one?"""

from pathlib import Path

import pytest

from runwright.engine.errors import ConflictError
from support.conversing import asks, check_once, delivered, rows, submit
from support.serving import served
from support.socket_session import speaking


async def test_a_restart_in_an_open_turn_begins_when_the_agent_rests(tmp_path: Path) -> None:
    """A live run is not restarted; what the model says for the old one is refused, and the new one asks once each."""
    workflow = asks("first", "second")
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        old = await host.engine.start(workflow, {}, session="s1")
        await pi.settle()
        message = await pi.receive()
        await pi.begin(message["message"], old)
        with pytest.raises(ConflictError) as live:
            await pi.client.run_restart(old)
        assert live.value.code == "still_live"
        await pi.client.run_cancel(old)
        new = (await pi.client.run_restart(old)).value
        assert [each["state"] for each in await rows(pi, "turns")] == ["lost"]
        with pytest.raises(ConflictError) as late:
            await submit(pi, message, "fine")
        assert late.value.code == "already_terminal"
        await pi.report(message["message"], idle=False)
        assert not (await rows(pi, "queue", run_id=new))[0]["eligible"], "its agent is at a turn, whoever lost that"
        receipt = await pi.end()
        assert (receipt["ownership"], receipt["turn"]["state"]) == ("settled", "lost")
        await pi.settle()
        heard = []
        while (current := await pi.receive())["message"] != f"terminal:{new}":
            heard.append((current["kind"], current["run_id"]))
            if current["kind"] == "step":
                assert (await pi.begin(current["message"], current["run_id"]))["ownership"] == "active"
                await submit(pi, current, "fine")
                await pi.end()
                await pi.settle()
        assert heard == [("terminal", old), ("step", new), ("step", new)]
        assert (await host.engine.wait(new)).status == "completed"
        handed = await delivered(host)
        assert len(handed) == len(set(handed)) == 5
        await check_once(host)
