"""Is a run of a session shown by everybody who is asked, at each point of its conversation, and in the same words?"""

from pathlib import Path
from typing import Any

from runwright.engine.reading.reader import Reader
from support.conversing import asks, submit
from support.serving import Served, served
from support.socket_session import SocketSession, speaking


async def shown(host: Served, pi: SocketSession, run_id: str) -> str:
    """The word that all readers show a run by; the node that it is at is shown by the same one."""
    view: Any = await pi.client.view_get(run_id)
    words = {view["status"]["status"], (await pi.client.run_status(run_id))["status"]}
    async with pi.client.view_subscribe(run_id) as views:
        followed: Any = await anext(views)
        words.add(followed["status"]["status"])
    with Reader.open(host.home) as reader:
        words.add(reader.status(run_id).status)
    pages: Any = await pi.client.view_page(run_id, "nodes")
    for nodes in (view["nodes"], followed["nodes"], pages["items"]):
        words |= {each["state"] for each in nodes if each["current"]}
    (word,) = words
    return str(word)


async def test_a_run_of_a_session_is_shown_while_it_talks(tmp_path: Path) -> None:
    """While it waits for rest, asks, is answered in a turn, is left alone, is paused, and after its end."""
    workflow = asks("first")
    async with served(tmp_path / "home", [workflow]) as host, speaking(host.home) as pi:
        run_id = await host.engine.start(workflow, {}, session="s1")
        assert await shown(host, pi, run_id) == "queued"
        await pi.settle()
        message = await pi.receive()
        assert await shown(host, pi, run_id) == "waiting"
        await pi.begin(message["message"], run_id)
        assert await shown(host, pi, run_id) == "running", "its session works on it"
        await pi.client.session_detach("s1", pi.epoch)
        assert await shown(host, pi, run_id) == "waiting", "nobody is connected who could tell of that turn"
        await pi.attach()
        await pi.report(message["message"], idle=True)
        await pi.client.run_pause(run_id)
        assert await shown(host, pi, run_id) == "paused"
        await pi.client.run_resume(run_id)
        await submit(pi, message, "fine")
        await host.engine.wait(run_id)
        assert await shown(host, pi, run_id) == "completed"
