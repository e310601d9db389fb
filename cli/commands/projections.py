"""``runwright projections``: tables against the log, and tables made anew from it."""

from collections.abc import Sequence

import rich_click as click

from runwright.cli.command import Family, intent, takes_store
from runwright.cli.failures import ENDED_BADLY, OK
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.rendering.counting import counted


@click.group("projections", cls=Family)
def command() -> None:
    """Tables against the log: verify, rebuild."""


@intent("verify", example="runwright projections verify\nrunwright projections verify runs effects")
@click.argument("names", metavar="[NAME]...", nargs=-1)
def verify(call: Invocation, names: Sequence[str]) -> int:
    """Compare the tables with a replay of the log; every difference is named, and nothing is repaired.

    Exits 1 where there is a difference.
    """
    from runwright.projections.verify import verify as compare

    with reading(call) as store:
        found = compare(store.log, names or None)
    if call.out.for_machines:
        differences = [
            {
                "projection": each.projection,
                "key": each.key,
                "field": each.field,
                "live": each.live,
                "replayed": each.replayed,
                "position": each.position,
                "event_type": each.event_type,
            }
            for each in found.differences
        ]
        call.out.document({"ok": found.ok, "position": found.position, "rows": found.rows, "differences": differences})
    else:
        from runwright.cli.rendering.differences import difference_lines

        call.out.show(*difference_lines(found))
    return OK if found.ok else ENDED_BADLY


@intent("rebuild", example="runwright projections rebuild")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@takes_store
def rebuild(call: Invocation, names: Sequence[str]) -> None:
    """Make the tables anew from the log; all of them are exchanged at one moment, or none."""
    from runwright.cli.holding import holding
    from runwright.cli.rendering.text import plural
    from runwright.projections.rebuild import rebuild as make_anew
    from runwright.projections.verify import control_named

    control_named(names or None)  # a wrong name changes nothing, not even who held the store last
    with reading(call):
        pass  # where there is no store, none is made
    with holding(call) as holder, counted(call.out, "rebuilding") as progress:
        done = make_anew(holder.log, names or None, progress=progress)
    if call.out.for_machines:
        call.out.document({"position": done.position, "rows": done.rows})
    else:
        count = sum(done.rows.values())
        call.out.say(f"Made {plural(count, 'row')} anew, as of position {done.position}.")


for _each in (verify, rebuild):
    command.add_command(_each)
