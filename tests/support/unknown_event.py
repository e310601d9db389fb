"""Appends an event of a type that no version knows, with a right chain, as a newer version would have."""

import sqlite3
from contextlib import closing
from pathlib import Path

from runwright.eventstore.chain import event_hash


def append_unknown(home: Path, stream: str, event_type: str) -> int:
    """Append it to a closed store; answer its position."""
    with closing(sqlite3.connect(home / "log.sqlite", isolation_level=None)) as shell:
        position, previous = shell.execute("SELECT position, hash FROM head").fetchone()
        (version,) = shell.execute("SELECT max(version) FROM events WHERE stream = ?", (stream,)).fetchone()
        header = (position + 1, stream, version + 1, event_type, 1_900_000_000_000_000, "operator", None, None)
        digest = event_hash(previous, *header, "{}", None)
        shell.execute("BEGIN IMMEDIATE")
        shell.execute(
            "INSERT INTO events (position, stream, version, type, at, actor, generation, command, data, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{}', ?)",
            (*header, digest),
        )
        shell.execute("UPDATE head SET position = ?, hash = ?", (position + 1, digest))
        shell.execute("COMMIT")
        shell.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return int(position) + 1
