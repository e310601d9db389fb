"""Requests to executors, for tests of executors alone."""

from pathlib import Path
from typing import Any

from runwright.engine.agents.agent import AgentRequest


def asking(folder: Path, **how: Any) -> AgentRequest:
    """A request with everything that a test does not care about filled in."""
    facts: dict[str, Any] = {
        "prompt": "Review",
        "schema": {},
        "run_id": "run",
        "path": "review",
        "visit": 1,
        "attempt": 1,
        "request_id": "request",
        "deadline": None,
        "cwd": folder,
        "scratch": folder,
        "update": lambda key="overall", **_: None,
        "log": lambda text: None,
    }
    return AgentRequest(**{**facts, **how})
