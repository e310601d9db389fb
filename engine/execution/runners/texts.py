"""The texts that nodes' functions return: prompts, and what a session is told."""

from runwright.engine.execution.visit import Visit
from runwright.engine.execution.walk import Walk


async def text_of(walk: Walk, visit: Visit, what: str) -> str:
    """Call a node's function for its text, within the attempt's time.

    Args:
        walk: The execution.
        visit: The attempt.
        what: What the text is, for whoever returned something else.

    Raises:
        NodeFailure: It raised, ran out of time, or returned no text.
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
    return text
