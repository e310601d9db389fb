"""Chooses who carries out what commands change: the host where one lives, else this process for a moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runwright.cli.changes import Changes
from runwright.cli.handing import Handed
from runwright.cli.hosting import host_if_any
from runwright.cli.invocation import Invocation

if TYPE_CHECKING:
    from runwright.engine.client.client import Client


@contextmanager
def changing(call: Invocation, client: "Client | None" = None, handed: Handed | None = None) -> Iterator[Changes]:
    """Whoever carries out what a command wants changed.

    Args:
        call: The invocation.
        client: The host, where it was reached already.
        handed: What is handed over for the run that goes on.

    Raises:
        Refused: A program that serves nobody holds the store.
    """
    from runwright.cli.hosted_changes import HostedChanges

    if client is not None:
        yield HostedChanges(client, handed)
        return
    with host_if_any(call, staying=True) as reached:
        if reached is not None:
            yield HostedChanges(reached, handed)
            return
    from runwright.cli.held_changes import held_changes

    with held_changes(call, handed) as changes:
        yield changes
