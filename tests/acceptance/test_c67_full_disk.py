"""C67: on a full disk nothing is done whose intent was not saved, the answer is typed, and with room it goes on."""

import sys
from pathlib import Path

import pytest

from runwright import Engine
from runwright.eventstore.events.effect import EffectApplying
from support.full_disk import context, program, sending
from support.sound import check_sound


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_c67_a_full_disk_is_told_and_passes(tmp_path: Path, home: Path) -> None:
    """C67: `store_full`, reading goes on, every effect that was sent had its intent in the log, and all runs end."""
    said = context.Queue()
    process = context.Process(target=program, args=(str(home), str(tmp_path / "ledger"), said))
    process.start()
    codes, status, ends = said.get(timeout=60)
    process.join(30)
    assert process.exitcode == 0
    process.close()
    assert codes[-1] == "store_full"
    assert set(codes) <= {"store_full", "store_unavailable"}
    assert status == "completed"
    with Engine.open(home, workflows=[sending(tmp_path / "ledger")]) as engine:
        for row in engine.query("runs", limit=1000).items:
            if row["status"] not in ("completed", "failed"):
                engine.resume(str(row["run_id"]))
                assert engine.wait(str(row["run_id"]), timeout=20).status == "completed"
        intents = [
            each.stream.removeprefix("run/")
            for each in engine.events(types=["effect.applying"])
            if isinstance(each.event, EffectApplying)
        ]
    sent = (tmp_path / "ledger").read_text().splitlines()
    assert set(sent) <= set(intents)
    assert len(ends) > 1
    check_sound(home)
