"""A snapshot sees one moment of the log, whatever commits meanwhile."""

from pathlib import Path

from runwright.eventstore.envelope import ANY
from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.events.host import HostStarted
from runwright.eventstore.log import EventLog
from runwright.projections.control.hosts import HOSTS
from runwright.projections.inline import ControlRows
from runwright.projections.layout import LAYOUT
from runwright.projections.sql_rows import SqlRows

PROCESS = ProcessIdentity(boot="b", namespace="n", pid=1, start=1)


def start(log: EventLog, epoch: str) -> None:
    """Have a holder's start committed."""
    started = HostStarted(epoch=epoch, version="1", process=PROCESS)
    log.transact(lambda tx: tx.append("host", ANY, [started], actor="host:test")).result()


def test_reads_of_one_snapshot_agree(tmp_path: Path) -> None:
    """Head, versions, events and rows are those of the moment the snapshot was taken."""
    log = EventLog.open(tmp_path / "state", layout=LAYOUT, control=ControlRows())
    start(log, "one")
    with log.snapshot() as moment:
        position = moment.position()
        start(log, "two")
        assert moment.position() == position
        assert moment.version("host") == 1
        assert moment.event(position + 1) is None
        assert [row.epoch for row in SqlRows(moment.connection).find(HOSTS)] == ["one"]
    with log.snapshot() as moment:
        assert (moment.position(), moment.version("host")) == (position + 1, 2)
        found = moment.event(position + 1)
        assert found is not None
        assert found.type == "host.started"
    log.close()


def test_a_failed_block_leaves_the_log_usable(tmp_path: Path) -> None:
    """An error inside the block ends the transaction, too."""
    log = EventLog.open(tmp_path / "state", layout=LAYOUT, control=ControlRows())
    try:
        with log.snapshot():
            raise KeyError("not there")
    except KeyError:
        start(log, "one")
    with log.snapshot() as moment:
        assert moment.version("host") == 1
    log.close()
