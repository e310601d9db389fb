"""Is what the protocol's page shows what a host reads and sends?"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from runwright.engine.host.serving.asked import Asked
from runwright.engine.host.serving.bounds import MOST_CALLS, MOST_CONNECTIONS, MOST_SUBSCRIPTIONS
from runwright.engine.protocol.envelopes import Call, Reply, unwrap
from runwright.engine.protocol.fields import load
from runwright.engine.protocol.limits import MAX_CALL, MOST_ITEMS, PART
from runwright.engine.protocol.operations import OPERATIONS
from runwright.engine.protocol.place import MOST_BYTES
from runwright.engine.wire.frames import MAX_FRAME

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "protocol.md").read_text(encoding="utf-8")
LINES = re.findall(r"^[→←] (\{.*\})$", PAGE, re.MULTILINE)
WHOLE = [line for line in LINES if "…" not in line]
#: Which operation each reply of the session shown is about.
REPLIES = {"1": "run.start", "2": "view.subscribe", "3": "run.output", "4": "run.cancel"}


@pytest.mark.parametrize("line", WHOLE, ids=range(len(WHOLE)))
def test_the_session_is_one_that_a_host_would_have(line: str) -> None:
    """Each line of it is an envelope, each call fits its operation, and each answer the class it names."""
    envelope: Any = unwrap(json.loads(line))
    match envelope:
        case Call():
            Asked.of(envelope)
        case Reply(call_id=str(call_id), answer=answer) if answer is not None:
            load(OPERATIONS[REPLIES[call_id]].answer, answer)
        case _:
            pass


def test_the_session_shows_every_envelope() -> None:
    """Hello, call, reply and event all stand in it."""
    assert {re.match(r'\{"type": "(\w+)"', line).group(1) for line in LINES} == {"hello", "call", "reply", "event"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "bound",
    [
        f"{MAX_FRAME:,} bytes",
        f"pieces of {PART:,}",
        f"at most {MAX_CALL // 2**20} MiB",
        f"at most {MOST_ITEMS} items",
        f"takes {MOST_CONNECTIONS}",
        f"Up to {MOST_CALLS} calls",
        f"has {MOST_SUBSCRIPTIONS} of them",
        f"{MOST_BYTES}",
    ],
)
def test_bounds_are_the_ones_that_hold(bound: str) -> None:
    """Every bound in words is that of the code."""
    assert bound in " ".join(PAGE.split())
