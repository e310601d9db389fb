"""What can go wrong with a log on its way out or in.

TransferError (a StoreError)
├── StoreExists             there is a store where a new one should go
├── HeadUnreadable          a kept head is not POSITION:HASH
├── NothingToExport         the log holds no such event
├── ExportUnreadable        the file of an export cannot be read
├── NoExport                a file is something else than a native export
├── ExportDamaged           an export does not hold
├── ExportIncomplete        an export lacks what an import needs
├── TargetExists            a file stands where a backup should go
└── TargetUnwritable        a backup cannot be written there

No message holds a value.
"""

from pathlib import Path

from runwright.eventstore.errors import StoreError


class TransferError(StoreError):
    """The parent of what can go wrong with exports, imports and backups."""

    code = "transfer_error"


class StoreExists(TransferError):
    """A store stands where an import should make one; it was not touched."""

    code = "store_exists"

    def __init__(self, path: Path) -> None:
        super().__init__(f"There is a store at {path} already.", "Import into an empty folder (--home).")
        self.path = path


class HeadUnreadable(TransferError):
    """A head that was handed in is not one."""

    code = "head_unreadable"

    def __init__(self) -> None:
        super().__init__(
            "A head is written POSITION:HASH, the hash in 64 lower-case hex digits.",
            "Copy it from `runwright log head`.",
        )


class NothingToExport(TransferError):
    """The log holds no event of the kind that was asked for."""

    code = "nothing_to_export"

    def __init__(self) -> None:
        super().__init__("The log holds no such event.", "See `runwright events` and `runwright runs`.")


class ExportUnreadable(TransferError):
    """The file of an export cannot be read at all."""

    code = "export_unreadable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"The file {path} cannot be read: {reason}.", "Check the name and the rights of the file.")
        self.path = path
        self.reason = reason


class NoExport(TransferError):
    """A file that should be a native export is something else: no line of it is one of an export."""

    code = "no_export"

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"The file {path} cannot be used: {detail}", "Name what `runwright log export` wrote in its native format."
        )
        self.path = path


class ExportDamaged(TransferError):
    """An export does not hold; ``position`` and ``problem`` are those of the verdict's first fault."""

    code = "export_damaged"

    def __init__(self, path: Path, position: int | None, problem: str, detail: str) -> None:
        super().__init__(
            f"The file {path} does not verify: {detail}", "Export the log again from a store that verifies."
        )
        self.path = path
        self.position = position
        self.problem = problem
        self.detail = detail


class ExportIncomplete(TransferError):
    """An export holds, and is not the whole log with its private values."""

    code = "export_incomplete"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The file {path} cannot become a store: {reason}.",
            "Use `runwright log export --with-values` of the whole log.",
        )
        self.path = path
        self.reason = reason


class TargetExists(TransferError):
    """Something stands where a backup should be written; it was not touched."""

    code = "target_exists"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} exists already.", "Name a file that does not exist yet.")
        self.path = path


class TargetUnwritable(TransferError):
    """A backup cannot be written where it should go."""

    code = "target_unwritable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be written: {reason}.", "Name a file in a folder that you may write to.")
        self.path = path
        self.reason = reason
