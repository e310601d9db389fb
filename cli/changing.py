"""Chooses who carries out what commands change: the host where one lives, else this process for a moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from runwright.cli.changes import Changes
from runwright.cli.hosting import host_if_any
from runwright.cli.invocation import Invocation


@contextmanager
def changing(call: Invocation) -> Iterator[Changes]:
    """Whoever carries out what a command wants changed.

    Raises:
        Refused: A program that serves nobody holds the store.
    """
    with host_if_any(call) as client:
        if client is not None:
            from runwright.cli.hosted_changes import HostedChanges

            yield HostedChanges(client)
            return
    from runwright.cli.held_changes import held_changes

    with held_changes(call) as changes:
        yield changes
