"""Which run holds a session (`reservations`)."""

from attrs import frozen


@frozen(kw_only=True)
class ReservationRow:
    """A run that holds a session; a row exists only while it does."""

    run_id: str
    session: str
    workflow: str
    since: int
