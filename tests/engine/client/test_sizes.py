"""Do values of any size get through frames of one?"""

from pathlib import Path
from typing import Any

import pytest

from runwright import Context, InputInvalid, Workflow
from runwright.engine.protocol.errors import MessageInvalid
from support.clients import KINDS, connected, ended
from support.serving import served

pytestmark = pytest.mark.parametrize("kind", KINDS)

FLOW = '''"""A workflow that gives back what it got."""

from runwright import Context, JsonObject, Workflow

workflow = Workflow("echo", input=JsonObject)


@workflow.compute
def echo(ctx: Context[JsonObject]) -> JsonObject:
    """The same."""
    return ctx.input


workflow.entry(echo)
'''


async def test_a_large_input_comes_back_whole(kind: str, tmp_path: Path) -> None:
    """An input that is larger than a frame with its call goes out in parts, and its output comes back in parts."""
    (tmp_path / "echo.py").write_text(FLOW)
    value: dict[str, Any] = {"text": "é" * 520_000, "list": list(range(500))}
    async with served(tmp_path / "home") as host, connected(kind, host.home) as client:
        run_id = (await client.run_start("echo.py", value, cwd=tmp_path)).value
        await ended(client, run_id)
        assert await client.run_output(run_id) == value
        with pytest.raises(MessageInvalid) as refused:
            await client.run_start("echo.py", {"text": "x" * 1_100_000}, cwd=tmp_path)
        assert refused.value.path == "$.payload.input"
        with pytest.raises(InputInvalid):
            await client.run_start("echo.py", [], cwd=tmp_path)


async def test_a_large_output_is_read_in_parts(kind: str, tmp_path: Path) -> None:
    """An output of several megabytes is read in verified parts; each part is far below a frame."""
    workflow: Workflow[Any] = Workflow("large")

    def large(ctx: Context[Any]) -> list[str]:
        """Much."""
        return [f"{number:06}" for number in range(400_000)]

    workflow.entry(workflow.compute(large))
    async with served(tmp_path / "home", [workflow]) as host, connected(kind, host.home) as client:
        run_id = await host.engine.start(workflow, {})
        await ended(client, run_id)
        found = await client.run_output(run_id)
        assert found == [f"{number:06}" for number in range(400_000)]
        events = await client.events_read(run_id, values=True, types=["node.finished"])
        (output,) = [each["values"]["output"] for each in events["items"]]
        assert not output["inline"]
        assert output["bytes"] == 400_000 * 9 + 1
        assert await client.content_read(output) == found
        output["sha256"] = "0" * 64
        with pytest.raises(MessageInvalid, match="SHA-256"):
            await client.content_read(output)
