"""The definition that a run stands on, and how what its files say now differs from it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runwright.cli.invocation import user_folder

if TYPE_CHECKING:
    from runwright.engine.graph.definition import Definition
    from runwright.engine.reading.reader import Reader


def saved_definition(store: "Reader", run_id: str) -> "Definition | None":
    """The definition that a run was compiled to; ``None`` where another version wrote it in a form of its own."""
    from runwright.engine.authoring.conversion import NotConvertible
    from runwright.engine.graph.definition import Definition
    from runwright.eventstore.events.definition import DefinitionRecorded

    digest = store.query("runs", where=[f"run_id={run_id}"]).items[0]["definition"]
    for recorded in store.log.read(f"definition/{digest}"):
        event = recorded.event
        if isinstance(event, DefinitionRecorded) and event.snapshot is not None:
            try:
                return Definition.from_snapshot(event.snapshot.value)
            except NotConvertible:
                return None
    return None


def source_changes(store: "Reader", run_id: str) -> list[str]:
    """Say in words how a run's files and definition differ now from those it was started with.

    Raises:
        WorkflowNotFound: Its workflow is gone; and its kin where it cannot be loaded.
    """
    from runwright.engine.sources.identity import SourceSet
    from runwright.engine.sources.load import load

    row = store.query("runs", where=[f"run_id={run_id}"]).items[0]
    loaded = load(str(row["reference"]), Path(str(row["project"])), user_folder())
    saved_files = store.sources(None if row["sources"] is None else str(row["sources"]))
    lines: list[str] = []
    if saved_files is not None:
        lines += [f"file {each} differs" for each in SourceSet(saved_files).differs_from(loaded.sources)]
    saved = saved_definition(store, run_id)
    if saved is not None:
        lines += _differences(saved, loaded.program.definition)
    return lines


def _differences(old: "Definition", new: "Definition") -> Iterator[str]:
    from runwright.engine.graph.draw import edges

    for path in sorted({*old.nodes, *new.nodes}):
        before, after = old.nodes.get(path), new.nodes.get(path)
        if before is None and after is not None:
            yield f"node {path} ({after.kind}) is new"
        elif before is not None and after is None:
            yield f"node {path} ({before.kind}) is gone"
        elif before is not None and after is not None and before.kind != after.kind:
            yield f"node {path} was {before.kind} and is {after.kind}"
        elif before != after:
            yield f"node {path} is declared differently"
    ways_before, ways_after = set(edges(old)), set(edges(new))
    for words, ways in (("gone", ways_before - ways_after), ("new", ways_after - ways_before)):
        for source, when, to in sorted(ways):
            yield f"rule {source} {f'[{when}] ' if when else ''}→ {to} is {words}"
