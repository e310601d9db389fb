"""Effects as people are shown them."""

from datetime import datetime

from attrs import frozen

from runwright.engine.reading.times import moment, rfc3339
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.effects import EffectRow


@frozen(kw_only=True)
class Effect:
    """One side effect, without its private request and result.

    Attributes:
        effect: The effect ID.
        run_id: Its run.
        type: The effect type.
        path: The node's full path.
        visit: The visit.
        contract: ``manual``, ``idempotent`` or ``observed``.
        state: ``reserved``, ``applying``, ``applied``, ``rejected``, ``ambiguous`` or ``cancelled``.
        applications: How often it was tried.
        external_reference: What another system calls it.
        code: Why it was rejected.
        cause: Why it was last released, became ambiguous or was cancelled.
        since: Since when it is in that state.
    """

    effect: str
    run_id: str
    type: str
    path: str
    visit: int
    contract: str
    state: str
    applications: int
    external_reference: str | None
    code: str | None
    cause: str | None
    since: datetime

    @classmethod
    def of(cls, row: EffectRow) -> "Effect":
        """Show a row."""
        return cls(
            effect=row.effect,
            run_id=row.run_id,
            type=row.effect_type,
            path=row.path,
            visit=row.visit,
            contract=row.contract,
            state=row.state,
            applications=row.applications,
            external_reference=row.external_reference,
            code=row.code,
            cause=row.cause,
            since=moment(row.since),
        )

    def document(self) -> JsonObject:
        """The effect as a JSON object: every field is there."""
        return {
            "effect": self.effect,
            "run_id": self.run_id,
            "type": self.type,
            "path": self.path,
            "visit": self.visit,
            "contract": self.contract,
            "state": self.state,
            "applications": self.applications,
            "external_reference": self.external_reference,
            "code": self.code,
            "cause": self.cause,
            "since": rfc3339(self.since),
        }


@frozen(kw_only=True)
class EffectValues:
    """An effect with its private values; ``None`` where there is none, or it was erased."""

    effect: Effect
    request: Json
    result: Json

    def document(self) -> JsonObject:
        """The effect's own document with its values."""
        return {**self.effect.document(), "request": self.request, "result": self.result}
