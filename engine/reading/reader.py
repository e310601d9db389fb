"""The reader: everything that can be asked of a store, by its holder and beside it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Self

from runwright.engine.errors import NotFound
from runwright.engine.reading import find
from runwright.engine.reading.effects import Effect, EffectValues
from runwright.engine.reading.history import History, read_history
from runwright.engine.reading.logs import read_log
from runwright.engine.reading.moment import is_held, moment_of
from runwright.engine.reading.pages import RowsPage, RunsPage
from runwright.engine.reading.requests import Request, read_requests
from runwright.engine.reading.status import Status
from runwright.engine.reading.values import Stored, effect_values, node_output, read_sources, run_output
from runwright.engine.texts import check_name
from runwright.eventstore.envelope import Head, RecordedEvent
from runwright.eventstore.follow import Subscription
from runwright.eventstore.log import LogReader
from runwright.eventstore.values import Json, JsonObject
from runwright.eventstore.verdict import Verdict
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.registry import CONTROL
from runwright.projections.control.runs import LIVE, RUNS
from runwright.projections.layout import LAYOUT
from runwright.projections.projection import Projection
from runwright.projections.query import PAGE, Condition, Query, describe, plan
from runwright.projections.views.lines import NO_SPECS, Specs

_CONTROL_NAMES = frozenset(each.name for each in CONTROL)

ExportFormat = Literal["native", "cloudevents", "csv"]

#: Told now and then how far something is, and how far it goes.
Progress = Callable[[int, int], None]

#: Display statuses by what the runs' own column can say: it narrows a list before statuses are worked out.
_ENDS = frozenset({"completed", "continued", "failed", "timed_out", "cancelled"})


class Reader:
    """Answers questions about a store; needs no lock.

    Args:
        log: The holder's own log, or one that was opened for reading.
        specs: What `--agent` is given for executors in lines to type, as far as that is known where they are read.
    """

    def __init__(self, log: LogReader, specs: Specs = NO_SPECS) -> None:
        self.log = log
        self.specs = specs

    @classmethod
    def open(cls, home: Path, specs: Specs = NO_SPECS) -> Self:
        """Open a store for reading, beside whoever holds it.

        Args:
            home: The state directory.
            specs: What `--agent` is given for executors in lines to type, as far as that is known.

        Raises:
            StoreMissing: There is none; and the other errors of `LogReader.open`.
        """
        return cls(LogReader.open(home, LAYOUT), specs)

    def close(self) -> None:
        """Close it; only for a reader that was opened by itself."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- which ------------------------------------------------------------------------------------------------

    def find_run(self, text: str, *, project: str | None = None, cwd: str | None = None) -> str:
        """The whole ID of the run that somebody named.

        Args:
            text: ``@last``, an ID, or its last four or more characters.
            project: The project folder that ``@last`` is about: its runs, and those that were started in it.
            cwd: A folder; ``@last`` is about those that were started there, too. Without either it is about all.

        Raises:
            NotFound: There is no such run.
            AmbiguousId: Several end like this.
        """
        with moment_of(self.log) as moment:
            return find.find_run(moment, text, project=project, cwd=cwd)

    def find_effect(self, text: str) -> str:
        """The whole ID of an effect; raises as `find_run`."""
        with moment_of(self.log) as moment:
            return find.find_effect(moment, text)

    def find_request(self, text: str) -> str:
        """The whole ID of a request; raises as `find_run`."""
        with moment_of(self.log) as moment:
            return find.find_request(moment, text)

    # --- runs -------------------------------------------------------------------------------------------------

    def status(self, run_id: str) -> Status:
        """One run's status.

        Raises:
            NotFound: There is no such run.
        """
        held = is_held(self.log)
        with moment_of(self.log) as moment:
            return moment.status(run_id, held=held, specs=self.specs)

    def session_status(self, session: str) -> Status:
        """The status of the run that holds a session, else of its latest.

        Raises:
            NotFound: No run was ever started in that session.
        """
        held = is_held(self.log)
        with moment_of(self.log) as moment:
            return moment.status(find.find_in_session(moment, session), held=held, specs=self.specs)

    def runs(
        self,
        *,
        statuses: Collection[str] = (),
        workflow: str | None = None,
        since: int | None = None,
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> RunsPage:
        """A page of runs, newest first.

        Args:
            statuses: Only these display statuses; all without any.
            workflow: Only runs of this workflow.
            since: Only runs created at or after this time (UTC microseconds).
            limit: How many at most.
            cursor: The ``next`` of the page before.
        """
        held = is_held(self.log)
        with moment_of(self.log) as moment:
            where = list(_narrowed(statuses))
            if workflow is not None:
                where.append(Condition("workflow", "=", workflow))
            if since is not None:
                where.append(Condition("created_at", ">=", since))
            found: list[Status] = []
            after = cursor
            while len(found) <= limit:
                page = [Condition("run_id", "<", after)] if after is not None else []
                rows = moment.query(Query(projection=RUNS, where=(*where, *page), sort=(("run_id", True),), limit=PAGE))
                for item in rows.items:
                    after = str(item["run_id"])
                    status = moment.status(after, held=held, specs=self.specs)
                    if not statuses or status.status in statuses:
                        found.append(status)
                    if len(found) > limit:
                        break
                if rows.next is None:
                    break
            more = found[limit - 1].run_id if len(found) > limit else None
            return RunsPage(items=found[:limit], position=moment.position, next=more)

    def live(self) -> RunsPage:
        """Every run that has not ended, newest first: what runs, what waits, what is stuck."""
        held = is_held(self.log)
        with moment_of(self.log) as moment:
            ids = [row.run_id for state in LIVE for row in moment.rows.find(RUNS, status=state)]
            items = [moment.status(run_id, held=held, specs=self.specs) for run_id in sorted(ids, reverse=True)]
            return RunsPage(items=items, position=moment.position, next=None)

    def output(self, run_id: str, node: str | None = None, visit: int | None = None) -> Json:
        """A run's final output, or the output of a node's visit (its last accepted one by default).

        Raises:
            NotFound: There is no such run, or no such output.
            OutputRedacted: It was erased.
        """
        return self.stored_output(run_id, node, visit).value

    def stored_output(self, run_id: str, node: str | None = None, visit: int | None = None) -> Stored:
        """The same with the position of the event that holds it; raises as `output`."""
        if visit is None:
            # A continuation holds what the runs before it reached.
            run_id = self.last_of_chain(run_id)
        if node is None:
            return run_output(self.log, run_id)
        return node_output(self.log, run_id, node, visit)

    def last_of_chain(self, run_id: str) -> str:
        """The run that a continued run's work stands in now: itself, where nothing carries it on.

        Raises:
            NotFound: There is no such run.
        """
        with moment_of(self.log) as moment:
            return find.last_of_chain(moment, run_id)

    def logs(self, run_id: str, node: str | None = None) -> Iterator[str]:
        """The lines of a run's private output log, or those of one node.

        Raises:
            NotFound: There is no such run.
        """
        with moment_of(self.log) as moment:
            moment.run(run_id)
        return read_log(self.log.home.run_folder(run_id) / "output.log", node)

    def history(self, run_id: str) -> History:
        """What a run did, from its own events.

        Raises:
            NotFound: There is no such run.
        """
        return read_history(self.log, run_id)

    def sources(self, digest: str | None) -> dict[str, str] | None:
        """The files of a recorded source set with their SHA-256; ``None`` where none is recorded."""
        return None if digest is None else read_sources(self.log, digest)

    # --- effects and requests ---------------------------------------------------------------------------------

    def effects(self, run_id: str | None = None, *, state: str | None = None) -> list[Effect]:
        """Effects, in the order of their IDs; of one run, in one state, or all."""
        equals = {name: value for name, value in (("run_id", run_id), ("state", state)) if value is not None}
        with moment_of(self.log) as moment:
            if run_id is not None:
                moment.run(run_id)
            rows = moment.rows.find(EFFECTS, **equals)
        return [Effect.of(row) for row in sorted(rows, key=lambda row: row.request)]

    def effect(self, effect_id: str) -> EffectValues:
        """One effect with its private values.

        Raises:
            NotFound: There is no such effect.
        """
        check_name("effect_id", effect_id)
        with moment_of(self.log) as moment:
            row = moment.rows.get(EFFECTS, effect_id)
            if row is None:
                raise NotFound("effect", effect_id)
            return effect_values(moment, row)

    def requests(self, run_id: str | None = None) -> list[Request]:
        """Open requests, the oldest first; of one run, or all."""
        with moment_of(self.log) as moment:
            if run_id is not None:
                moment.run(run_id)
            return read_requests(moment, run_id)

    # --- the log ----------------------------------------------------------------------------------------------

    def head(self) -> Head:
        """The log's head."""
        return self.log.head()

    def events(
        self,
        run_id: str | None = None,
        *,
        types: Sequence[str] = (),
        after: int = 0,
        limit: int | None = None,
    ) -> Iterator[RecordedEvent]:
        """Events in order.

        Args:
            run_id: Only those of this run.
            types: Only types that one of these patterns fits (``effect.*``).
            after: Only events after this position.
            limit: How many at most.
        """
        if run_id is not None:
            check_name("run_id", run_id)
        streams = None if run_id is None else {f"run/{run_id}"}
        left = limit
        for recorded in self.log.read_all(after, streams=streams, limit=None if types else limit):
            if types and not any(fnmatchcase(recorded.type, pattern) for pattern in types):
                continue
            if left is not None:
                if left <= 0:
                    return
                left -= 1
            yield recorded

    def follow(self, after: int) -> Subscription:
        """Events after a position, then new ones as they commit."""
        return self.log.subscribe(after)

    def query(
        self,
        projection: str,
        *,
        where: Sequence[str] = (),
        sort: Sequence[str] = (),
        limit: int = PAGE,
        cursor: str | None = None,
    ) -> RowsPage:
        """A page of a projection's rows, control or view, filtered and sorted by field.

        Raises:
            UnknownProjection: There is none of that name; and its kin for fields, operators and values.
        """
        views = () if projection in _CONTROL_NAMES else _views(projection)
        query = plan((*CONTROL, *views), projection, where=where, sort=sort, limit=limit, cursor=cursor)
        if views:
            from runwright.projections.views.reading import view_page

            found, position = view_page(self.log, query)
            return RowsPage(items=found.items, position=position, next=found.next)
        with moment_of(self.log) as moment:
            page = moment.query(query)
            return RowsPage(items=page.items, position=moment.position, next=page.next)

    def projections(self) -> list[JsonObject]:
        """What can be queried: each projection with its fields."""
        return [describe(each) for each in (*CONTROL, *_views())]

    def replay(self, run_id: str, *, at: int | None = None, step: int | None = None) -> JsonObject:
        """A run's control rows, rebuilt from its events as of a position, or as of the end of a step.

        Raises:
            RunUnknown: There is no such run, or not yet at that position (`RunUnbegun`).
            PositionUnknown: The log does not reach so far.
        """
        check_name("run_id", run_id)
        position = at if step is None else self._end_of_step(run_id, step)
        from runwright.projections.replay import replay_document, replay_run

        rows = replay_run(self.log, run_id, position)
        return replay_document(rows, run_id, self.log.head().position if position is None else position)

    def export(
        self,
        run_id: str | None = None,
        *,
        format: ExportFormat = "native",
        with_values: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[bytes]:
        """The log, or one run's part of it, as the lines of an export.

        Raises:
            NothingToExport: There is no such event.
        """
        # Of the commands that read, few export, verify or replay: only those pay for it.
        from runwright.eventstore.transfer.cloudevents import export_cloudevents
        from runwright.eventstore.transfer.csv import export_csv
        from runwright.eventstore.transfer.native import export_native
        from runwright.eventstore.transfer.selection import Selection

        write = {"native": export_native, "cloudevents": export_cloudevents, "csv": export_csv}[format]
        selection = None if run_id is None else Selection(streams=frozenset({f"run/{run_id}"}))
        return write(self.log, selection=selection, with_values=with_values, progress=progress)

    def verify(self, *, deep: bool = False, head: Head | None = None, progress: Progress | None = None) -> Verdict:
        """Check the whole store: file, chain, tail, erasures; with ``deep`` indexes and control rows as well."""
        from runwright.eventstore.verify import verify_store
        from runwright.projections.verify import ControlTables

        tables = ControlTables if deep else None
        return verify_store(self.log.home.path, deep=deep, head=head, progress=progress, tables=tables)

    def _end_of_step(self, run_id: str, step: int) -> int:
        """The last position before the step after this one began."""
        if step < 1:
            raise NotFound("step", str(step))
        last = started = 0
        for recorded in self.log.read(f"run/{run_id}"):
            if recorded.type == "node.started" and getattr(recorded.event, "attempt", 0) == 1:
                started += 1
                if started > step:
                    return last
            last = recorded.position
        if started < step:
            raise NotFound("step", f"{step}: the run has {started}")
        return last


def _views(*names: str) -> "tuple[Projection[Any], ...]":
    """Our views and those that programs registered; loading the latter is left to who asks for one."""
    from runwright.projections.views.registry import views_for

    return views_for(names)


def _narrowed(statuses: Collection[str]) -> Iterator[Condition]:
    """What the runs' own column can say about display statuses: equality only, so one ended status or all live."""
    wanted = frozenset(statuses)
    if len(wanted) == 1 and wanted <= _ENDS:
        yield Condition("status", "=", next(iter(wanted)))
    elif wanted and not wanted & _ENDS:
        yield Condition("finished_at", "=", None)
