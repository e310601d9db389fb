"""Side effects and how sure we are of them (`effects`)."""

from attrs import frozen


@frozen(kw_only=True)
class EffectRow:
    """One managed effect; ``request`` and ``result`` are positions of the events that hold the values."""

    effect: str
    run_id: str
    effect_type: str
    path: str
    visit: int
    fingerprint: str
    contract: str
    #: ``reserved``, ``applying``, ``applied``, ``rejected``, ``ambiguous``, ``cancelled``.
    state: str
    applications: int
    generation: int | None
    external_reference: str | None
    code: str | None
    cause: str | None
    request: int
    result: int | None
    since: int
