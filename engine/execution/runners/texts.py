"""What nodes' functions return for others to read: prompts, questions, and what a session is told."""

from typing import Final

from runwright.engine.authoring.conversion import PLAIN
from runwright.engine.execution.failures import stored
from runwright.engine.execution.visit import Visit
from runwright.engine.execution.walk import Walk
from runwright.eventstore.values import MAX_VALUE, Json

#: The most bytes of what somebody is asked: whatever stands around it, its contract and where it comes from, has the
#: rest of a value. What is larger fails the node; asked all the same, the run would stop for want of somebody.
MAX_ASKED: Final = MAX_VALUE - 1024 * 1024


def asked(value: object, what: str) -> Json:
    """What somebody is asked as it is stored.

    Args:
        value: All of it.
        what: What it is, for the error text.

    Raises:
        NodeFailure: It cannot be stored, or is too large.
    """
    return stored(PLAIN, value, what, MAX_ASKED)


async def text_of(walk: Walk, visit: Visit, what: str) -> str:
    """Call a node's function for its text, within the attempt's time.

    Args:
        walk: The execution.
        visit: The attempt.
        what: What the text is, for whoever returned something else.

    Raises:
        NodeFailure: It raised, ran out of time, or returned no text that could be stored.
    """
    function = visit.declaration.function
    assert function is not None
    text = await walk.call(visit, function, visit.context)
    if not isinstance(text, str):
        kind = visit.spec.kind
        article = "an" if kind[0] in "aeiou" else "a"
        raise walk.failed(
            visit, TypeError(f"{article} {kind} node returns its {what} as a str, not {type(text).__name__}")
        )
    asked(text, what)
    return text
