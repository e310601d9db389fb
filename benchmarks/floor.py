"""The disk's own limit: plain `sqlite3`, WAL, `synchronous=FULL`, one small row per commit. Its rate is the unit."""

import sqlite3
import time
from pathlib import Path

COMMITS = 1_000


def commits_per_second(folder: Path) -> float:
    """Commit one small row after another for about a fifth of a second and answer the rate."""
    connection = sqlite3.connect(folder / "floor.sqlite", isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE floor (id INTEGER PRIMARY KEY, text TEXT)")
        started = time.perf_counter()
        for number in range(COMMITS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO floor VALUES (?, ?)", (number, "a small row"))
            connection.execute("COMMIT")
        return COMMITS / (time.perf_counter() - started)
    finally:
        connection.close()
