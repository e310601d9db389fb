"""``runwright store``: the file that everything stands in."""

from collections.abc import Sequence
from pathlib import Path

import rich_click as click

from runwright.cli.command import Family, intent, takes_store
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading
from runwright.cli.rendering.counting import counted
from runwright.cli.rendering.text import byte_size, plural
from runwright.cli.texts import FILE_NAME


@click.group("store", cls=Family)
def command() -> None:
    """The file: status, backup, import, adopt."""


@intent("status", example="runwright store status")
def status(call: Invocation) -> None:
    """Say where the store is, how large it is, who holds it, and whether it may be written.

    Its size is that of the log with what was written last and stands beside it still (the WAL).
    """
    from runwright.cli.rendering.statuses import next_lines
    from runwright.cli.rendering.stores import store_facts, store_table

    with reading(call) as store:
        facts = store_facts(store)
    if call.out.for_machines:
        call.out.document(facts)
    else:
        call.out.show(store_table(facts))
        if not facts["writable"]:
            call.out.say(*next_lines(["runwright store adopt"]))


@intent("backup", example="runwright store backup ~/backups/runwright.sqlite")
@click.argument("file", type=FILE_NAME)
def backup(call: Invocation, file: str) -> None:
    """Write a verified copy of the store into FILE, also while a run is driven; prints the head to keep."""
    from runwright.eventstore.backup import backup as copy
    from runwright.eventstore.verdict import format_head

    if _path(file).resolve().is_relative_to(call.home.resolve()):
        # Under one of the store's own names that is free just now, it would be taken for what belongs there.
        raise Refused.usage("The state directory takes no backups.", "Name a file elsewhere.", code="name_invalid")
    with counted(call.out, "copying") as progress:
        verdict = copy(call.home, _path(file), progress=progress)
    head = None if verdict.head is None else format_head(verdict.head)
    if call.out.for_machines:
        call.out.document({"file": file, "events": verdict.events, "head": head, "log_id": verdict.log_id})
    else:
        call.out.say(f"Wrote {file}: {plural(verdict.events, 'event')}, {byte_size(_path(file).stat().st_size)}.")
        call.out.data(str(head))


@intent("import", example="RUNWRIGHT_HOME=elsewhere runwright store import audit.jsonl")
@click.argument("file", type=FILE_NAME)
@click.option("--head", "kept", metavar="P:HASH", help="A head that was kept elsewhere and that FILE must contain.")
def import_(call: Invocation, file: str, kept: str | None) -> None:
    """Make a store of a whole native export with its values: the same log, bit for bit.

    The new store can be read at once; to carry its runs on, adopt it.
    """
    from runwright.eventstore.transfer.importing import import_log
    from runwright.eventstore.verdict import format_head, parse_head
    from runwright.projections.control.registry import CONTROL
    from runwright.projections.inline import ControlRows
    from runwright.projections.layout import LAYOUT

    head = None if kept is None else parse_head(kept)
    with counted(call.out, "importing") as progress:
        verdict = import_log(
            _path(file), call.home, layout=LAYOUT, control=ControlRows(CONTROL), kept=head, progress=progress
        )
    at = None if verdict.head is None else format_head(verdict.head)
    if call.out.for_machines:
        call.out.document({"events": verdict.events, "head": at, "log_id": verdict.log_id, "adopted": False})
    else:
        call.out.say(f"Imported {plural(verdict.events, 'event')}. To carry its runs on: runwright store adopt")
        call.out.data(str(at))


@intent("adopt", example="runwright store adopt")
@takes_store
def adopt(call: Invocation) -> None:
    """Let a copied, restored or imported store go on here; every live run in it waits for an explicit resume.

    Do it only where the store that it came from does not go on: otherwise both would carry out its effects.
    """
    from runwright.cli.hosting import held_elsewhere, when_free
    from runwright.engine.embedded.adopting import adopt_store
    from runwright.eventstore.errors import StoreInUse
    from runwright.eventstore.verdict import format_head

    try:
        unsafe = call.flags.unsafe_filesystem
        head = when_free(
            call, lambda: adopt_store(call.home, by="client:cli", actor="client:cli", unsafe_filesystem=unsafe)
        )
    except StoreInUse as error:
        raise held_elsewhere(call, error.message) from None
    if call.out.for_machines:
        call.out.document({"adopted": head is not None, "head": None if head is None else format_head(head)})
    elif head is None:
        call.out.say("It is this folder's own store already; nothing was done.")
    else:
        with reading(call) as store:
            live = [each.resume_line for each in store.live().items]
        call.out.say(f"Adopted at {format_head(head)}. {_waiting(live)}")


def _waiting(live: Sequence[str]) -> str:
    """What an adopted store's live runs wait for, where there are any: the line that carries each on."""
    match live:
        case []:
            return "No run in it is live."
        case [line]:
            return f"Its live run waits for: {line}"
        case _:
            return f"Its {len(live)} live runs wait for: `runwright resume RUN`; `runwright status` lists them."


for _each in (status, backup, import_, adopt):
    command.add_command(_each)


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise Refused.usage("FILE has no valid name.", "Name a file.", code="name_invalid")
    return Path(text).absolute()
