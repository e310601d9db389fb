"""Every operation as a function: what it takes, in which calls it is asked, and what comes of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from runwright.engine.client.asking import Ask, Document, Steps, answered, asked, commanded, handed, specs_of, whole
from runwright.engine.results import Adopted, Applied
from runwright.eventstore.values import Json, JsonObject


def workflow_list(project: str | Path) -> Steps[Document]:
    """What can be started by name from a project's folder: `WorkflowsFound`."""
    return asked(Ask(operation="workflow.list", payload={"project": str(project)}))


def workflow_check(
    workflow: str,
    *,
    cwd: str | Path,
    project: str | Path | None = None,
    graph: Literal["text", "mermaid"] | None = None,
    input_schema: bool = False,
) -> Steps[Document]:
    """Everything that is wrong with a workflow: `WorkflowChecked`."""
    payload: JsonObject = {
        "workflow": workflow,
        "cwd": str(cwd),
        "project": _text(project),
        "graph": graph,
        "input_schema": input_schema,
    }
    return asked(Ask(operation="workflow.check", payload=payload))


# --- runs -------------------------------------------------------------------------------------------------------


def run_start(
    workflow: str,
    input: Json,
    *,
    cwd: str | Path,
    fields: Sequence[tuple[str, str, bool]] = (),
    task: str | None = None,
    project: str | Path | None = None,
    interpreter: str | None = None,
    session: str | None = None,
    agents: Mapping[str, str] | None = None,
    spare_agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Queue a run, durably; the value is its ID.

    Args:
        workflow: A file, a name or an import path.
        input: Its input as JSON.
        cwd: The folder that it works in, and that the workflow is named from.
        fields: Fields of the input as somebody typed them: the key, the text, and whether that is JSON.
        task: A text for the input's field ``task``.
        project: The project's folder; ``None`` for the one that the workflow stands in.
        interpreter: The Python that runs its code.
        session: The conversation that starts it.
        agents: Its executors: how each is reached, by name; a node has to ask for each.
        spare_agents: Executors that are there in case a node asks for them.
        pass_env: Variables that its code gets, with their values.
        key: The idempotency key; one of its own by default.
    """
    payload: JsonObject = {
        "workflow": workflow,
        "input": input,
        "fields": [{"key": key, "text": text, "is_json": is_json} for key, text, is_json in fields],
        "task": task,
        "cwd": str(cwd),
        "project": _text(project),
        "interpreter": interpreter,
        "session": session,
        "agents": [*specs_of(agents), *specs_of(spare_agents, spare=True)],
        "pass_env": dict(pass_env or {}),
    }
    return commanded(Ask(operation="run.start", payload=payload, keyed=True, key=key))


def run_pause(
    run_id: str, *, expected: int | None = None, key: str | None = None
) -> Steps[Applied[str] | Adopted[str]]:
    """Let no further node of a run start."""
    return commanded(Ask(operation="run.pause", run_id=run_id, keyed=True, key=key, expected=expected))


def run_resume(
    run_id: str,
    *,
    accept_source: bool = False,
    agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    expected: int | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Let a paused or parked run go on; executors and variables are handed back where its host has lost them."""
    payload: JsonObject = {"accept_source": accept_source, **handed(agents, pass_env)}
    return commanded(
        Ask(operation="run.resume", run_id=run_id, payload=payload, keyed=True, key=key, expected=expected)
    )


def run_cancel(
    run_id: str, *, reason: str = "", expected: int | None = None, key: str | None = None
) -> Steps[Applied[str] | Adopted[str]]:
    """End a run now."""
    payload: JsonObject = {"reason": reason}
    return commanded(
        Ask(operation="run.cancel", run_id=run_id, payload=payload, keyed=True, key=key, expected=expected)
    )


def run_restart(
    run_id: str,
    *,
    at: str | None = None,
    agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    expected: int | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Run an ended run afresh, from the first node or from ``at``, with these executors; the value is its ID."""
    payload: JsonObject = {"at": at, **handed(agents, pass_env)}
    return commanded(
        Ask(operation="run.restart", run_id=run_id, payload=payload, keyed=True, key=key, expected=expected)
    )


def run_follow_up(
    run_id: str, text: str, *, session: str, epoch: str, key: str | None = None
) -> Steps[Applied[str] | Adopted[str]]:
    """Have a text sent to a live run's own session once the run has completed."""
    payload: JsonObject = {"session": session, "epoch": epoch, "text": text}
    return commanded(Ask(operation="run.follow_up", run_id=run_id, payload=payload, keyed=True, key=key))


def run_status(
    run_id: str | None = None,
    *,
    session: str | None = None,
    name: str | None = None,
    project: str | Path | None = None,
    cwd: str | Path | None = None,
) -> Steps[Document]:
    """One run's facts: `RunStatus`, as ``status --json`` prints it.

    Args:
        run_id: The run.
        session: Or the session that it is about.
        name: Or what people call it: its ID, the end of that, or ``@last``.
        project: The project: ``@last`` is the newest run of it, or that was started in its folder.
        cwd: A folder: ``@last`` may have been started in this one as well. Without either it is the newest of all.
    """
    payload: JsonObject = {"session": session, "name": name, "project": _text(project), "cwd": _text(cwd)}
    return asked(Ask(operation="run.status", run_id=run_id, payload=payload))


def run_list(
    *,
    statuses: Sequence[str] = (),
    workflow: str | None = None,
    since: str | None = None,
    live: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> Steps[Document]:
    """A page of runs, newest first, or every live one: `RunsPage`."""
    payload: JsonObject = {
        "statuses": list(statuses),
        "workflow": workflow,
        "since": since,
        "live": live,
        "limit": limit,
        "cursor": cursor,
    }
    return asked(Ask(operation="run.list", payload=payload))


def run_output(run_id: str, node: str | None = None, visit: int | None = None) -> Steps[Json]:
    """A run's final output, or that of a node's visit (its last accepted one by default), whole and verified."""
    ask = Ask(operation="run.output", run_id=run_id, payload={"node": node, "visit": visit})
    found = answered((yield ask))
    return (yield from whole(found["output"]))


def run_logs(run_id: str, *, node: str | None = None, after: int = 0) -> Steps[Document]:
    """Some lines of what a run's code wrote, from a place in the file on: `LogLines`."""
    return asked(Ask(operation="run.logs", run_id=run_id, payload={"node": node, "after": after, "follow": False}))


# --- requests and effects ---------------------------------------------------------------------------------------


def request_list(run_id: str | None = None) -> Steps[Document]:
    """Open requests of one run or all: `RequestsPage`, each with its values where they are small."""
    return asked(Ask(operation="request.list", run_id=run_id))


def request_get(request_id: str) -> Steps[Document]:
    """One open request: `RequestFound` with its values whole."""
    found = yield from asked(Ask(operation="request.get", payload={"request_id": request_id}))
    for name in ("prompt", "contract", "presentation", "reason"):
        found[name] = yield from whole(found[name])
    return found


def request_answer(
    request_id: str,
    value: Json,
    *,
    agents: Mapping[str, str] | None = None,
    pass_env: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Answer a request; the value is the ID of the run that goes on, which gets ``agents`` and ``pass_env``."""
    payload: JsonObject = {"request_id": request_id, "value": value, **handed(agents, pass_env)}
    return commanded(Ask(operation="request.answer", payload=payload, keyed=True, key=key))


def effect_get(effect_id: str) -> Steps[Document]:
    """One side effect: `EffectFound` with request and result whole."""
    found = yield from asked(Ask(operation="effect.get", payload={"effect_id": effect_id}))
    for name in ("request", "result"):
        found[name] = yield from whole(found[name])
    return found


def effect_resolve(
    effect_id: str,
    outcome: Literal["done", "not_done", "timed_out"],
    *,
    result: Json = None,
    reason: str,
    key: str | None = None,
) -> Steps[Applied[str] | Adopted[str]]:
    """Say what became of an ambiguous effect; the value is the ID of its run."""
    payload: JsonObject = {"effect_id": effect_id, "outcome": outcome, "result": result, "reason": reason}
    return commanded(Ask(operation="effect.resolve", payload=payload, keyed=True, key=key))


# --- views, events, values --------------------------------------------------------------------------------------


def view_get(run_id: str) -> Steps[Document]:
    """One run's view: `RunViewed`."""
    return asked(Ask(operation="view.get", run_id=run_id))


def view_page(
    run_id: str,
    part: Literal["nodes", "mounts", "visits", "edges"],
    *,
    after: int = 0,
    revision: int | None = None,
) -> Steps[Document]:
    """More of a run's view: `ViewItems`."""
    payload: JsonObject = {"part": part, "after": after, "revision": revision}
    return asked(Ask(operation="view.page", run_id=run_id, payload=payload))


def events_read(
    run_id: str | None = None,
    *,
    after: int = 0,
    types: Sequence[str] = (),
    values: bool = False,
    limit: int = 256,
) -> Steps[Document]:
    """A page of events: `EventsPage`; its ``next`` is what to go on after."""
    payload: JsonObject = {"after": after, "types": list(types), "values": values, "limit": limit}
    return asked(Ask(operation="events.read", run_id=run_id, payload=payload))


def content_read(value: Document) -> Steps[Json]:
    """A private value that an answer holds as a `Value`, whole and verified."""
    return whole(value)


# --- projections, the log, the store, the host ------------------------------------------------------------------


def projection_list() -> Steps[Document]:
    """What can be queried: `ProjectionsFound`."""
    return asked(Ask(operation="projection.list"))


def projection_query(
    projection: str,
    *,
    where: Sequence[str] = (),
    sort: Sequence[str] = (),
    limit: int = 100,
    cursor: str | None = None,
) -> Steps[Document]:
    """A page of rows: `RowsPage`."""
    payload: JsonObject = {
        "projection": projection,
        "where": list(where),
        "sort": list(sort),
        "limit": limit,
        "cursor": cursor,
    }
    return asked(Ask(operation="projection.query", payload=payload))


def projection_verify(names: Sequence[str] = ()) -> Steps[Document]:
    """The tables against a replay of the log: `ProjectionsVerified`."""
    return asked(Ask(operation="projection.verify", payload={"names": list(names)}))


def projection_rebuild(names: Sequence[str] = ()) -> Steps[Document]:
    """The tables made anew from the log: `ProjectionsRebuilt`."""
    return asked(Ask(operation="projection.rebuild", payload={"names": list(names)}, keyed=True))


def log_head() -> Steps[Document]:
    """The log's last position and its hash: `LogHead`."""
    return asked(Ask(operation="log.head"))


def log_redact(run_id: str, *, reason: str = "", dry_run: bool = False) -> Steps[Document]:
    """Erase the private values of an ended run's tree: `LogRedacted`."""
    return asked(Ask(operation="log.redact", run_id=run_id, payload={"reason": reason, "dry_run": dry_run}, keyed=True))


def store_backup(file: str | Path) -> Steps[Document]:
    """Have a verified copy of the store written into a new file, an absolute path: `StoreBackedUp`."""
    return asked(Ask(operation="store.backup", payload={"file": str(file)}, keyed=True))


def host_status() -> Steps[Document]:
    """How the host stands: `HostStatus`."""
    return asked(Ask(operation="host.status"))


def host_stop(*, grace: float | None = None) -> Steps[Document]:
    """Have the host drain and exit; `Client.gone` waits for that. ``grace`` is in seconds."""
    return asked(Ask(operation="host.stop", payload={"grace": grace}, again=False))


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)
