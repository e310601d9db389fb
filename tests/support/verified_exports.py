"""A small log as lines of an export, and their verdict."""

from collections.abc import Sequence
from pathlib import Path

from runwright.eventstore.envelope import Head
from runwright.eventstore.verdict import Verdict
from runwright.eventstore.verify_export import verify_export
from support.chained import native, small_log

EVENTS = small_log()
WHOLE = native(EVENTS)
LAST = EVENTS[-1].position


def check(tmp_path: Path, lines: Sequence[bytes], head: Head | None = None) -> Verdict:
    """Verify some lines as a file."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(lines))
    return verify_export(path, head=head)
