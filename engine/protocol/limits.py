"""The bounds of the protocol, and the kinds of names that many of its messages hold (page 12, "IDs")."""

from typing import Final

from runwright.engine.protocol.kinds import Maybe, Name, Prose, Unfit, Whole
from runwright.eventstore.values import Json

PROTOCOL: Final = "runwright.client.v1"

#: Bytes, as JSON, of a value that stands in an answer itself; a larger one is read in parts by `content.read`.
INLINE: Final = 16 * 1024
#: Bytes of a part of a value, before they are written as base64.
PART: Final = 512 * 1024
#: The most bytes of a call in parts: a value of 16 MiB and what stands around it.
MAX_CALL: Final = 17 * 1024 * 1024
#: Items of a page or of one event frame, and bytes after which it takes no more.
MOST_ITEMS: Final = 256
PAGE_BYTES: Final = 256 * 1024

#: A slash would end a stream's name.
ID: Final = Name(128, "[^/]+")
#: ``cli``, ``engine``, ``pi:<session>``, ``mcp:<session>``, ``hook:<session>``; a program of your own has its own word.
CLIENT: Final = Name(128, r"[a-z][a-z0-9-]{0,31}(:[A-Za-z0-9._:-]{1,90})?")
SESSION: Final = Name(128, r"[A-Za-z0-9._:-]+")
NODE: Final = Name(1024)
WORD: Final = Name(64)
#: A workflow as people name it: a file, a name, an import path.
REFERENCE: Final = Name(4096)
PATH: Final = Name(4096)
REASON: Final = Prose(8 * 1024)
TIME: Final = Name(40)
#: SHA-256 in hex.
HASH: Final = Name(64, "[0-9a-f]{64}")
POSITION: Final = Whole()
CURSOR: Final = Maybe(Name(128))
LIMIT: Final = Whole(1, MOST_ITEMS)


def is_id(value: Json) -> bool:
    """Whether a value can be an ID."""
    try:
        ID.load(value)
    except Unfit:
        return False
    return True
