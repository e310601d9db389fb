"""Reopening a store after a crash, driving its run on, and checking what must hold whatever was killed when."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

from attrs import frozen

from runwright import Engine
from runwright.engine.reading.reader import Reader
from runwright.eventstore.errors import StoreMissing, StoreUnavailable
from runwright.eventstore.events.node import NodeFinished
from runwright.eventstore.verify import verify_store
from runwright.projections.verify import verify as verify_projections
from support.crash_world import FLOWS, KEY, LEDGER, lines


@frozen
class Wreck:
    """What a killed program left: the visits whose end is in the log, and how often each thing had happened."""

    finished: frozenset[tuple[str, int]]
    happened: Counter[str]


def look_at(home: Path, ledger: Path) -> Wreck:
    """Read what is left, changing nothing."""
    happened = lines(ledger)
    try:
        with Reader.open(home) as reader:
            ends = [each.event for each in reader.events(types=["node.finished"])]
    except (StoreMissing, StoreUnavailable):
        # Killed before there was a log, or in the middle of making one, which only the next holder can finish.
        ends = []
    finished = {(end.path, end.visit) for end in ends if isinstance(end, NodeFinished)}
    return Wreck(frozenset(finished), happened)


def drive_on(home: Path, flow: str, ledger: Path) -> dict[str, Any]:
    """Reopen the store and do what it offers until the run has ended; answer its terminal facts."""
    os.environ[LEDGER] = str(ledger)
    with Engine.open(home, workflows=list(FLOWS.values())) as engine:
        run_id = engine.start(FLOWS[flow], {}, key=KEY)
        for _ in range(10):
            outcome = engine.wait(run_id, until="waiting", timeout=60)
            status = engine.status(run_id)
            if status.ended:
                break
            assert status.next, "a run that stands still says what to type"
            if "resolve" in status.controls:
                (effect,) = engine.effects(run_id, state="ambiguous")
                happened = lines(ledger)[f"{effect.path} {effect.visit}"]
                if happened:
                    engine.resolve(effect.effect, "done", result="sent", reason="it is in the ledger")
                else:
                    engine.resolve(effect.effect, "not_done", reason="it is not in the ledger")
            else:
                engine.resume(run_id)
        (terminal,) = engine.query("terminal").items
        return {
            "outcome": terminal["outcome"],
            "code": terminal["code"],
            "fingerprint": bool(terminal["fingerprint"]),
            "output": outcome.output,
            "path": outcome.path,
        }


def check_store(home: Path) -> None:
    """The chain holds, the rows follow from the events, and nothing of the run is left open (laws 1 and 6)."""
    assert verify_store(home, deep=True).ok
    with Reader.open(home) as reader:
        found = verify_projections(reader.log)
        assert found.ok, found.differences
        assert reader.query("timers").items == []
        assert [each["state"] for each in reader.query("workers").items if each["state"] != "exited"] == []
        assert [each["owner"] for each in reader.query("queue").items if each["owner"] is not None] == []
        types = [each.type for each in reader.events(types=["run.*"])]
        ends = [each for each in types if each in ("run.completed", "run.failed", "run.timed_out", "run.cancelled")]
        assert len(ends) == len(reader.query("runs").items)


def check_ledger(wreck: Wreck, ledger: Path, kills: int) -> None:
    """No finished visit ran again; a visit ran at most once more for each kill; what is looked up or manual never."""
    happened = lines(ledger)
    for path, visit in wreck.finished:
        thing = f"{path} {visit}"
        assert happened[thing] == wreck.happened[thing], f"{thing} had finished and ran again"
    for thing, count in happened.items():
        if thing.startswith(("post", "send")):
            assert count == 1, f"{thing} happened {count} times"
        else:
            assert 1 <= count <= 1 + kills, f"{thing} happened {count} times"
