"""``runwright show``: a run's graph and timeline, or one node's visits."""

import time
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
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
            from runwright.cli.node_visits import node_document
            from runwright.cli.rendering.reasons import shown_word
            from runwright.cli.rendering.visits import visits_screen

            find_node(store, run_id, node)
            document = node_document(store.log.read(f"run/{run_id}"), run_id, node, values=values)
            if call.out.for_machines:
                call.out.document(document)
            else:
                own = [each for each in store.effects(run_id) if each.path == node]
                call.out.show(*visits_screen(document, now, own, word=shown_word(store.status(run_id))))
            return
        _show_run(call, store, run_id, now)


def _show_run(call: Invocation, store: "Reader", run_id: str, now: int) -> None:
    from runwright.cli.definitions import saved_definition
    from runwright.cli.rendering.graphs import graph_screen, in_flow_order
    from runwright.engine.graph.draw import edges as edges_of
    from runwright.engine.reading.moment import is_held
    from runwright.projections.views.run_view import RunView

    status = store.status(run_id)
    definition = saved_definition(store, run_id)
    kinds = {} if definition is None else {path: str(spec.kind) for path, spec in definition.nodes.items()}
    view = RunView(run_id, kinds).follow(store.log.read(f"run/{run_id}"))
    document = view.document(held=is_held(store.log))
    edges = [] if definition is None else list(edges_of(definition))
    entry = None if definition is None else definition.entry
    if call.out.for_machines:
        graph = {"entry": entry, "edges": [{"from": source, "on": when, "to": to} for source, when, to in edges]}
        call.out.document({**document, "status": status.document(), "graph": graph})
        return
    from rich.text import Text

    from runwright.cli.rendering.reasons import shown_word
    from runwright.cli.rendering.statuses import run_facts
    from runwright.cli.rendering.timelines import TimelineChart

    nodes, timeline = document["nodes"], document["timeline"]
    assert isinstance(nodes, list)
    assert isinstance(timeline, dict)
    specs = {} if definition is None else definition.mounts
    entries = {path: spec.entry for path, spec in specs.items()}
    if (word := shown_word(status)) != status.status:
        nodes = [{**each, "state": word} if isinstance(each, dict) and each["current"] else each for each in nodes]
    rows = in_flow_order([each for each in nodes if isinstance(each, dict)], edges, entry, entries)
    entered = {each["mount"]: each for each in document["mounts"] if isinstance(each, dict)}  # type: ignore[union-attr]
    mounts: dict[str, JsonObject] = {
        path: {"workflow": spec.workflow, **entered.get(path, {})} for path, spec in specs.items()
    }
    call.out.show(*run_facts(status, now), "", Text("Graph", style="bold"), graph_screen(rows, edges, entry, mounts))
    if timeline["visits"]:
        call.out.show("", Text("Timeline", style="bold"), TimelineChart(timeline, now, shown_word(status)))
