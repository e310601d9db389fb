"""Erasing within a transaction: a private value goes with the commit that decides it, and its facts stay."""

from functools import partial

import pytest

from runwright.eventstore.envelope import NEW
from runwright.eventstore.errors import ValueRefused
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.log import EventLog
from runwright.eventstore.transaction import Tx
from support.stores import appending, finished, walked


def test_erasing_takes_the_value_and_leaves_the_facts(log: EventLog) -> None:
    """With the commit that decides it; the chain still holds."""
    log.transact(appending("run/a", finished("secret"), finished("kept"))).result()

    def unit(tx: Tx) -> bool:
        tx.erase([2])
        seen = tx.event(2)
        assert seen is not None
        return seen.erased and seen.event == NodeFinished(path="a", visit=1, attempt=1, outcome="completed")

    assert log.transact(unit).result()
    erased, kept = log.read("run/a")
    assert erased.erased
    assert erased.digest is not None
    assert not kept.erased
    walked(log)


def test_an_erasure_of_a_unit_that_fails_is_undone(log: EventLog) -> None:
    """As everything else of it."""
    log.transact(appending("run/a", finished("secret"))).result()

    def unit(tx: Tx) -> None:
        tx.erase([2])
        raise LookupError

    with pytest.raises(LookupError):
        log.transact(unit).result()
    (event,) = log.read("run/a")
    assert not event.erased


def test_what_was_just_appended_can_be_erased_with_it(log: EventLog) -> None:
    """A pending position counts like a committed one."""

    def unit(tx: Tx) -> None:
        tx.erase([tx.append("run/a", NEW, [finished("secret")], actor="client:x").first])

    log.transact(unit).result()
    (event,) = log.read("run/a")
    assert event.erased


def _erasing(position: int, tx: Tx) -> None:
    tx.erase([position])


def test_what_is_never_erased_is_refused(log: EventLog) -> None:
    """The log's own stream, definitions, sources, and positions that are not there."""
    log.transact(appending("definition/d")).result()
    for position in (1, 2, 99):
        with pytest.raises(ValueRefused):
            log.transact(partial(_erasing, position)).result()
