"""Logs of every released event shape still verify, decode, import and project."""

import json
from pathlib import Path

import pytest

from runwright.eventstore.adoption import adopt
from runwright.eventstore.envelope import Head
from runwright.eventstore.log import EventLog
from runwright.eventstore.transfer.importing import import_log
from runwright.eventstore.verify import verify_store
from runwright.eventstore.verify_export import read_export, verify_export
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT

HISTORIES = sorted(Path(__file__).parent.glob("v*.jsonl"))


def kept_head(history: Path) -> Head:
    """The head that was written down when the history was frozen."""
    kept = json.loads(history.with_suffix(".head.json").read_text())
    return Head(position=kept["position"], hash=bytes.fromhex(kept["hash"]))


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
def test_a_frozen_history_verifies_and_decodes(history: Path) -> None:
    """To its last byte, and every event is one that this version knows."""
    verdict = verify_export(history, head=kept_head(history))
    assert verdict.ok, verdict
    assert len([event.event for event in read_export(history)]) == verdict.events


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
def test_a_frozen_history_becomes_a_store_that_goes_on(history: Path, tmp_path: Path) -> None:
    """Imported with its control rows, adopted, opened and written to."""
    head = kept_head(history)
    import_log(history, tmp_path, layout=LAYOUT, control=ControlRows(), kept=head)
    assert verify_store(tmp_path, deep=True, head=head).ok
    assert adopt(tmp_path, by="operator", actor="operator", layout=LAYOUT, control=ControlRows()) == head
    with EventLog.open(tmp_path, layout=LAYOUT, control=ControlRows()) as log:
        assert log.head().position == head.position + 1


def test_there_is_a_history_of_the_first_version() -> None:
    """The folder was found and is not empty."""
    assert [path.stem for path in HISTORIES][:1] == ["v1"]
