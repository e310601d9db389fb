"""What commands change, whoever carries it out."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from attrs import frozen

from runwright.eventstore.values import Json

#: What may have become of an effect.
Outcome = Literal["done", "not_done", "timed_out"]


@frozen(kw_only=True)
class Change:
    """What a command changed.

    Attributes:
        result: ``applied``, or ``adopted`` where it was so already.
        run_id: The run that it was about, or that it made.
        revision: That run's revision after it.
    """

    result: Literal["applied", "adopted"]
    run_id: str
    revision: int


@frozen(kw_only=True)
class Erased:
    """What a redaction erased, or would erase.

    Attributes:
        root: The first run of the tree.
        runs: All of them.
        events: How many events lose their private values.
        pending: Whether a reader keeps the bytes from going.
    """

    root: str
    runs: tuple[str, ...]
    events: int
    pending: bool


@frozen(kw_only=True)
class Remade:
    """Tables that were made anew.

    Attributes:
        position: The position of the log that the control tables stand at.
        rows: How many rows each control table has.
    """

    position: int
    rows: Mapping[str, int]


class Replies(Protocol):
    """Takes what a person says to requests; each raises what the engine raises.

    The run of a `Change` is the one that goes on.
    """

    def answer(self, request_id: str, value: Json) -> Change:
        """Answer a checkpoint, or an agent's request in its executor's place."""
        ...

    def submit(self, request_id: str, value: Json) -> Change:
        """Play the agent: hand in what it would, and hear the verdict."""
        ...

    def decide(self, request_id: str, choice: str, *, text: str | None, by: str, digest: str | None) -> Change:
        """Make a decision; ``digest`` says what the person saw."""
        ...


class Changes(Replies, Protocol):
    """Carries commands out; each raises what the engine raises."""

    @property
    def drives(self) -> bool:
        """Whether what was made or released goes on by itself."""
        ...

    def pause(self, run_id: str) -> Change:
        """Let no further node of a run start."""
        ...

    def cancel(self, run_id: str, *, reason: str) -> Change:
        """End a run now."""
        ...

    def restart(self, run_id: str, *, at: str | None, agents: Mapping[str, str]) -> Change:
        """Run an ended run's workflow afresh; ``agents`` are the specifications of its executors."""
        ...

    def resolve(self, effect_id: str, outcome: Outcome, *, result: Json, reason: str) -> Change:
        """Say what became of an uncertain effect."""
        ...

    def redact(self, run_id: str, *, reason: str) -> Erased:
        """Erase the private values of an ended run's tree."""
        ...

    def rebuild(self, control: Sequence[str], views: Sequence[str]) -> Remade:
        """Make the tables of projections anew from the log."""
        ...
