"""C95: a secret in the environment, the input or a failing effect is in no error, list, status or export."""

from pathlib import Path

import pytest

from support.command_line import CommandLine

MARKER = "sk-marker-3b1f"
FLOW = f"""
import os
import sys
from runwright import Context, Workflow
leaky = Workflow("leaky")
@leaky.shell(recovery="idempotent", name="call")
def call(ctx: Context) -> list[str]:
    code = "import os, sys; sys.exit('401 https://user:' + os.environ['API_TOKEN'] + '@host.example/ token={MARKER}')"
    return [sys.executable, "-c", code]
@leaky.compute
def after(ctx: Context) -> str:
    raise RuntimeError("Authorization: Bearer {MARKER}")
leaky.entry(call)
leaky.catch(call, after)
"""


def test_c95_no_surface_shows_the_secret(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list, status, event, export without values and failure names node and code, and never the marker."""
    monkeypatch.setenv("API_TOKEN", MARKER)
    Path("leaky.py").write_text(FLOW)
    failed = cli("run", "--inline", "leaky.py", "-i", f'{{"note": "{MARKER}"}}', code=1)
    assert "after" in failed.err
    assert MARKER not in failed.out + failed.err
    run = cli.run_id()
    lines = (
        ("status",), ("status", run), ("runs",), ("show", run), ("show", run, "after"), ("effects",), ("events", run),
        ("replay", run), ("query", "runs"), ("query", "visits"), ("log", "verify"), ("store", "status"),
    )  # fmt: skip
    for line in lines:
        for flags in ((), ("--json",)):
            answer = cli(*line, *flags)
            assert MARKER not in answer.out + answer.err, line
    for form in ("native", "cloudevents", "csv"):
        assert MARKER not in cli("log", "export", "--format", form).out
    for bad in (("-i", f'["{MARKER}"'), ("-s", MARKER)):
        answer = cli("run", "--inline", "leaky.py", *bad, code=2)
        assert MARKER not in answer.out + answer.err
