"""What must hold of a store after every case: the chain verifies, and the live rows are those of a replay."""

import hashlib
from pathlib import Path

from runwright.engine.reading.reader import Reader
from runwright.eventstore.verify import verify_store
from runwright.projections.verify import verify as verify_projections


def check_sound(home: Path) -> None:
    """The file is whole, the chain holds, and the control rows follow from the events."""
    verdict = verify_store(home, deep=True)
    assert verdict.ok, verdict
    with Reader.open(home) as reader:
        found = verify_projections(reader.log)
        assert found.ok, found.differences


def contents(*folders: Path) -> dict[str, str]:
    """Every file below some folders with a digest of its bytes."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
