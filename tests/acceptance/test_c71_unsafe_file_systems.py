"""C71: a state directory on a network or shared file system is refused by name, unless somebody insists."""

import sys
from pathlib import Path

import pytest

from runwright.eventstore import filesystem
from support.command_line import CommandLine
from support.sound import check_sound

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the mounts as Linux lists them")


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of mounts in which everything of this test stands on sshfs."""
    listed = tmp_path / "mountinfo"
    listed.write_text(
        "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/x rw\n"
        f"21 1 8:1 / {tmp_path} rw,relatime shared:1 - fuse.sshfs /dev/y rw\n"
    )
    defaults = filesystem.check.__defaults__
    monkeypatch.setattr(filesystem.check, "__defaults__", (listed,))
    assert defaults is not None
    return listed


@pytest.mark.parametrize("existing", [False, True])
def test_c71_it_is_refused_by_name_and_never_a_wal_in_silence(
    cli: CommandLine, mounted: Path, monkeypatch: pytest.MonkeyPatch, existing: bool
) -> None:
    """C71: the type and the way on are named; who insists gets a store without a WAL, and its status says so."""
    if existing:
        with monkeypatch.context() as local:
            local.setattr(filesystem.check, "__defaults__", (Path("/proc/self/mountinfo"),))
            cli("run", "--inline", "world.py:four")
    failure = cli("run", "--inline", "world.py:four", "--json", code=4).document["error"]
    assert failure["code"] == "unsafe_filesystem"
    assert "fuse.sshfs" in failure["message"]
    assert "--unsafe-filesystem" in failure["hint"]
    assert cli("run", "--inline", "world.py:four", "--unsafe-filesystem", "-q").out != ""
    assert (cli.home / "log.sqlite").read_bytes()[18:20] == b"\1\1"
    assert not (cli.home / "log.sqlite-wal").exists()
    facts = cli("store", "status", "--json").document
    assert facts["wal"] is False
    assert "WAL" in cli("store", "status").out
    check_sound(cli.home)
