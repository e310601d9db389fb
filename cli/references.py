"""What people call a run or an effect: its ID, the end of it, or ``@last``."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from runwright.cli.invocation import Invocation, find_project
from runwright.engine.errors import AmbiguousId, NotFound

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader

#: The newest run started in this project.
LAST = "@last"
#: No ID is longer; the shortest part of one that names something; and how many candidates are listed.
_LONGEST = 64
_LEAST = 4
_CANDIDATES = 8


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
    if text == LAST:
        return _newest(call, store)
    return store.find_run(_bounded("run", text))


def find_effect(store: "Reader", text: str) -> str:
    """Answer the whole ID of an effect by the same rule."""
    return store.find_effect(_bounded("effect", text))


def find_among(ids: Collection[str], text: str) -> str:
    """Answer the run that a name means among the runs of an export."""
    part = _bounded("run", text).lower()
    found = sorted(each for each in ids if len(part) >= _LEAST and each.endswith(part))
    if not found:
        raise NotFound("run", text)
    if len(found) > 1:
        raise AmbiguousId("run", text, found[:_CANDIDATES])
    return found[0]


def _newest(call: Invocation, store: "Reader") -> str:
    # Outside of any project folder, a run belongs to the folder it was started in.
    named = call.flags.project is not None or find_project(Path.cwd()) is not None
    for field, folder in (("project", call.project), *(() if named else (("cwd", Path.cwd()),))):
        found = store.query("runs", where=[f"{field}={folder}"], sort=["-run_id"], limit=1).items
        if found:
            return str(found[0]["run_id"])
    raise NotFound("run", f"{LAST}: none was started in this project")


def _bounded(what: str, text: str) -> str:
    if len(text) > _LONGEST or not text.isprintable():
        raise NotFound(what, repr(text[:40] + "…"))
    return text
