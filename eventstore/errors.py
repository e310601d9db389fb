"""What can go wrong with the store, as one small tree of errors that write their own sentences.

StoreError
├── ValueRefused            a value that JSON, or a header, cannot carry
├── PayloadTooLarge         a value over its limit
├── WrongExpectedVersion    the stream is not where the caller believed
├── EventUnreadable         a stored event that this program cannot read
│   └── UnknownEvent
├── StoreMissing            there is no store here
├── StoreInUse              another process holds it
├── StoreBusy               something outside keeps it locked
├── StoreFull               the disk takes no more
├── WriteRefused            a constraint, the last guard, was in the way
├── StoreUnavailable        it cannot answer now, or the outcome is not known
├── StoreClosed             this handle was closed
├── Forked                  this handle belongs to the parent process
├── NestedTransaction       a transaction was asked for inside another
├── StoreReadonly           it may be read but not written
├── StoreForeign            the file is not ours
├── StoreNewer              it was written by a newer program
├── StoreLayoutDiffers      it has another layout
├── StoreCorrupt            it is damaged
├── TransferError           a log on its way out or in: `runwright.eventstore.transfer.errors`
├── UnsafeFilesystem        it stands on a network or shared file system
├── UnsafeHome              others could reach it
├── UnusableHome            no store can stand there
└── SqliteTooOld            this Python's SQLite cannot hold it

No message holds a value, a parameter or text of SQLite.
"""

from pathlib import Path
from typing import ClassVar, Final


class StoreError(Exception):
    """The parent of all errors of the event store.

    Attributes:
        code: The stable code of the class.
        message: What is wrong, one sentence.
        hint: The next step, one sentence.
    """

    code: ClassVar[str] = "store_error"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message} {hint}")
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.args, self.__dict__)


def _revive(cls: type[StoreError], args: tuple[object, ...], facts: dict[str, object]) -> StoreError:
    """Rebuild a copied or unpickled error without its own constructor's arguments."""
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(facts)
    return error


class ValueRefused(StoreError):
    """A value that cannot be stored as it is; ``path`` says where (``$.a[1].b``, or a header's name)."""

    code = "value_refused"

    def __init__(self, path: str, problem: str, fix: str) -> None:
        super().__init__(f"{path} {problem};", f"{fix}.")
        self.path = path
        self.problem = problem
        self.fix = fix


class PayloadTooLarge(StoreError):
    """A value is over its limit; ``size`` is ``None`` where counting stopped at the limit."""

    code = "payload_too_large"

    def __init__(self, what: str, limit: int, size: int | None = None) -> None:
        found = "more" if size is None else f"{size:,} bytes"
        super().__init__(
            f"{what} may have {limit:,} bytes when encoded and has {found}.",
            "Store the content in a file and keep its path and digest here.",
        )
        self.what = what
        self.limit = limit
        self.size = size


class WrongExpectedVersion(StoreError):
    """The stream is at another version than the caller expected; nothing was changed."""

    code = "wrong_expected_version"

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(
            f"Stream {stream} was expected at version {expected} and is at {actual}.",
            "Read it again and decide anew.",
        )
        self.stream = stream
        self.expected = expected
        self.actual = actual


class EventUnreadable(StoreError):
    """A stored event has not the shape that its type has in this program."""

    code = "event_unreadable"

    def __init__(self, position: int, type: str, problem: str) -> None:
        super().__init__(
            f"The event at position {position} ({type}) cannot be read: {problem}.",
            "Use the version of runwright that wrote it, or run `runwright log verify`.",
        )
        self.position = position
        self.type = type
        self.problem = problem


class UnknownEvent(EventUnreadable):
    """A stored event has a type that this program does not know."""

    code = "unknown_event"

    def __init__(self, position: int, type: str) -> None:
        super().__init__(position, type, "this version knows no such type")


class StoreMissing(StoreError):
    """There is no store at this place."""

    code = "store_missing"

    def __init__(self, path: Path) -> None:
        super().__init__(f"There is no store at {path}.", "Start a run, or name another folder with --home.")
        self.path = path


class StoreInUse(StoreError):
    """Another process holds the store; ``pid`` is ``None`` where it left no number."""

    code = "store_in_use"

    def __init__(self, pid: int | None) -> None:
        holder = "Another process" if pid is None else f"Process {pid}"
        super().__init__(f"{holder} holds the store.", "Let it finish, stop it, or use another --home.")
        self.pid = pid


class StoreBusy(StoreError):
    """Something outside kept the store locked for longer than we wait; nothing was changed."""

    code = "store_busy"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"Another program keeps {path.name} locked.",
            "Close what has it open (a database shell, a backup tool), then try again.",
        )
        self.path = path


class StoreFull(StoreError):
    """The disk takes no more data (full, over a quota or a size limit); nothing was changed."""

    code = "store_full"

    def __init__(self, path: Path) -> None:
        super().__init__(f"The disk takes no more data for {path.name}.", "Free some space, then try again.")
        self.path = path


class WriteRefused(StoreError):
    """A guard of the store itself refused what was to be written; nothing was changed."""

    code = "write_refused"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"A constraint of {path.name} refused what was to be written.",
            "This is a mistake in runwright: please report it.",
        )
        self.path = path


#: Why a store is unavailable whose directory is not the one any more that it was opened in.
LOST: Final = "its files were removed or replaced while it was open"


class StoreUnavailable(StoreError):
    """The store cannot answer; where it was writing, the outcome is unknown until it is asked again."""

    code = "store_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store is unavailable: {reason}.", "Repeat the command with the same key.")
        self.reason = reason


class StoreClosed(StoreError):
    """This handle was closed."""

    code = "store_closed"

    def __init__(self) -> None:
        super().__init__("The store was closed.", "Open it again.")


class Forked(StoreError):
    """The process was forked after the store was opened; only the parent may use this handle."""

    code = "forked"

    def __init__(self) -> None:
        super().__init__(
            "The store was opened before this process was forked.", "Open it again in this process, or use spawn."
        )


class NestedTransaction(StoreError):
    """A transaction was asked for inside a transaction, or outside its own."""

    code = "nested_transaction"

    def __init__(self) -> None:
        super().__init__(
            "A unit of work reached for a transaction other than its own.",
            "Append through the `tx` that was passed in, and only until the unit returns.",
        )


class StoreReadonly(StoreError):
    """The store may be read but not written."""

    code = "store_readonly"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The store is read-only: {reason}.", "Run `runwright store adopt` to carry on from this copy."
        )
        self.reason = reason


class StoreForeign(StoreError):
    """A file that is not ours stands where the store should be; it was not touched."""

    code = "store_foreign"

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} is not a Runwright store: {what}.", "Move it aside, or use another --home.")
        self.path = path
        self.what = what


class StoreNewer(StoreError):
    """A newer version of runwright wrote the store; it was not touched."""

    code = "store_newer"

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}; this version knows schemas up to {known}.",
            "Update runwright, or use another --home.",
        )
        self.path = path
        self.found = found
        self.known = known


class StoreLayoutDiffers(StoreError):
    """The store's tables are not laid out as this version does it; it was not touched."""

    code = "store_layout"

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path} has another layout: {what}.",
            "Back it up and move it aside; `runwright log export` and `runwright store import` "
            "into a new home carry its events over.",
        )
        self.path = path
        self.what = what


class StoreCorrupt(StoreError):
    """The store is damaged; ``what`` names the check that failed."""

    code = "store_corrupt"

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path} is damaged: {what}.",
            "Run `runwright log verify` to see what is whole, and restore a backup.",
        )
        self.path = path
        self.what = what


class UnsafeFilesystem(StoreError):
    """The folder stands on a file system whose locks or memory maps cannot be trusted."""

    code = "unsafe_filesystem"

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(
            f"{path} is on a network or shared file system ({kind}).",
            "Use a local disk (--home), or take the risk with --unsafe-filesystem.",
        )
        self.path = path
        self.kind = kind


class UnsafeHome(StoreError):
    """Somebody else could reach, or has put there, what stands in the state directory."""

    code = "unsafe_home"

    def __init__(self, path: Path, what: str, fix: str) -> None:
        super().__init__(f"{path} is not safe to use: {what}.", fix)
        self.path = path
        self.what = what


class UnusableHome(StoreError):
    """No store can stand at this place: the system refuses, or the path is too long."""

    code = "unusable_home"

    def __init__(self, path: Path, what: str, fix: str = "Name another directory with --home.") -> None:
        super().__init__(f"{path} cannot be the state directory: {what}.", fix)
        self.path = path
        self.what = what


class SqliteTooOld(StoreError):
    """The SQLite that this Python was built with cannot hold the store."""

    code = "sqlite_too_old"

    def __init__(self, found: str, needed: str) -> None:
        super().__init__(f"SQLite {found} is too old; {needed} is needed.", "Use a newer Python build.")
        self.found = found
        self.needed = needed
