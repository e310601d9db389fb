"""What a run has told people on the way: the texts of its notify nodes, folded from its own stream."""

from typing import Final

from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.message import MessageQueued
from runwright.eventstore.events.node import NOTIFICATION, NodeStarted, NodeUpdated
from runwright.eventstore.values import Json, JsonObject
from runwright.projections.control.messages import MESSAGES
from runwright.projections.rows import Rows
from runwright.projections.shown import shown_time

#: Notifications that are kept, and the characters of their texts; of a run that tells more the oldest are counted.
MOST_NOTICES: Final = 100
MOST_TEXT: Final = 256 * 1024


@frozen(kw_only=True)
class Notice:
    """One notification.

    Attributes:
        at: When it was told (UTC microseconds).
        path: The full path of the node that told it.
        visit: The visit of that node.
        attempt: The attempt.
        kind: ``interim`` or ``final``; ``None`` where it was erased.
        text: What was told; ``None`` where it was erased.
        message: The message that brings it to the run's session; ``None`` where it has none.
    """

    at: int
    path: str
    visit: int
    attempt: int
    kind: str | None
    text: str | None
    message: str | None

    def document(self, rows: Rows) -> JsonObject:
        """Answer it as JSON; ``delivery`` says how far its message is, where it has one."""
        row = None if self.message is None else rows.get(MESSAGES, self.message)
        return {
            "at": shown_time(self.at),
            "node": self.path,
            "visit": self.visit,
            "kind": self.kind,
            "text": {"erased": True} if self.text is None else self.text,
            "delivery": None if row is None else row.state,
        }


class Notices:
    """The notifications of one run in the order in which they were told, bounded however many there are.

    Attributes:
        dropped: How many older ones are not kept.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._kept: list[Notice] = []
        self._size = 0
        #: The node at work, which is the one that tells: it is private in a message, like the text.
        self._open: NodeStarted | None = None

    @property
    def kept(self) -> tuple[Notice, ...]:
        """The newest ones."""
        return tuple(self._kept)

    @property
    def count(self) -> int:
        """How many there have been."""
        return self.dropped + len(self._kept)

    def apply(self, recorded: RecordedEvent) -> Notice | None:
        """Take the next event of the run's stream; answer the notification that it is, where it is one."""
        notice = None
        match recorded.type:
            case NodeStarted.type:
                event = recorded.event
                self._open = event if isinstance(event, NodeStarted) else None
            case NodeUpdated.type | MessageQueued.type:
                notice = self._told(recorded)
            case _:
                pass
        if notice is not None:
            self._keep(notice)
        return notice

    def document(self, rows: Rows) -> JsonObject:
        """Answer them as JSON: the newest ones, and how many older ones are left out."""
        items: list[Json] = [each.document(rows) for each in self._kept]
        return {"items": items, "dropped": self.dropped}

    def _keep(self, notice: Notice) -> None:
        self._kept.append(notice)
        self._size += len(notice.text or "")
        while len(self._kept) > MOST_NOTICES or (self._size > MOST_TEXT and len(self._kept) > 1):
            self._size -= len(self._kept.pop(0).text or "")
            self.dropped += 1

    def _told(self, recorded: RecordedEvent) -> Notice | None:
        of, event, message = self._open, recorded.event, None
        match event:
            case NodeUpdated(key=key) if key == NOTIFICATION:
                facts = _facts(event.update)
                kind, text = facts.get("notice"), facts.get("message")
                if kind is None and event.update is not None:
                    return None  # progress that a node reports under this name
            case MessageQueued(kind="notification"):
                kind, text = _facts(event.content).get("kind"), None if event.text is None else event.text.value
                message = event.message
            case _:
                return None
        if of is None:
            return None
        return Notice(
            at=recorded.at,
            path=of.path,
            visit=of.visit,
            attempt=of.attempt,
            kind=None if kind is None else str(kind),
            text=None if text is None else str(text),
            message=message,
        )


def _facts(content: Content | None) -> JsonObject:
    """What stands in a private value; nothing where it was erased."""
    return content.value if content is not None and isinstance(content.value, dict) else {}
