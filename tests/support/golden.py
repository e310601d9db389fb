"""Documents compared with golden files; ``RUNWRIGHT_WRITE_GOLDEN=1`` writes them anew."""

import json
import os
from pathlib import Path
from typing import Any

from support.command_line import normal

GOLDEN = Path(__file__).parents[1] / "cli" / "golden"


def check(name: str, document: Any, tmp: Path) -> None:
    """Compare a document with its golden file."""
    found = json.dumps(normal(document, tmp), indent=2, ensure_ascii=False) + "\n"
    path = GOLDEN / f"{name}.json"
    if os.environ.get("RUNWRIGHT_WRITE_GOLDEN"):
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8"), f"the shape of {name} changed"
