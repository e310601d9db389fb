"""Finds runs by what people call them and says how they stand: asked of the host where one lives, else of the file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from runwright.cli.hosting import host_if_any
from runwright.cli.invocation import Invocation
from runwright.cli.references import EFFECT_END, LAST, bounded, last_of, no_last
from runwright.engine.errors import NotFound
from runwright.engine.texts import text_problem

if TYPE_CHECKING:
    from runwright.engine.client.client import Client
    from runwright.engine.reading.reader import Reader

#: One run's facts, as ``status RUN --json`` prints them.
Facts: TypeAlias = Mapping[str, Any]


class Runs(Protocol):
    """The runs of a store."""

    @property
    def client(self) -> "Client | None":
        """The host that is asked, where one lives; what goes through it needs no SQLAlchemy here."""
        ...

    def find(self, text: str) -> Facts:
        """The run that somebody named; raises `NotFound` or `AmbiguousId`."""
        ...

    def facts(self, run_id: str) -> Facts:
        """How a run stands."""
        ...

    def find_effect(self, text: str) -> Facts:
        """The effect that somebody named, or with ``@last`` the newest of that run; raises as `find`."""
        ...

    def bindings(self, run_id: str) -> Facts:
        """The row of a run, which says what it was started with."""
        ...

    def position(self) -> int:
        """The position of the log's head."""
        ...


@contextmanager
def runs_of(call: Invocation, *, staying: bool = False) -> "Iterator[Runs]":
    """The runs, asked of whoever answers quickest; ``staying`` as for `host_if_any`."""
    with host_if_any(call, staying=staying) as client:
        if client is not None:
            yield HostedRuns(call, client)
            return
    from runwright.cli.opening import reading

    with reading(call) as store:
        yield StoredRuns(call, store)


class HostedRuns:
    """Runs that the host is asked about; as `Runs`.

    Args:
        call: The invocation.
        client: A connection to the host.
    """

    def __init__(self, call: Invocation, client: "Client") -> None:
        self._call = call
        self.client = client

    def find(self, text: str) -> Facts:
        """As `Runs.find`."""
        found = self._last() if text == LAST else self.client.run_status(name=bounded("run", text))
        self._call.flags.named["RUN"] = found["run_id"]
        return found

    def _last(self) -> Facts:
        # No run is ever started in a folder whose name is no text, and no host is asked for one.
        project, cwd = (None if text_problem(str(each)) else each for each in last_of(self._call))
        try:
            if project is None:
                raise NotFound("run", LAST)
            return self.client.run_status(name=LAST, project=project, cwd=cwd)
        except NotFound:
            raise no_last(self.client.projection_query("runs", sort=["-run_id"], limit=1)["items"]) from None

    def facts(self, run_id: str) -> Facts:
        """As `Runs.facts`."""
        return self.client.run_status(run_id)

    def question(self, text: str) -> Facts | None:
        """The open question that somebody named, by itself or by its run; ``None`` where there is not exactly one."""
        if text != LAST:
            try:
                return self.client.request_get(bounded("request", text))
            except NotFound:
                pass  # no request is called so; it may be a run
        try:
            run = self.find(text)
        except NotFound:
            return None
        while run["continued_by"] is not None:
            run = self.facts(run["continued_by"])
        found = self.client.request_list(run["run_id"])["items"]
        return self.client.request_get(found[0]["request_id"]) if len(found) == 1 else None

    def find_effect(self, text: str) -> Facts:
        """As `Runs.find_effect`."""
        if text == LAST:
            run_id = self._last()["run_id"]
            rows = self.client.projection_query("effects", where=[f"run_id={run_id}"], sort=["-request"], limit=1)
            if not rows["items"]:
                raise NotFound("effect", f"{LAST}: run {run_id} has none")
            found: Facts = rows["items"][0]
        else:
            found = self.client.effect_get(bounded("effect", text))
        self._call.flags.named["EFFECT"] = str(found["effect"])[-EFFECT_END:]
        return found

    def bindings(self, run_id: str) -> Facts:
        """As `Runs.bindings`."""
        row: Facts = self.client.projection_query("runs", where=[f"run_id={run_id}"])["items"][0]
        return row

    def position(self) -> int:
        """As `Runs.position`."""
        return int(self.client.log_head()["position"])


class StoredRuns:
    """Runs that are read from the file; as `Runs`.

    Args:
        call: The invocation.
        store: The store.
    """

    client = None

    def __init__(self, call: Invocation, store: "Reader") -> None:
        self._call = call
        self._store = store

    def find(self, text: str) -> Facts:
        """As `Runs.find`."""
        from runwright.cli.references import find_run

        return self.facts(find_run(self._call, self._store, text))

    def facts(self, run_id: str) -> Facts:
        """As `Runs.facts`."""
        return self._store.status(run_id).document()

    def find_effect(self, text: str) -> Facts:
        """As `Runs.find_effect`."""
        from runwright.cli.references import find_effect

        return self._store.effect(find_effect(self._call, self._store, text)).effect.document()

    def bindings(self, run_id: str) -> Facts:
        """As `Runs.bindings`."""
        return self._store.query("runs", where=[f"run_id={run_id}"]).items[0]

    def position(self) -> int:
        """As `Runs.position`."""
        return self._store.head().position
