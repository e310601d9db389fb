"""A workflow that was loaded: its program, where it came from, and the files that it is."""

from pathlib import Path

from attrs import frozen

from runwright.engine.graph.program import Program
from runwright.engine.sources.identity import SourceSet


@frozen(kw_only=True, eq=False)
class Loaded:
    """A program with its identity.

    Attributes:
        program: The definition and its code.
        reference: How it is found again.
        project: The project's folder.
        sources: The files behind it.
    """

    program: Program
    reference: str
    project: Path
    sources: SourceSet
