"""The state directory: where each file stands, and that nobody else can reach it."""

import os
import shlex
import stat
from pathlib import Path

from attrs import field, frozen

from runwright.eventstore.errors import StoreMissing, UnsafeHome, UnusableHome

#: How every file of SQLite begins.
SQLITE_MAGIC = b"SQLite format 3\0"

#: SQLite takes no path over 512 bytes, its own suffix and the closing NUL included.
MOST_BYTES = 512 - len("/look/log.sqlite-journal") - 1

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def _absolute(path: Path) -> Path:
    return path.absolute()


@frozen
class Home:
    """The places of the store's files in one state directory.

    Attributes:
        path: The directory; absolute, because the process may change its own while the store is open.
    """

    path: Path = field(converter=_absolute)

    @property
    def log(self) -> Path:
        """The log itself."""
        return self.path / "log.sqlite"

    @property
    def wal(self) -> Path:
        """What was committed and does not stand in the log's file yet."""
        return self.path / "log.sqlite-wal"

    @property
    def views(self) -> Path:
        """The views, which may be dropped at any moment."""
        return self.path / "views.sqlite"

    @property
    def store_id(self) -> Path:
        """What tells this store from a copy of it."""
        return self.path / "store.id"

    @property
    def receipts_key(self) -> Path:
        """The key of the receipts' fingerprints."""
        return self.path / "receipts.key"

    @property
    def lock(self) -> Path:
        """The file whose kernel lock means holding the store."""
        return self.path / "host.lock"

    @property
    def socket(self) -> Path:
        """The host's socket."""
        return self.path / "host.sock"

    @property
    def host_log(self) -> Path:
        """The host's own log."""
        return self.path / "host.log"

    @property
    def runs(self) -> Path:
        """The folder of all runs' folders."""
        return self.path / "runs"

    def run_folder(self, run_id: str) -> Path:
        """Answer the folder of one run's captured output and scratch files."""
        if not run_id or "/" in run_id or "\0" in run_id or run_id in {".", ".."}:
            raise ValueError("a run ID is no path")
        return self.runs / run_id

    def prepare(self) -> None:
        """Make the directory with mode 0700 where it is missing, and check it.

        Raises:
            UnsafeHome: It is no directory, belongs to somebody else, or others may enter it.
            UnusableHome: It cannot be made, its path is too long, or a file in it is kept from its owner.
        """
        size = len(os.fsencode(os.path.realpath(self.path)))
        if size > MOST_BYTES:
            raise UnusableHome(self.path, f"its path has {size} bytes, and SQLite can take {MOST_BYTES}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700)
            self.path.chmod(0o700)  # a umask can take bits from us, too
        except FileExistsError:
            found = self._found()
            if found is None:
                raise UnusableHome(self.path, "something above it is no directory") from None
            if stat.S_ISDIR(found.st_mode) and _is_ours(found) and not any(self.path.iterdir()):
                self.path.chmod(0o700)  # an empty folder that its owner handed to us
        except OSError as error:
            raise UnusableHome(self.path, _refusal(error)) from None
        self.check()
        for path in self._files():
            _refuse_kept_from_us(path)

    def check(self) -> None:
        """Check the directory and every file of ours that stands in it, changing nothing.

        Raises:
            StoreMissing: Nothing stands there.
            UnsafeHome: Something belongs to somebody else, is a link, or is open to others.
            UnusableHome: It cannot be looked at.
        """
        found = self.look()
        _refuse_strangers(self.path, found, "700")
        for path in self._files():
            check_file(path)
        _check_folder(self.runs)

    def look(self) -> os.stat_result:
        """Answer how the directory stands there, whoever may enter it.

        Raises:
            StoreMissing: Nothing stands there.
            UnsafeHome: It is no directory.
            UnusableHome: It cannot be looked at.
        """
        found = self._found()
        if found is None:
            raise StoreMissing(self.path)
        if not stat.S_ISDIR(found.st_mode):
            raise UnsafeHome(self.path, "it is no directory", "Name a directory with --home.")
        return found

    def _found(self) -> os.stat_result | None:
        """What stands there, a link with nothing behind it included; ``None`` where nothing does."""
        for look in (self.path.stat, self.path.lstat):
            try:
                return look()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise UnusableHome(self.path, _refusal(error)) from None
        return None

    def _files(self) -> tuple[Path, ...]:
        log = [self.log.with_name(self.log.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
        return (*log, self.views, self.store_id, self.receipts_key, self.lock, self.host_log)


def check_file(path: Path) -> None:
    """Check that a file, where it exists, is a plain file of ours that others cannot open.

    Raises:
        UnsafeHome: It is not.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeHome(path, "it is a link", "Put the file itself there, or use another --home.")
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeHome(path, "it is no plain file", "Move it aside, or use another --home.")
    _refuse_strangers(path, found, "600")


def _check_folder(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeHome(path, "it has to be a folder, and is none", "Move it aside, or use another --home.")
    _refuse_strangers(path, found, "700")


def create_file(path: Path) -> int:
    """Create a new file with mode 0600 from its first instant and answer its descriptor."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)  # a umask can take bits from us, too
    return descriptor


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(error: OSError) -> str:
    if isinstance(error, NotADirectoryError):
        return "something above it is no directory"
    return f"the system refuses it ({error.strerror or type(error).__name__})"


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid()


def _refuse_kept_from_us(path: Path) -> None:
    """Refuse a file that its owner may not read and write: SQLite would make the files beside it the same way."""
    if path.exists() and path.stat().st_mode & 0o600 != 0o600:
        problem = f"{path.name} may not be read and written by its owner"
        raise UnusableHome(path.parent, problem, f"Run `chmod 600 {shlex.quote(str(path))}`.")


def _refuse_strangers(path: Path, found: os.stat_result, mode: str) -> None:
    if not _is_ours(found):
        raise UnsafeHome(path, "it belongs to another user", "Use a directory of your own (--home).")
    if found.st_mode & _OTHERS:
        raise UnsafeHome(path, "other users may open it", f"Run `chmod {mode} {shlex.quote(str(path))}`.")
