"""Receipts of accepted commands (`receipts`)."""

from attrs import frozen


@frozen(kw_only=True)
class ReceiptRow:
    """What a client's key was used for; ``first`` is the position of the command's first event."""

    client: str
    key: str
    operation: str
    fingerprint: str
    outcome: str
    run_id: str | None
    first: int | None
