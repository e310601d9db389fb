"""After a fork: the child only lets go, and every handle it inherited says so."""

import ctypes
import os
import weakref
from typing import Protocol


class Inherited(Protocol):
    """Something that a child process must not use."""

    def forked(self) -> None:
        """Mark it in the child; called with no other thread alive, so it may not wait for a lock."""


_handles: "weakref.WeakSet[Inherited]" = weakref.WeakSet()


def watch(handle: Inherited) -> None:
    """Have a handle told when this process turns out to be a fork's child."""
    _handles.add(handle)


def keep_for_ever(thing: object) -> None:
    """Keep an object from ever being finalised in this process.

    An SQLite connection that a child closes, be it by the interpreter's own end, takes the parent's WAL away.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _tell() -> None:
    for handle in list(_handles):
        handle.forked()


os.register_at_fork(after_in_child=_tell)
