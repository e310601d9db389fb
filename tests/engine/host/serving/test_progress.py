"""Are clients that report too much progress told so over the socket, and nobody else?"""

from pathlib import Path

import pytest

from runwright import ConflictError
from runwright.engine.client import AsyncClient
from runwright.engine.progress import BURST
from support.conversing import asks
from support.serving import served
from support.socket_session import speaking
from support.stage import TestClock


async def test_too_much_progress_is_refused_and_not_kept(tmp_path: Path) -> None:
    """Whichever connection it comes by; once there is room again, the same key is heard."""
    workflow, clock = asks("first"), TestClock()
    async with (
        served(tmp_path / "home", [workflow], clock=clock) as host,
        speaking(host.home) as pi,
        await AsyncClient.connect(host.home, client="cli") as person,
    ):
        run_id = await host.engine.start(workflow, {}, session="s1")
        await pi.settle()
        request = (await pi.receive())["content"]["value"]["requestId"]
        for number in range(BURST):
            await pi.client.request_update(request, completed=number, session="s1", epoch=pi.epoch)
        for client, session in ((pi.client, "s1"), (person, None)):
            epoch = None if session is None else pi.epoch
            with pytest.raises(ConflictError) as refused:
                await client.request_update(request, completed=BURST, session=session, epoch=epoch, key="again")
            assert refused.value.evidence["rule"] == "too_many_updates"
            assert refused.value.hint.startswith("report again in a moment")
        clock.advance(0.06)
        assert (await person.request_update(request, completed=BURST, key="again")).value == run_id
        assert len(await host.engine.events(run_id, types=["node.updated"])) == BURST + 1
