"""The kernel lock: one holder, who is named, and who can vanish without leaving anything to clean up."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runwright.eventstore.errors import StoreInUse, UnsafeHome
from runwright.eventstore.home import Home
from runwright.eventstore.lock import StoreLock, given_back, holder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A prepared state directory."""
    made = Home(tmp_path / "home")
    made.prepare()
    return made


def test_a_second_holder_hears_who_the_first_is(home: Home) -> None:
    """By the process ID in the lock file's text."""
    lock = StoreLock.take(home)
    with pytest.raises(StoreInUse) as used:
        StoreLock.take(home)
    assert used.value.pid == os.getpid()
    lock.release()
    lock.release()
    StoreLock.take(home).release()
    assert home.lock.exists()


def test_waiting_ends_when_the_lock_is_released(home: Home) -> None:
    """A caller that is willing to wait gets it then."""
    lock = StoreLock.take(home)
    timer = threading.Timer(0.1, lock.release)
    timer.start()
    StoreLock.take(home, wait=30).release()
    timer.join()


def test_one_can_wait_until_another_has_given_it_back(home: Home) -> None:
    """Not for whoever has it now, only for the one that is named; and it is free afterwards."""
    lock = StoreLock.take(home)
    assert not given_back(home, holder(home), wait=0)
    assert given_back(home, 1, wait=0)
    timer = threading.Timer(0.1, lock.release)
    timer.start()
    assert given_back(home, holder(home), wait=30)
    StoreLock.take(home).release()
    timer.join()


def test_waiting_ends_when_the_time_is_up(home: Home) -> None:
    """And then it is the same answer."""
    lock = StoreLock.take(home)
    with pytest.raises(StoreInUse):
        StoreLock.take(home, wait=0.1)
    lock.release()


def test_a_killed_holder_leaves_no_lock(home: Home) -> None:
    """The kernel takes it back; the text that is left means nothing."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from runwright.eventstore.home import Home; from runwright.eventstore.lock import StoreLock\n"
        "lock = StoreLock.take(Home(Path(sys.argv[1]))); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StoreInUse) as used:
            StoreLock.take(home)
        assert used.value.pid == holder.pid
        holder.kill()
        holder.wait()
        StoreLock.take(home).release()


def test_a_lock_on_an_unlinked_file_does_not_count(home: Home) -> None:
    """Whoever removed the file while we locked it has locked another one."""
    taken = StoreLock.take(home)
    home.lock.unlink()
    second = StoreLock.take(home)
    second.release()
    taken.release()


def test_a_link_in_its_place_is_refused(home: Home, tmp_path: Path) -> None:
    """Nothing is created at the other end."""
    home.lock.symlink_to(tmp_path / "victim")
    with pytest.raises(UnsafeHome):
        StoreLock.take(home)
    assert not (tmp_path / "victim").exists()


def test_nonsense_in_the_text_is_no_process(home: Home) -> None:
    """The text is only a hint."""
    lock = StoreLock.take(home)
    home.lock.write_text("²")
    with pytest.raises(StoreInUse) as used:
        StoreLock.take(home)
    assert used.value.pid is None
    lock.release()
