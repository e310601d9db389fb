"""What each projection holds, for people; programs read the projections' own words."""

from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from runwright.cli.rendering.marks import QUIET
from runwright.cli.rendering.text import clean

HOLDS: Final = {
    "runs": "every run: workflow, how far it is, where it stands",
    "queue": "what may be done with each run now, and why it stands still",
    "visits": "every node that a run came to, and how its last visit went",
    "mounts": "every workflow inside another one that a run went into",
    "effects": "every side effect, and how sure we are of it",
    "reservations": "which run holds which session",
    "requests": "every question of a run, and whether it was answered",
    "messages": "every message to a session, and whether it arrived",
    "sessions": "every agent session that was attached",
    "turns": "every turn that a message began",
    "timers": "what each run waits for, and until when",
    "workers": "every process that carried a run, and how it ended",
    "processes": "the processes that runs began and that still count",
    "receipts": "every command that was given with a key",
    "terminal": "how each run ended",
    "definitions": "every workflow as it was compiled",
    "hosts": "every time a process took the store",
    "run_list": "every run with all that a list shows",
    "activity": "starts, ends, steps and failures by the hour",
}


def projection_lines(name: str, holds: str, fields: str) -> list[RenderableType]:
    """One projection: its name and what it holds, and below them its fields."""
    said = HOLDS.get(name, holds)
    return [Text.assemble((clean(name), "bold"), f"  {clean(said)}"), Padding(Text(clean(fields), QUIET), (0, 0, 0, 4))]
