"""Next steps with names in them: a run, an effect, a node or a workflow is filled in where it is known."""

import re
import shlex
from collections.abc import Mapping
from typing import Final

#: How many characters of an effect's ID name it.
_EFFECT: Final = 12
_PLACES: Final = re.compile(r"\b(RUN|EFFECT|NODE|WORKFLOW)\b")


def fill(hint: str, names: Mapping[str, str]) -> str:
    """Put names into a hint.

    Args:
        hint: A sentence with ``RUN``, ``EFFECT``, ``NODE`` and ``WORKFLOW`` in lines to type.
        names: What is known.
    """
    return _PLACES.sub(lambda match: shlex.quote(names[match[0]]) if match[0] in names else match[0], hint)


def names_of(error: BaseException) -> dict[str, str]:
    """What an error itself knows of what it is about."""
    evidence = getattr(error, "evidence", None)
    facts: dict[str, object] = dict(evidence) if isinstance(evidence, Mapping) else {}
    effects = facts.get("effects")
    if isinstance(effects, list | tuple) and effects:
        facts.setdefault("effect", effects[0])
    found = {
        "RUN": facts.get("run"),
        "EFFECT": facts.get("effect"),
        "NODE": facts.get("node", getattr(error, "node", None)),
    }
    named = {place: value for place, value in found.items() if isinstance(value, str) and value}
    if "EFFECT" in named:
        named["EFFECT"] = named["EFFECT"][-_EFFECT:]
    return named
