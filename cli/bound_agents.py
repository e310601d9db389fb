"""The executors that runs were started with."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader


def bound_agents(store: "Reader", run_ids: Iterable[str]) -> set[str]:
    """The names of the executors that the runs were started with."""
    names: set[str] = set()
    for run_id in run_ids:
        row: Mapping[str, object] = store.query("runs", where=[f"run_id={run_id}"]).items[0]
        names |= {str(each["name"]) for each in json.loads(str(row["agents"]))}
    return names
