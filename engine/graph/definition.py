"""A compiled workflow as plain frozen data: what is saved, digested, routed by and drawn."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import Literal, TypeAlias

from attrs import field, frozen

from runwright.engine.authoring.conversion import from_json, to_json
from runwright.engine.authoring.declaration import NodeKind
from runwright.eventstore.values import Json, JsonObject, encode

Contract: TypeAlias = Literal["manual", "idempotent", "observed"]
BadOutcome: TypeAlias = Literal["failed", "timed_out"]
CaseValue: TypeAlias = bool | int | float | str | None


_ASKING = frozenset({"agent", "choose", "assistant", "decision", "checkpoint"})

#: Another try would end the same way.
_NEVER_RETRIED = frozenset({"validation_failed", "effect_request_changed", "output_invalid"})


@frozen(kw_only=True)
class RetrySpec:
    """How often a node tries, and how long it waits in between (microseconds)."""

    attempts: int
    first_us: int
    factor: float
    maximum_us: int

    def delay_us(self, attempt: int) -> int:
        """How long to wait after a failed attempt, counted from 1, before the next one."""
        try:
            return round(min(self.first_us * self.factor ** (attempt - 1), self.maximum_us))
        except OverflowError:
            return self.maximum_us


@frozen(kw_only=True)
class NodeSpec:
    """One node of the graph.

    Attributes:
        path: The full compiled path, ``docs/workspace/inspect``.
        kind: The node kind.
        label: What views show instead of the name; empty for the name.
        schema: The JSON Schema of the output.
        timeout_us: The limit of one attempt in microseconds; ``None`` for none.
        dynamic_timeout: The limit is a function of the context, worked out at each start.
        retry: The declared retry, if any.
        contract: What holds after an uncertain end; effects only.
        effect_type: The effect type; effects only.
        by: The executor's name; agent and choose nodes only.
        choices: The names of the choices; choose and decision nodes only.
        wait_us: The fixed time of a wait without a function.
        deadline_us: The deadline of a decision.
        on_timeout: The choice that a decision's deadline makes.
        audience: Whom a decision asks.
        notice: Whether a notification is interim or final.
        max_chars: The limit of an assistant's answer.
        summary: What a checkpoint says.
        protected: Only a person's decision is accepted at this checkpoint.
    """

    path: str
    kind: NodeKind
    label: str = ""
    schema: JsonObject = field(factory=dict)
    timeout_us: int | None = None
    dynamic_timeout: bool = False
    retry: RetrySpec | None = None
    contract: Contract | None = None
    effect_type: str | None = None
    by: str | None = None
    choices: tuple[str, ...] = ()
    wait_us: int | None = None
    deadline_us: int | None = None
    on_timeout: str | None = None
    audience: str | None = None
    notice: Literal["interim", "final"] | None = None
    max_chars: int | None = None
    summary: str | None = None
    protected: bool = False

    @property
    def name(self) -> str:
        """The node's own name, the last part of its path."""
        return self.path.rpartition("/")[2]

    def tries_again(self, attempt: int, outcome: str | None, code: str | None) -> bool:
        """Whether a declared try is left after this attempt ended so.

        `check` lets only nodes declare a retry that may (fine print, "Retries"): no manual effect, no wait.
        """
        return (
            self.retry is not None
            and attempt < self.retry.attempts
            and outcome in ("failed", "timed_out")
            and code not in _NEVER_RETRIED
        )

    @property
    def asks(self) -> bool:
        """Whether an attempt of it waits for an answer to a request."""
        return self.kind in _ASKING

    @property
    def is_effect(self) -> bool:
        """Whether the node is a managed effect."""
        return self.contract is not None


@frozen(kw_only=True)
class MountSpec:
    """One mounted child: its place in the graph, its first place and its ways out (name to node path)."""

    path: str
    workflow: str
    entry: str
    exits: dict[str, str]
    max_steps: int
    input_schema: JsonObject


@frozen(kw_only=True)
class Case:
    """One case of a switch."""

    value: CaseValue
    to: str


@frozen(kw_only=True)
class Switch:
    """Where a source leads by a value in its output; ``default`` is for what no case matches."""

    on: str
    cases: tuple[Case, ...]
    default: str | None = None


@frozen(kw_only=True)
class Limit:
    """The first ``visits`` entries per invocation go in, further ones go to ``to``."""

    visits: int
    to: str


@frozen(kw_only=True)
class Definition:
    """A whole compiled graph.

    Rules are keyed by full paths. A source is a node's path or a mount's way out, written ``docs[ready]``;
    a place is a node's or a mount's path.

    Attributes:
        workflow: The workflow's name.
        description: The first paragraph of the file's docstring, or empty.
        entry: The first place.
        nodes: Every node by path, in the order they were written.
        mounts: Every mount by path.
        then: The next place by source.
        switches: The switch by source.
        catches: The next place by place and bad outcome.
        limits: The limit by place.
        max_steps: The last resort against loops.
        timeout_us: The limit of a whole run in microseconds; ``None`` for none.
        dynamic_timeout: The run's limit is a function, worked out at the start.
        input_schema: The JSON Schema of the input.
        presentation: The instructions for presenting the result, or ``None``.
        dynamic_presentation: They are a function's, worked out after the end.
    """

    workflow: str
    description: str = ""
    entry: str
    nodes: dict[str, NodeSpec]
    mounts: dict[str, MountSpec] = field(factory=dict)
    then: dict[str, str] = field(factory=dict)
    switches: dict[str, Switch] = field(factory=dict)
    catches: dict[str, dict[str, str]] = field(factory=dict)
    limits: dict[str, Limit] = field(factory=dict)
    max_steps: int = 1000
    timeout_us: int | None = None
    dynamic_timeout: bool = False
    input_schema: JsonObject = field(factory=dict)
    presentation: str | None = None
    dynamic_presentation: bool = False

    def snapshot(self) -> JsonObject:
        """The definition as a JSON object, whole."""
        document = to_json(self, Definition)
        assert isinstance(document, dict)
        return document

    @classmethod
    def from_snapshot(cls, document: Json) -> "Definition":
        """Read a snapshot back.

        Raises:
            NotConvertible: When the document is no snapshot of this version.
        """
        return from_json(document, cls)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the snapshot's canonical JSON, in hex."""
        return sha256(encode(self.snapshot()).encode()).hexdigest()

    def mounts_around(self, path: str) -> Iterator[MountSpec]:
        """The mounts that a path stands in, innermost first."""
        while path := path.rpartition("/")[0]:
            yield self.mounts[path]
