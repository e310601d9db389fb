"""``runwright projections``: tables against the log, and tables made anew from it."""

from collections.abc import Sequence

import rich_click as click

from runwright.cli.command import Family, intent, takes_store
from runwright.cli.failures import ENDED_BADLY, OK
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading


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


@intent("rebuild", example="runwright projections rebuild\nrunwright projections rebuild run_list")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@takes_store
def rebuild(call: Invocation, names: Sequence[str]) -> None:
    """Make the tables anew from the log.

    The control tables are exchanged at one moment, or not at all; views are emptied and filled.
    """
    from runwright.cli.changing import changing
    from runwright.cli.rendering.text import plural

    control, views = _kinds(names)  # a wrong name changes nothing, not even who held the store last
    with reading(call):  # where there is no store, none is made for this
        pass
    with changing(call) as changes:
        done = changes.rebuild(control, views)
    if call.out.for_machines:
        call.out.document({"position": done.position, "rows": dict(done.rows), "views": views})
        return
    if control:
        call.out.say(f"Made {plural(sum(done.rows.values()), 'row')} anew, as of position {done.position}.")
    if views:
        call.out.say(f"Filled anew: {', '.join(views)}.")


def _kinds(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The control projections and the views among names; all of both where there are none.

    Raises:
        UnknownProjection: There is none of one of the names.
    """
    from runwright.projections.control.registry import CONTROL
    from runwright.projections.errors import UnknownProjection
    from runwright.projections.views.registry import views_for

    control = [each.name for each in CONTROL]
    views = [each.name for each in views_for(names)]
    for name in names:
        if name not in control and name not in views:
            raise UnknownProjection(name, (*control, *views))
    return [each for each in control if not names or each in names], [
        each for each in views if not names or each in names
    ]


for _each in (verify, rebuild):
    command.add_command(_each)
