"""A process is named so exactly that another one is never taken for it."""

import os
import subprocess
import sys

from attrs import evolve

from runwright.engine.processes import is_alive, own_identity


def test_own_process_lives() -> None:
    """This process knows itself and is alive."""
    own = own_identity()
    assert own.pid == os.getpid()
    assert is_alive(own) is True


def test_a_reused_number_is_somebody_else() -> None:
    """The same process ID with another start time is not the same process."""
    own = own_identity()
    assert is_alive(evolve(own, start=own.start + 1)) is False


def test_another_boot_is_dead() -> None:
    """Nothing survives a boot."""
    assert is_alive(evolve(own_identity(), boot="another")) is False


def test_another_namespace_is_unknown() -> None:
    """A process of another pid namespace cannot be judged from here."""
    assert is_alive(evolve(own_identity(), namespace="1")) is None


def test_an_ended_process_is_dead() -> None:
    """A process that ended is dead, also before its parent has fetched its end."""
    script = (
        "from runwright.engine.processes import own_identity as o; i = o(); print(i.boot, i.namespace, i.pid, i.start)"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    boot, namespace, pid, start = child.stdout.read().split()
    ended = evolve(own_identity(), boot=boot, namespace=namespace, pid=int(pid), start=int(start))
    child.stdout.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_alive(ended) is False
    child.wait()
    assert is_alive(ended) is False
