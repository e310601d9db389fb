"""What people call a run or an effect: its ID, the end of it, or ``@last``."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.rendering.text import plural
from runwright.engine.errors import AmbiguousId, NotFound
from runwright.engine.near import meant

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader

#: The newest run of this project, or that was started here.
LAST = "@last"
#: No ID is longer; the shortest part of one that names something; and how many candidates are listed.
_LONGEST = 64
_LEAST = 4
_CANDIDATES = 8
#: How many nodes of a run are looked through for the one that was meant.
_NODES = 1000
#: The characters at the end of an effect's ID that lines to type name it by.
EFFECT_END = 12


def find_run(call: Invocation, store: "Reader", text: str) -> str:
    """Answer the whole ID of a run.

    Args:
        call: The invocation; ``@last`` means its project.
        store: The store.
        text: The ID, its last four or more characters, or ``@last``.

    Raises:
        NotFound: No run has that name.
        AmbiguousId: Several have.
    """
    found = _newest(call, store) if text == LAST else store.find_run(bounded("run", text))
    call.flags.named["RUN"] = found
    return found


def find_effect(call: Invocation, store: "Reader", text: str) -> str:
    """Answer the whole ID of an effect by the same rule; ``@last`` is the newest of the run of that name."""
    if text == LAST:
        run_id = _newest(call, store)
        own = store.effects(run_id)
        if not own:
            raise NotFound("effect", f"{LAST}: run {run_id} has none")
        found = own[-1].effect
    else:
        found = store.find_effect(bounded("effect", text))
    call.flags.named["EFFECT"] = found[-EFFECT_END:]
    return found


def find_node(store: "Reader", run_id: str, node: str) -> str:
    """Answer the path of a node of a run.

    Raises:
        Refused: The run's workflow has none of that name; the hint lists those there are.
    """
    from runwright.cli.definitions import saved_definition

    definition = saved_definition(store, run_id)
    if definition is None or node in definition.nodes:
        return node
    raise Refused.usage(
        f"There is no node {node[:200]!r} in run {run_id}.",
        meant(node, definition.nodes, "nodes"),
        code="not_found",
    )


def find_beginning(store: "Reader", run_id: str, node: str) -> str:
    """Answer a node that a restart of a run is to begin at; one in a mounted workflow is the engine's to refuse.

    Raises:
        Refused: The workflow has none of that name; the hint lists those there are.
    """
    from runwright.cli.definitions import saved_definition

    definition = saved_definition(store, str(store.status(run_id).root_run_id))
    if definition is None or node in definition.nodes:
        return node
    mounted = node in definition.mounts
    message = f"{node[:200]!r} is a mounted workflow" if mounted else f"There is no node {node[:200]!r} in run {run_id}"
    visited = {each["path"] for each in store.query("visits", where=[f"run_id={run_id}"], limit=_NODES).items}
    places = [each for each in definition.nodes if "/" not in each and each in visited]
    raise Refused.usage(f"{message}.", meant(node, places, "nodes to begin at"), code="not_found")


def find_among(ids: Collection[str], text: str, file: str) -> str:
    """Answer the run that a name means among the runs of an export.

    Args:
        ids: The runs that it holds.
        text: The ID, or its last four or more characters; ``@last`` means a run of the store alone.
        file: The export, as it is typed.

    Raises:
        Refused: None of them has that name; the hint says which there are.
        AmbiguousId: Several have.
    """
    found = [] if text == LAST else _ending_in(ids, bounded("run", text).lower())
    if len(found) > 1:
        raise AmbiguousId("run", text, found[:_CANDIDATES])
    if found:
        return found[0]
    message = (
        f"{LAST} names a run of the store, not one of an export" if text == LAST else f"No run {text} is in {file}"
    )
    hint = f"There is no run at all in {file}."
    if ids:
        hint = f"It holds {plural(len(ids), 'run')}; `runwright replay {max(ids)} --from {file}` shows the newest."
    raise Refused.usage(f"{message}.", hint, code="not_found")


def _ending_in(ids: Collection[str], part: str) -> list[str]:
    return sorted(each for each in ids if len(part) >= _LEAST and each.endswith(part))


def last_of(call: Invocation) -> tuple[Path, Path | None]:
    """What ``@last`` is about: the project, and the current folder where no other project was named."""
    return call.project, None if call.named_project is not None else Path.cwd()


def no_last(newest: Sequence[Mapping[str, object]]) -> Refused:
    """``@last`` names nothing here: say what the newest run of all is, and where it belongs.

    Args:
        newest: The row of that run, or none.
    """
    hint = "No run was started in this store yet; `runwright run --help` shows how."
    for row in newest:
        hint = f"The newest of all is {row['run_id']}, of {row['project']}. `runwright runs` lists them."
    return Refused.usage(f"There is no run {LAST}: none was started in this project.", hint, code="not_found")


def _newest(call: Invocation, store: "Reader") -> str:
    project, cwd = last_of(call)
    try:
        return store.find_run(LAST, project=str(project), cwd=None if cwd is None else str(cwd))
    except NotFound:
        raise no_last(store.query("runs", sort=["-run_id"], limit=1).items) from None


def bounded(what: str, text: str) -> str:
    """A name as it was typed; raises `NotFound` where nothing can have it."""
    if len(text) > _LONGEST or not text.isprintable():
        raise NotFound(what, repr(text[:40] + "…"))
    return text
