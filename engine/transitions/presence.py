"""What the present coordinators know: which messages their branches hold or lack (page 07, "Messages")."""

from collections.abc import Callable, Collection
from typing import Final

from attrs import define, field

from runwright.engine.decisions.message import QUIET

#: Messages and sessions remembered; the ones untouched for longest go, and are asked for again.
MOST_MESSAGES: Final = 1_000
MOST_SESSIONS: Final = 10_000


@define
class _Known:
    """What one coordinator has told; messages in the order in which it did."""

    epoch: str
    messages: dict[str, bool] = field(factory=dict)
    handed: dict[str, float] = field(factory=dict)


class Presence:
    """The knowledge of each session's coordinator, in the holder's memory.

    It dies with the connection that it came by: a new epoch is asked anew. Whether a message was handed out, and how
    often, stands in its row; only for how long ago that was is kept here, on the clock that never jumps.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._sessions: dict[str, _Known] = {}

    def connected(self, session: str, epoch: str | None) -> bool:
        """Whether a coordinator of that epoch was heard of since this process holds the store."""
        known = self._sessions.get(session)
        return known is not None and known.epoch == epoch

    def heard(self, session: str, epoch: str) -> None:
        """A coordinator said something; another epoch's knowledge is gone."""
        self._of(session, epoch)

    def gone(self, session: str) -> None:
        """The coordinator left."""
        self._sessions.pop(session, None)

    def known(self, session: str, epoch: str | None) -> Collection[str]:
        """The messages whose presence that coordinator has told."""
        known = self._sessions.get(session)
        return () if known is None or known.epoch != epoch else known.messages.keys()

    def in_flight(self, session: str, epoch: str | None) -> Collection[str]:
        """The messages that coordinator was handed here, and has not told the presence of."""
        known = self._sessions.get(session)
        return () if known is None or known.epoch != epoch else known.handed.keys() - known.messages.keys()

    def present(self, session: str, epoch: str, message: str) -> None:
        """A message stands on the active branch."""
        self._tell(session, epoch, message, True)

    def absent(self, session: str, epoch: str, message: str, *, handed: bool) -> None:
        """A message is not on the branch of an agent that rests.

        Right after this coordinator was handed it, that proves nothing: agents defer what they were given.

        Args:
            session: The session.
            epoch: The coordinator's.
            message: The message.
            handed: Whether this coordinator was handed it, as its row says.
        """
        if handed:
            since = self._of(session, epoch).handed.setdefault(message, self._monotonic())
            if self._monotonic() - since < QUIET:
                return
        self._tell(session, epoch, message, False)

    def forget(self, session: str, epoch: str, message: str) -> None:
        """What was known of a message may be so no longer: it is asked for again."""
        self._of(session, epoch).messages.pop(message, None)

    def handed(self, session: str, epoch: str, message: str) -> None:
        """A message is handed out: whether it arrives is not known."""
        known = self._of(session, epoch)
        known.messages.pop(message, None)
        known.handed.pop(message, None)
        known.handed[message] = self._monotonic()
        _bound(known.handed, MOST_MESSAGES)

    def _tell(self, session: str, epoch: str, message: str, there: bool) -> None:
        known = self._of(session, epoch)
        known.messages.pop(message, None)
        known.messages[message] = there
        _bound(known.messages, MOST_MESSAGES)

    def _of(self, session: str, epoch: str) -> _Known:
        known = self._sessions.pop(session, None)
        if known is None or known.epoch != epoch:
            known = _Known(epoch)
        self._sessions[session] = known
        _bound(self._sessions, MOST_SESSIONS)
        return known


def _bound(remembered: "dict[str, object] | dict[str, bool] | dict[str, float] | dict[str, _Known]", most: int) -> None:
    while len(remembered) > most:
        del remembered[next(iter(remembered))]
