"""Network and shared file systems are refused by name, and local disks give no false alarm."""

import sys
from pathlib import Path

import pytest

from runwright.eventstore import filesystem
from runwright.eventstore.errors import UnsafeFilesystem

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the mounts as Linux lists them")


def mounts(tmp_path: Path, *entries: tuple[str, str]) -> Path:
    """Write a list of mounts."""
    text = "".join(
        f"{20 + number} 1 8:1 / {point} rw,relatime shared:1 - {kind} /dev/x rw\n"
        for number, (point, kind) in enumerate(entries)
    )
    path = tmp_path / "mountinfo"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "vboxsf", "fuse.sshfs", "ceph"])
def test_a_shared_file_system_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    """The type is named, and what to do."""
    listed = mounts(tmp_path, ("/", "ext4"), (str(tmp_path), kind))
    with pytest.raises(UnsafeFilesystem, match=kind) as unsafe:
        filesystem.check(tmp_path, listed)
    assert "--unsafe-filesystem" in unsafe.value.hint


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "apfs", "fuseblk", "fuse.gocryptfs"]
)
def test_a_local_one_is_not(tmp_path: Path, kind: str) -> None:
    """Also where a shared one is mounted beside it or above it."""
    filesystem.check(tmp_path, mounts(tmp_path, ("/", "nfs"), (str(tmp_path), kind), (f"{tmp_path}x", "nfs")))


def test_the_last_mount_over_a_folder_is_in_force(tmp_path: Path) -> None:
    """Mounts hide what was mounted there before."""
    filesystem.check(tmp_path, mounts(tmp_path, (str(tmp_path), "nfs"), (str(tmp_path), "ext4")))


def test_a_mount_point_with_a_space_is_found(tmp_path: Path) -> None:
    """The kernel writes it as an octal escape."""
    folder = tmp_path / "a b"
    folder.mkdir()
    listed = mounts(tmp_path, ("/", "ext4"), (str(folder).replace(" ", r"\040"), "nfs"))
    with pytest.raises(UnsafeFilesystem):
        filesystem.check(folder, listed)


def test_a_link_into_such_a_mount_is_followed(tmp_path: Path) -> None:
    """What counts is where the folder really is."""
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    with pytest.raises(UnsafeFilesystem):
        filesystem.check(tmp_path / "near", mounts(tmp_path, ("/", "ext4"), (f"{tmp_path}/far", "cifs")))


def test_here_it_is_fine(tmp_path: Path) -> None:
    """The real list is read, and a missing one is no obstacle."""
    filesystem.check(tmp_path)
    filesystem.check(tmp_path, tmp_path / "none")
