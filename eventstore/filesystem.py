"""Which file system a folder stands on, and whether SQLite's WAL can be trusted there."""

import re
import sys
from pathlib import Path

from runwright.eventstore.errors import UnsafeFilesystem

#: File systems whose locks or shared memory do not reach every machine that can write there.
_SHARED = frozenset(
    """
    9p acfs afs beegfs ceph cifs coda davfs drvfs fuse.ceph fuse.cephfs fuse.davfs2 fuse.dropbox fuse.gcsfuse
    fuse.glusterfs fuse.goofys fuse.grpcfuse fuse.gvfsd-fuse fuse.juicefs fuse.moosefs fuse.osxfs fuse.rclone
    fuse.s3fs fuse.seaweedfs fuse.smbnetfs fuse.sshfs fuse.vmhgfs-fuse fuse.vsockfs gfs2 glusterfs gpfs lustre
    ncpfs nfs nfs4 ocfs2 orangefs prl_fs pvfs2 smb3 smbfs vboxsf virtiofs vmhgfs
    """.split()  # noqa: SIM905 - a list that people read
)

_MOUNTS = Path("/proc/self/mountinfo")


def check(folder: Path, mounts: Path = _MOUNTS) -> None:
    """Refuse a folder on a network or shared file system.

    Args:
        folder: An existing folder.
        mounts: The kernel's list of mounts.

    Raises:
        UnsafeFilesystem: Its file system is known for losing locks or mixing up memory maps.
    """
    kind = _linux_kind(folder.resolve(), mounts) if sys.platform == "linux" else _other_kind(folder.resolve())
    if kind is not None:
        raise UnsafeFilesystem(folder, kind)


def _linux_kind(folder: Path, mounts: Path) -> str | None:
    """Answer the name of a shared file system, or ``None``; the last of the longest mounts is in force."""
    try:
        lines = mounts.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None  # no /proc: nothing can be told, and a local disk is what people have
    longest, found = -1, ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        point = Path(_unescaped(fields.split(" ")[4]))
        if (folder == point or point in folder.parents) and len(point.parts) >= longest:
            longest, found = len(point.parts), rest.split(" ")[0]
    return found if found in _SHARED else None


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)


def _other_kind(folder: Path) -> str | None:
    """Answer the name of a file system that macOS does not call local, or ``None``."""
    import psutil  # type: ignore[import-untyped] # no stubs; takes a while to import, and Linux needs it for other things only

    longest, found, options = -1, "", "local"
    for each in psutil.disk_partitions(all=True):
        point = Path(each.mountpoint)
        if (folder == point or point in folder.parents) and len(point.parts) >= longest:
            longest, found, options = len(point.parts), each.fstype, each.opts
    return None if "local" in options.split(",") else found
