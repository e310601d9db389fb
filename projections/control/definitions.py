"""Compiled definitions that runs refer to (`definitions`)."""

from attrs import frozen


@frozen(kw_only=True)
class DefinitionRow:
    """One definition; ``snapshot`` is the position of the event that holds it."""

    digest: str
    workflow: str
    snapshot: int
