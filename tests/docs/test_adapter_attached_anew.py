"""Does the example of an adapter rest again where a report of its comes in an epoch that is over?"""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from runwright import ConflictError
from runwright.engine.results import Conflict

FILE = Path(__file__).parents[2] / "examples" / "adapter.py"


class Refusing:
    """A client whose host knows a newer coordinator."""

    async def content_read(self, value: object) -> str:
        """The text of a message."""
        return "What now?"

    async def session_report(self, *_: object, **__: object) -> None:
        """Refuse what is said in an epoch that is over."""
        raise ConflictError(Conflict("claim_lost", {"session": "s", "reason": "owner_changed"}))


@pytest.mark.parametrize("starts_turn", [True, False])
async def test_an_agent_is_not_left_busy_by_a_report_that_is_refused(starts_turn: bool) -> None:
    """It attaches anew beside a call that is being tried again: whoever stays busy after that is told nothing more."""
    spec = importlib.util.spec_from_file_location("adapter", FILE)
    assert spec is not None
    assert spec.loader is not None
    example: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)

    async def model(message: object, text: str) -> str:
        raise AssertionError("no turn begins")

    adapter = example.Adapter(Refusing(), example.Agent(model))
    adapter.held = {"message": "m", "kind": "terminal", "run_id": "r", "starts_turn": starts_turn, "text": {}}
    with pytest.raises(ConflictError):
        await adapter.send()
    assert adapter.agent.busy is False
