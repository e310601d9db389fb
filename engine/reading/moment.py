"""One moment of a store, asked about runs: every answer names the position it was read at."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from runwright.engine.errors import NotFound
from runwright.engine.processes import is_alive
from runwright.engine.reading.status import Status
from runwright.engine.texts import check_name
from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.host import HostStarted
from runwright.eventstore.log import EventLog, LogReader
from runwright.eventstore.snapshot import Snapshot
from runwright.projections.control.runs import RUNS, RunRow
from runwright.projections.ended_trees import EndedTree, ended_trees
from runwright.projections.query import Page, Query, query_table
from runwright.projections.sql_rows import SqlRows
from runwright.projections.views.lines import NO_SPECS, Specs
from runwright.projections.views.status import standing


class Moment:
    """A snapshot with its control rows.

    Attributes:
        rows: The control rows.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.rows = SqlRows(snapshot.connection)

    @cached_property
    def position(self) -> int:
        """The head it was taken at."""
        return self._snapshot.position()

    def run(self, run_id: str) -> RunRow:
        """A run's row.

        Raises:
            NotFound: There is no such run.
        """
        check_name("run_id", run_id)
        row = self.rows.get(RUNS, run_id)
        if row is None:
            raise NotFound("run", run_id)
        return row

    def status(self, run_id: str, *, held: bool, specs: Specs = NO_SPECS) -> Status:
        """A run's status.

        Args:
            run_id: The run.
            held: Whether a living process holds the store.
            specs: What is known of executors where the lines to type are read.

        Raises:
            NotFound: There is no such run.
        """
        self.run(run_id)
        revision = self._snapshot.version(f"run/{run_id}")
        facts = standing(self.rows, run_id, revision=revision, position=self.position)
        return Status.of(facts, held=held, specs=specs)

    def query(self, query: Query) -> Page:
        """A page of a projection's rows, as people are shown them."""
        return query_table(self._snapshot.connection, query)

    def ended_trees(self) -> list[EndedTree]:
        """The run trees in which no run lives any more, the oldest end first."""
        return ended_trees(self._snapshot.connection)

    def event(self, position: int | None) -> RecordedEvent | None:
        """The event at a position."""
        return None if position is None else self._snapshot.event(position)


@contextmanager
def moment_of(log: LogReader) -> Iterator[Moment]:
    """Look at a log as it stands now; nothing may be kept from it but rows."""
    with log.snapshot() as snapshot:
        yield Moment(snapshot)


def is_held(log: LogReader) -> bool:
    """Whether a living process holds the store, as far as can be told from here."""
    if isinstance(log, EventLog):
        return True
    with log.snapshot() as snapshot:
        last = snapshot.version("host")
    for recorded in log.read("host", last) if last else ():
        event = recorded.event
        return isinstance(event, HostStarted) and is_alive(event.process) is not False
    return False
