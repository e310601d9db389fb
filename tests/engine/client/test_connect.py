"""Reaching the host of a state directory."""

import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from runwright.engine.client.connect import reach


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system refuses who finds no room")
def test_a_host_before_which_too_many_wait_is_reached_when_it_takes_some(tmp_path: Path) -> None:
    """It lives: whoever comes waits in line, and starts no other."""
    waiting = []
    with socket.socket(socket.AF_UNIX) as host:
        host.bind(str(tmp_path / "sock"))
        host.listen(1)
        while True:
            each = socket.socket(socket.AF_UNIX)
            each.setblocking(False)
            waiting.append(each)
            try:
                each.connect(str(tmp_path / "sock"))
            except BlockingIOError:
                break
        taken = []

        def take() -> None:
            time.sleep(0.1)
            taken.append(host.accept()[0])

        taking = threading.Thread(target=take)
        taking.start()
        found = reach(tmp_path / "sock")
        taking.join()
        assert found is not None
        for every in (found, *taken, *waiting):
            every.close()


def test_a_socket_that_a_dead_host_left_is_nobodys(tmp_path: Path) -> None:
    """It is said at once."""
    with socket.socket(socket.AF_UNIX) as host:
        host.bind(str(tmp_path / "sock"))
    assert reach(tmp_path / "sock") is None
    assert reach(tmp_path / "none") is None
