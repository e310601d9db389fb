"""C67: on a full disk nothing is done whose intent was not saved, the answer is typed, and with room it goes on."""

import resource
import sys
from pathlib import Path

import pytest

from runwright import Engine
from runwright.engine.reading.reader import Reader
from runwright.eventstore.errors import StoreError
from runwright.eventstore.events.effect import EffectApplying
from support.full_disk import context, program, sending
from support.hosts import Hosted, hosted, wait
from support.sound import check_sound

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")

SENDING = '''"""Sends, and says so in a ledger of its own."""

from runwright import Context, JsonObject, Workflow

flow = Workflow("sending", input=JsonObject)


@flow.action(recovery="idempotent", request=lambda ctx: "x" * 2000)
def send(ctx: Context[JsonObject], request: str) -> str:
    """Send."""
    with (ctx.cwd / "ledger").open("a") as ledger:
        ledger.write(f"{ctx.run_id}\\n")
    return request


@flow.compute
def after(ctx: Context[JsonObject]) -> int:
    """Go on."""
    return len(ctx.output(send))


flow.entry(send)
flow.then(send, after)
'''


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


def fill(at: Hosted) -> tuple[list[str], str]:
    """Start runs until the host refuses one; those that were started, and the code that it was refused with."""
    started: list[str] = []
    while len(started) < 2000:
        try:
            started.append(at.start("sending.py"))
        except StoreError as full:
            return started, full.code
    raise AssertionError("nothing was full")


def test_c67_a_host_on_a_full_disk_stays_and_goes_on_by_itself(tmp_path: Path, home: Path) -> None:
    """C67: `store_full`, and it tells how runs stand; nothing unsaved is sent, and with room it needs nobody."""
    with hosted(tmp_path) as at:
        (at.project / "sending.py").write_text(SENDING)
        first = at.ended(at.start("sending.py"))
        _, hard = resource.prlimit(at.pid, resource.RLIMIT_FSIZE)
        largest = max(path.stat().st_size for path in home.iterdir() if path.is_file())
        resource.prlimit(at.pid, resource.RLIMIT_FSIZE, (largest + 200_000, hard))
        started, code = fill(at)
        assert code == "store_full"
        assert at.client.host_status()["state"] == "serving"
        assert at.status(first["run_id"])["status"] == "completed"
        resource.prlimit(at.pid, resource.RLIMIT_FSIZE, (hard, hard))
        wait(lambda: not at.client.run_list(live=True)["items"])
        assert {at.status(run_id)["status"] for run_id in started} == {"completed"}
        sent = (at.project / "ledger").read_text().splitlines()
    with Reader.open(home) as reader:
        intents = {each.stream.removeprefix("run/") for each in reader.events(types=["effect.applying"])}
    assert {*started, first["run_id"]} <= set(sent) <= intents
    check_sound(home)
