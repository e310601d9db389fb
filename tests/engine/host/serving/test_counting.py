"""How a host counts its runs: each once, and of ended ones nothing that anybody would have to do."""

from pathlib import Path
from typing import Any

from runwright import Context, Uncertain, Workflow
from runwright.engine.host.serving.counting import host_status
from support.serving import served


def asking() -> Workflow[Any]:
    """Waits for a person."""
    workflow: Workflow[Any] = Workflow("asking")
    workflow.entry(workflow.decision(choices=["yes", "no"], name="agree")(lambda ctx: "Go on?"))
    return workflow


def careful() -> Workflow[Any]:
    """Has an effect that nobody can tell the outcome of."""
    workflow: Workflow[Any] = Workflow("careful")

    @workflow.action(recovery="manual")
    def send(ctx: Context[Any]) -> int:
        raise Uncertain("the line went dead")

    workflow.entry(send)
    return workflow


async def test_each_run_is_counted_once(tmp_path: Path) -> None:
    """One that waits is not parked as well; what an ended run left uncertain is no matter of the host's any more."""
    workflows = asking(), careful()
    async with served(tmp_path / "home", workflows) as host:
        outcomes = [await host.engine.run(each, {}) for each in (*workflows, workflows[1])]
        assert [each.status for each in outcomes] == ["waiting", "ambiguous", "ambiguous"]
        await host.engine.cancel(outcomes[2].run_id)
        found: Any = host_status(host.holder, host.host.facts(), 0, 0)
        assert found["runs"] == {"queued": 0, "starting": 0, "running": 0, "parked": 1, "waiting": 1}
        assert (found["requests"], found["ambiguous_effects"]) == (1, 1)
        assert len(await host.engine.effects(state="ambiguous")) == 2
