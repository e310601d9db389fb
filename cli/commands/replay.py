"""``runwright replay``: a run rebuilt from its events as of any moment."""

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.texts import FILE_NAME, WholeNumber
from runwright.engine.errors import NotFound
from runwright.eventstore.values import JsonObject

if TYPE_CHECKING:
    from runwright.eventstore.envelope import RecordedEvent


@intent("replay", example="runwright replay @last --step 3\nrunwright replay 7k2m3x --from audit.jsonl --at 120")
@click.argument("run")
@click.option("--at", type=WholeNumber(1, 2**63 - 1), metavar="POSITION", help="As of this position of the log.")
@click.option("--step", type=WholeNumber(1, 2**31), metavar="N", help="As it stood after its Nth step.")
@click.option(
    "--from",
    "source",
    type=FILE_NAME,
    metavar="FILE",
    help="From a native export instead of the store; RUN is one of its runs.",
)
def command(call: Invocation, run: str, at: int | None, step: int | None, source: str | None) -> None:
    """A run rebuilt from its events, as of any moment.

    The exact rows as of then; as of now, where neither --at nor --step says when. A step is one visit of a node;
    after the Nth one is just before the next begins.
    """
    if at is not None and step is not None:
        raise Refused.usage("--at and --step name two moments.", "Leave one of them out.")
    if source is None:
        from runwright.cli.references import find_run

        with reading(call) as store:
            document = store.replay(find_run(call, store, run), at=at, step=step)
            last = store.head().position
    else:
        document, last = _from_export(_file(source), run, at, step)
    if call.out.for_machines:
        call.out.document(document)
        return
    from runwright.cli.rendering.replays import replay_screen

    call.out.show(*replay_screen(document, last))


def _from_export(path: Path, run: str, at: int | None, step: int | None) -> tuple[JsonObject, int]:
    """Replay a run from an export, every event of which is verified before it is used."""
    from runwright.cli.references import find_among
    from runwright.eventstore.verify_export import read_export
    from runwright.projections.errors import PositionUnknown
    from runwright.projections.replay import replay_document, replay_run_of

    of_runs: dict[str, list[RecordedEvent]] = {}
    last = 0
    for each in read_export(path):
        last = each.position
        kind, _, name = each.stream.partition("/")
        if kind == "run":
            own = of_runs.setdefault(name, [])
            # Only what may be meant is kept, however large the file.
            if name.endswith(run.lower()):
                own.append(each)
    run_id = find_among(of_runs, run, shlex.quote(str(path)))
    if at is not None and at > last:
        raise PositionUnknown(at, last)
    position = at or (last if step is None else _after_step(of_runs[run_id], step, last))
    return replay_document(replay_run_of(of_runs[run_id], run_id, position), run_id, position), last


def _after_step(own: "Iterable[RecordedEvent]", step: int, last: int) -> int:
    """The position at which a run's Nth step was over: that of its event before the next step began."""
    begun = before = 0
    for each in own:
        if each.type == "node.started" and json.loads(each.data)["attempt"] == 1:
            begun += 1
            if begun == step + 1:
                return before
        before = each.position
    if begun < step:
        raise NotFound("step", f"{step}: the run has {begun}")
    return before if before else last


def _file(text: str) -> Path:
    if not text or "\0" in text:
        raise Refused.usage("FILE has no valid name.", "Name a native export.", code="name_invalid")
    return Path(text)
