"""Subscriptions as data: what begins one, what each event of it brings, and where it goes on."""

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from runwright.engine.client.asking import Ask, Document
from runwright.engine.protocol.envelopes import Event, Failure
from runwright.engine.protocol.fields import load
from runwright.eventstore.values import JsonObject

T = TypeVar("T")

#: What the host says where nothing can follow.
FINISHED: Final = "finished"
#: The host ends a subscription with these, and another one, or the same later, takes it up.
_GOES_ON: Final = frozenset({"store_closed", "store_unavailable", "host_busy"})


class Following(Protocol[T]):
    """One subscription, whoever drives it."""

    #: Whether it goes on by itself after a lost connection.
    resumes: bool

    @property
    def position(self) -> int:
        """Where it stands."""
        ...

    def ask(self) -> Ask:
        """The call that begins it, or goes on after what was taken."""
        ...

    def begun(self, answer: Document) -> list[T]:
        """Take the answer of that call; answer what it brings."""
        ...

    def take(self, event: Event) -> list[T]:
        """Take an event; answer what it brings."""
        ...


def ending(event: Event) -> Failure | None:
    """Why a subscription ended; ``None`` where nothing can follow any more."""
    failure = load(Failure, event.payload)
    return None if failure.code == FINISHED else failure


def goes_on(failure: Failure) -> bool:
    """Whether a subscription that ended like this is taken up again."""
    return failure.code in _GOES_ON


class Events:
    """Events in order, each exactly once."""

    resumes = True

    def __init__(
        self, run_id: str | None = None, *, after: int = 0, types: Sequence[str] = (), values: bool = False
    ) -> None:
        self.position = after
        self._run_id = run_id
        self._types = list(types)
        self._values = values

    def ask(self) -> Ask:
        """The call that begins it, or goes on after what was taken."""
        payload: JsonObject = {"after": self.position, "types": [*self._types], "values": self._values}
        return Ask(operation="events.subscribe", run_id=self._run_id, payload=payload)

    def begun(self, answer: Document) -> list[Document]:
        """The answer brings nothing."""
        del answer
        return []

    def take(self, event: Event) -> list[Document]:
        """The events of a frame."""
        items = event.payload["items"]
        assert isinstance(items, list)
        self.position = event.position
        return [each for each in items if isinstance(each, dict)]


class View:
    """The newest view, each time there is one; what was overtaken meanwhile is left out."""

    resumes = True

    def __init__(self, run_id: str | None = None, *, after: int = 0) -> None:
        self.position = after
        self._run_id = run_id

    def ask(self) -> Ask:
        """The call that begins it, or goes on after what was taken."""
        return Ask(operation="view.subscribe", run_id=self._run_id, payload={"after": self.position})

    def begun(self, answer: Document) -> list[Document]:
        """The answer brings nothing."""
        del answer
        return []

    def take(self, event: Event) -> list[Document]:
        """One view."""
        self.position = event.position
        return [event.payload]


class Session:
    """The newest view of a session, each time there is one; one that hands a message out is never left out.

    A coordinator's does not go on by itself: what was handed out may be lost with the connection, and in a new epoch it
    is handed out again at once.
    """

    def __init__(self, session: str, epoch: str | None = None) -> None:
        self.resumes = epoch is None
        self.position = 0
        self._session = session
        self._epoch = epoch

    def ask(self) -> Ask:
        """The call that begins it, or begins it again."""
        return Ask(operation="view.subscribe", payload={"session": self._session, "epoch": self._epoch})

    def begun(self, answer: Document) -> list[Document]:
        """The answer brings nothing."""
        del answer
        return []

    def take(self, event: Event) -> list[Document]:
        """One view."""
        self.position = event.position
        return [event.payload]


class Lines:
    """The lines of a run's output log, each once, until the run has ended."""

    resumes = True

    def __init__(self, run_id: str, *, node: str | None = None, after: int = 0) -> None:
        self.position = after
        self._run_id = run_id
        self._node = node

    def ask(self) -> Ask:
        """The call that begins it, or goes on after what was taken."""
        payload: JsonObject = {"node": self._node, "after": self.position, "follow": True}
        return Ask(operation="run.logs", run_id=self._run_id, payload=payload)

    def begun(self, answer: Document) -> list[str]:
        """The lines that were there."""
        self.position = int(answer["next"])
        return [str(each) for each in answer["lines"]]

    def take(self, event: Event) -> list[str]:
        """Lines that came."""
        return self.begun(event.payload)
