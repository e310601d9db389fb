"""Does a host say how it stands in counts, and nothing of what it is at?"""

import io
import json
import os
from pathlib import Path
from typing import Any

from rich.console import Console

from runwright import Context, Question, Surroundings, Uncertain, Workflow
from runwright.cli.rendering.hosts import host_lines
from runwright.engine.client import AsyncClient
from runwright.engine.host.serving.surface import HostFacts
from support.engines import until
from support.serving import served
from support.socket_session import speaking

#: What stands in inputs, prompts, errors and names of this test.
PRIVATE = ("s-of-somebody", "a-word-of-the-input", "a-word-of-the-prompt", "a-word-of-the-error")


def workflows() -> tuple[Workflow[Any], Workflow[Any], Workflow[Any]]:
    """One asks its session, one asks a person, and of one nobody knows whether its effect happened."""
    asks: Workflow[Any] = Workflow("asks")
    decides: Workflow[Any] = Workflow("decides")
    doubts: Workflow[Any] = Workflow("doubts")

    @asks.agent(returns=str)
    def ask(ctx: Context[Any]) -> str:
        return PRIVATE[2]

    @decides.decision(choices=["yes", "no"])
    def decide(ctx: Context[Any]) -> Question:
        return Question(PRIVATE[2])

    @doubts.action
    def doubt(ctx: Context[Any]) -> None:
        raise Uncertain(PRIVATE[3])

    asks.entry(ask)
    decides.entry(decide)
    doubts.entry(doubt)
    return asks, decides, doubts


async def test_counts_tell_nothing_private(tmp_path: Path) -> None:
    """F349, F350, F558: states, ages and codes; no session, path, prompt, payload, token or process."""
    asks, decides, doubts = workflows()
    here, value = Surroundings(cwd=tmp_path, project=tmp_path), {"text": PRIVATE[1]}
    async with served(tmp_path / "home", [asks, decides, doubts]) as host, speaking(host.home, PRIVATE[0]) as pi:
        run_ids = [
            await host.engine.start(asks, value, session=PRIVATE[0], surroundings=here),
            await host.engine.start(decides, value, surroundings=here),
            await host.engine.start(doubts, value, surroundings=here),
        ]
        queued = await host.engine.start(decides, value, surroundings=here, drive=False)
        await pi.settle()
        await pi.next()

        async def settled() -> bool:
            states = [(await host.engine.status(each)).status for each in run_ids]
            return states == ["waiting", "waiting", "ambiguous"]

        await until(settled)
        host.host.facts_ = HostFacts(
            draining=False, started_at=0, capacity=4, workers=1, launching=2, troubles=(("worker_crashed", 5),)
        )
        async with await AsyncClient.connect(host.home) as client:
            facts = await client.host_status()
        assert facts["runs"] == {"queued": 1, "starting": 0, "running": 0, "parked": 1, "waiting": 2}
        assert (facts["requests"], facts["ambiguous_effects"], facts["expired_claims"]) == (2, 1, 0)
        assert (facts["workers"], facts["launching"], facts["connections"], facts["subscriptions"]) == (1, 2, 3, 1)
        assert facts["errors"] == [{"code": "worker_crashed", "at": "1970-01-01T00:00:00.000005Z"}]
        shown = io.StringIO()
        Console(file=shown, width=200).print(*host_lines(facts, 10))
        told = json.dumps(facts) + shown.getvalue()
        for word in (*PRIVATE, str(tmp_path), *run_ids, queued, "asks", "decides", "doubts"):
            assert word not in told, word
        assert os.getpid() not in [each for each in facts.values() if isinstance(each, int)]
