"""Lines of a run's output log, from a place in the file on."""

import re
from pathlib import Path
from typing import Final

from runwright.engine.protocol.limits import PAGE_BYTES
from runwright.engine.reading.logs import source_of
from runwright.eventstore.values import Json, JsonObject

#: Lines of one page.
_MOST: Final = 2_000
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")


def lines_page(path: Path, node: str | None, after: int) -> JsonObject:
    """Some whole lines behind a place; where a run writes nothing, there are none.

    Args:
        path: The file.
        node: Only lines of this node.
        after: The place, where a line begins; one in the middle of a line gets its rest.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return {"lines": [], "next": after, "more": False}
    with file:
        file.seek(after)
        raw = file.read(PAGE_BYTES)
        more = len(raw) == PAGE_BYTES
    whole = raw[: raw.rfind(b"\n") + 1] or (raw if more else b"")
    found = _LINE.findall(whole)
    taken = found[:_MOST]
    place = after + sum(map(len, taken))
    texts = [each.decode("utf-8", "replace").rstrip("\n") for each in taken]
    lines: list[Json] = [each for each in texts if node is None or source_of(each) == node]
    return {"lines": lines, "next": place, "more": more or len(taken) < len(found)}
