"""Renewing leases from a thread of its own, which no user function can block."""

import threading
from collections.abc import Callable

from runwright.engine.commands.worker import Authority

#: Seconds between two renewals; a lease lasts 30 (page 05, "Claims").
RENEWAL = 10.0


class LeaseRenewal:
    """Keeps the leases of the runs that are being driven; sleeps while there are none."""

    def __init__(self, renew: Callable[[Authority], object], *, every: float = RENEWAL) -> None:
        self._renew = renew
        self._every = every
        self._held: dict[str, Authority] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def hold(self, authority: Authority) -> None:
        """Renew this claim's lease from now on."""
        with self._changed:
            first = not self._held
            self._held[authority.owner] = authority
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="runwright-leases", daemon=True)
                self._thread.start()
            elif first:
                self._changed.notify()

    def drop(self, authority: Authority) -> None:
        """Stop renewing it."""
        with self._changed:
            self._held.pop(authority.owner, None)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._held.clear()
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._held))
                if not self._closed:
                    self._changed.wait_for(lambda: self._closed, timeout=self._every)
                if self._closed:
                    return
                held = list(self._held.values())
            for authority in held:
                # A lease that is gone already is told to the worker by its next protected write.
                self._renew(authority)
