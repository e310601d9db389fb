"""The secrets of run trees: the key that stands with a root's input, remembered while its runs live."""

import hashlib
from typing import Final

from runwright.engine.decisions.facts import Tree
from runwright.eventstore.events.run import RunInput
from runwright.eventstore.transaction import Tx
from runwright.eventstore.values import encode
from runwright.projections.control.runs import RUNS
from runwright.projections.rows import Rows

#: Trees that are remembered; the one unused for longest goes.
REMEMBERED: Final = 1_024


def input_digest(text: str) -> str:
    """Digest the canonical text of an input, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class Trees:
    """A cache over the roots' `RunInput` events; the keys never leave this process."""

    def __init__(self, *, remembered: int = REMEMBERED) -> None:
        self._known: dict[str, Tree] = {}
        self._remembered = remembered

    def get(self, tx: Tx, rows: Rows, root: str) -> Tree | None:
        """Answer the secret of a run tree, or ``None`` where it was erased."""
        known = self._known.get(root)
        if known is not None:
            return known
        run = rows.get(RUNS, root)
        recorded = None if run is None or run.input is None else tx.event(run.input)
        event = None if recorded is None else recorded.event
        if not isinstance(event, RunInput) or event.key is None or event.input is None:
            return None
        tree = Tree(str(event.key.value), input_digest(encode(event.input.value)))
        self.keep(root, tree)
        return tree

    def keep(self, root: str, tree: Tree) -> None:
        """Remember the secret of a root that is being queued."""
        if len(self._known) >= self._remembered:
            del self._known[next(iter(self._known))]
        self._known[root] = tree

    def forget(self, root: str) -> None:
        """Forget a tree, because a run of it ended or its values were erased."""
        self._known.pop(root, None)
