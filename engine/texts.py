"""What names something is a text that the store can hold; programs hand in what they like."""

from runwright.engine.errors import ConflictError, NameUnsaved
from runwright.engine.results import Conflict


def text_problem(value: object) -> str | None:
    """Why something is no text that the store can hold; ``None`` where it is one."""
    if not isinstance(value, str):
        return f"is {type(value).__name__}, and has to be a text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds half of a character pair, which no text has"
    return None


def check_name(what: str, value: object) -> None:
    """Refuse what is no text, before anything is read by it; a text that no name can be names nothing.

    Args:
        what: What it names: ``run_id``, ``session``.
        value: What was handed in.

    Raises:
        ConflictError: It is no text (``input_invalid``).
    """
    if not isinstance(value, str):
        problem = text_problem(value)
        raise ConflictError(Conflict("input_invalid", {"path": what, "problem": problem}))


def check_paths(*named: tuple[str, str]) -> None:
    """Refuse paths that no event can hold: on disk a name is bytes, in the log it is text.

    Args:
        named: What each is, and its path.

    Raises:
        NameUnsaved: The name of one is not UTF-8.
    """
    for what, path in named:
        if text_problem(path) is not None:
            raise NameUnsaved(what, path)
