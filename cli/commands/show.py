"""``runwright show``: a run's graph and timeline, or one node's visits."""

import shlex
import time
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.engine.reading.reader import Reader
    from runwright.eventstore.values import JsonObject


@intent("show", example="runwright show @last\nrunwright show 7k2m3x inspect --values")
@click.argument("run")
@click.argument("node", required=False)
@click.option("--values", is_flag=True, help="With NODE: its private outputs and updates, too.")
def command(call: Invocation, run: str, node: str | None, values: bool) -> None:
    """A run's graph and timeline, or one node's visits.

    With NODE: its visits, attempts and errors.
    """
    from runwright.cli.references import find_node, find_run

    now = time.time_ns() // 1000
    with reading(call) as store:
        run_id = find_run(call, store, run)
        if node is not None:
            from runwright.cli.rendering.reasons import shown_word
            from runwright.cli.rendering.visits import visits_screen

            find_node(store, run_id, node)
            document = _document(store, run_id, node, values=values)
            if call.out.for_machines:
                call.out.document(document)
            else:
                own = [each for each in store.effects(run_id) if each.path == node]
                asked = store.query("requests", where=[f"run_id={run_id}", f"path={node}", "state=accepted"]).items
                answered = {int(str(each["visit"])): str(each["source"]) for each in asked}
                word = shown_word(store.status(run_id))
                call.out.show(*visits_screen(document, now, own, word=word, answered=answered))
            return
        _show_run(call, store, run_id, now)


def _document(store: "Reader", run_id: str, node: str, *, values: bool) -> "JsonObject":
    """The node's visits in this run.

    Raises:
        Refused: They stand in the run that this one goes on from.
    """
    from runwright.cli.node_visits import node_document
    from runwright.engine.errors import NotFound

    try:
        return node_document(store.log.read(f"run/{run_id}"), run_id, node, values=values)
    except NotFound:
        parent = store.status(run_id).parent_run_id
        if parent is None or not store.query("visits", where=[f"run_id={run_id}", f"path={node}"]).items:
            raise
        raise Refused.usage(
            f"Node {node} did not run in run {run_id}, which goes on from {parent}.",
            f"`runwright show {parent} {shlex.quote(node)}`",
            code="not_found",
        ) from None


def _show_run(call: Invocation, store: "Reader", run_id: str, now: int) -> None:
    from runwright.cli.definitions import saved_definition
    from runwright.cli.rendering.pictures import RunPicture
    from runwright.engine.graph.draw import edges
    from runwright.engine.reading.moment import is_held

    status = store.status(run_id)
    definition = saved_definition(store, run_id)
    picture = RunPicture(run_id, definition, store.specs).follow(store.log.read(f"run/{run_id}"))
    picture.set_around(held=is_held(store.log), turn_open=status.turn_open)
    document = picture.document()
    if call.out.for_machines:
        ways = [] if definition is None else edges(definition)
        entry = None if definition is None else definition.entry
        graph = {"entry": entry, "edges": [{"from": source, "on": when, "to": to} for source, when, to in ways]}
        call.out.document({**document, "status": status.document(), "graph": graph})
        return
    from rich.text import Text

    from runwright.cli.rendering.graphs import graph_screen
    from runwright.cli.rendering.notices import notices_screen
    from runwright.cli.rendering.reasons import shown_word
    from runwright.cli.rendering.statuses import run_facts
    from runwright.cli.rendering.timelines import TimelineChart

    timeline = document["timeline"]
    assert isinstance(timeline, dict)
    call.out.show(*run_facts(status, now), "", Text("Graph", style="bold"), graph_screen(picture))
    if timeline["visits"]:
        call.out.show("", Text("Timeline", style="bold"), TimelineChart(timeline, now, shown_word(status)))
    call.out.show(*notices_screen(picture.notices, now))
