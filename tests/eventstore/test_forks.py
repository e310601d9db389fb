"""After a fork the child can do nothing with the store, and nothing to it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

SCRIPT = textwrap.dedent(
    """
    import gc, os, sys
    from pathlib import Path
    from runwright.eventstore.envelope import ANY
    from runwright.eventstore.errors import Forked, StoreInUse
    from runwright.eventstore.log import EventLog, LogReader
    sys.path.insert(0, sys.argv[2])
    from support.stores import appending, opened

    home = Path(sys.argv[1])
    log = opened(home)
    log.transact(appending("run/a")).result()
    following = log.subscribe(0)
    beside = LogReader.open(home)
    list(beside.read_all())
    child = os.fork()
    if child == 0:
        uses = [
            lambda: log.transact(appending("run/a")),
            lambda: list(log.read_all()),
            lambda: log.head(),
            lambda: log.checkpoint(),
            lambda: log.subscribe(0),
            lambda: beside.event(1),
            lambda: following.next(0),
            lambda: LogReader.open(home),
            lambda: opened(home),
        ]
        for use in uses:
            try:
                use()
            except (Forked, StoreInUse):
                continue
            os._exit(3)
        log.close(); beside.close()
        del log, beside, following, uses, use
        gc.collect()
        sys.exit(0)   # the interpreter's whole end, with all its finalisers
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status, sorted(path.name for path in home.iterdir() if "log.sqlite" in path.name))
    log.transact(appending("run/a")).result()
    print(log.head().position, len(list(beside.read_all())))
    sys.stdout.flush()
    os._exit(0)       # a crash: what is durable has to be in the files
    """
)


def test_a_forked_child_hears_so_and_leaves_the_store_alone(tmp_path: Path) -> None:
    """Every call raises, the WAL survives the child's end, and the parent keeps lock and store."""
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(tmp_path / "home"), str(tests)],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(tests)},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["0 ['log.sqlite', 'log.sqlite-shm', 'log.sqlite-wal']", "3 3"]


def test_the_parent_keeps_the_lock_when_a_child_ends(tmp_path: Path) -> None:
    """The child only closes its descriptor."""
    script = textwrap.dedent(
        """
        import os, sys, subprocess
        from pathlib import Path
        from runwright.eventstore.errors import StoreInUse
        from runwright.eventstore.home import Home
        from runwright.eventstore.lock import StoreLock
        home = Home(Path(sys.argv[1])); home.prepare()
        lock = StoreLock.take(home)
        child = os.fork()
        if child == 0:
            lock.release()
            os._exit(0)
        os.waitpid(child, 0)
        try:
            StoreLock.take(home)
        except StoreInUse as error:
            print(error.pid == os.getpid())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "home")], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
