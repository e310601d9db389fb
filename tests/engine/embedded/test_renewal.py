"""Leases are renewed by a thread of their own, and only while there are any."""

import threading

from runwright.engine.commands.worker import Authority
from runwright.engine.embedded.renewal import LeaseRenewal


def authority(run_id: str) -> Authority:
    """A claim of a run."""
    return Authority(run_id=run_id, owner=f"host:{run_id}", token="00", generation=1)


def test_renews_what_is_held() -> None:
    """A held claim is renewed again and again, while the caller does something else."""
    renewed = threading.Semaphore(0)
    renewal = LeaseRenewal(lambda _: renewed.release(), every=0.001)
    renewal.hold(authority("a"))
    assert all(renewed.acquire(timeout=10) for _ in range(3))
    renewal.close()


def test_sleeps_without_claims() -> None:
    """After the last claim was dropped nothing is renewed, and a new one wakes the thread."""
    held = authority("a")
    seen: list[str] = []
    arrived = threading.Event()

    def renew(each: Authority) -> None:
        seen.append(each.run_id)
        arrived.set()

    renewal = LeaseRenewal(renew, every=0.001)
    renewal.hold(held)
    assert arrived.wait(10)
    renewal.drop(held)
    arrived.clear()
    seen.clear()
    renewal.hold(authority("b"))
    assert arrived.wait(10)
    renewal.close()
    assert "b" in seen


def test_no_thread_without_work() -> None:
    """An engine that drives nothing starts no thread for leases."""
    before = threading.active_count()
    renewal = LeaseRenewal(lambda _: None)
    assert threading.active_count() == before
    renewal.close()
