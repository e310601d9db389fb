"""``runwright log``: verify the chain, print the head, export, and erase private values."""

import errno
import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import rich_click as click
from attrs import frozen

from runwright.cli.command import Family, intent, takes_store
from runwright.cli.failures import ENDED_BADLY, OK, Refused
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading, reading_events
from runwright.cli.pages import print_list
from runwright.cli.rendering.counting import counted
from runwright.cli.rendering.text import plural
from runwright.cli.settings import redact_after_of
from runwright.cli.texts import FILE_NAME
from runwright.eventstore.errors import StoreFull

if TYPE_CHECKING:
    from runwright.cli.changes import Erased
    from runwright.engine.embedded.redacting import Redaction
    from runwright.engine.reading.reader import Reader
    from runwright.projections.verify import ControlTables


@click.group("log", cls=Family)
def command() -> None:
    """The chain: verify, head, export, redact."""


@intent("verify", example="runwright log verify\nrunwright log verify audit.jsonl --head 1200:9f3c…")
@click.argument("file", type=FILE_NAME, required=False)
@click.option("--head", "kept", metavar="P:HASH", help="A head that was kept elsewhere and that the log must contain.")
@click.option("--deep", is_flag=True, help="Check the store's indexes and tables against its events as well.")
def verify(call: Invocation, file: str | None, kept: str | None, deep: bool) -> int:
    """Check that nobody changed the log: this store's, or an exported or backed-up FILE.

    Exits 1 and names the first bad position and what is wrong there.
    """
    from runwright.cli.rendering.verdicts import verdict_document, verdict_lines
    from runwright.eventstore.errors import StoreForeign
    from runwright.eventstore.verdict import parse_head
    from runwright.eventstore.verify import verify_store
    from runwright.eventstore.verify_export import verify_export

    head = None if kept is None else parse_head(kept)
    with counted(call.out, "verifying") as progress:
        if file is None:
            verdict = verify_store(call.home, deep=deep, head=head, progress=progress, tables=_tables(deep=deep))
        elif _is_store(_path(file)):
            try:
                tables = _tables(deep=deep)
                verdict = verify_store(_path(file), deep=deep, head=head, progress=progress, tables=tables)
            except StoreForeign:
                verdict = verify_export(_path(file))  # which says what it is not
        else:
            verdict = verify_export(_path(file), head=head, progress=progress)
    if call.out.for_machines:
        call.out.document(verdict_document(verdict))
    else:
        call.out.show(*verdict_lines(verdict))
    return OK if verdict.ok else ENDED_BADLY


@intent("head", example="runwright log head > head.txt")
def head(call: Invocation) -> None:
    """Print the last position and its hash; keep it elsewhere, and `log verify --head` proves what stood before it."""
    from runwright.eventstore.verdict import format_head

    with reading_events(call) as log:
        last = log.head()
        if call.out.for_machines:
            call.out.document(
                {"log_id": log.log_id, "position": last.position, "hash": last.hash.hex(), "head": format_head(last)}
            )
        else:
            call.out.data(format_head(last))


@intent("export", example="runwright log export --with-values -o audit.jsonl")
@click.argument("run", required=False)
@click.option(
    "--format", "form", type=click.Choice(["native", "cloudevents", "csv"]), default="native", help="The format."
)
@click.option("--with-values", is_flag=True, help="Private values go along: inputs, prompts, outputs, errors.")
@click.option("-o", "--output", "target", type=FILE_NAME, metavar="FILE", help="Write into FILE instead of stdout.")
def export(call: Invocation, run: str | None, form: str, with_values: bool, target: str | None) -> None:
    """Write the whole log, or one RUN's part of it; with FILE a whole native export prints the head to keep.

    A native export can be verified anywhere without the store; a whole one with its values can be imported.
    """
    from runwright.cli.references import find_run
    from runwright.eventstore.transfer.cloudevents import export_cloudevents
    from runwright.eventstore.transfer.csv import export_csv
    from runwright.eventstore.transfer.native import export_native
    from runwright.eventstore.transfer.selection import Selection

    if target is None and call.out.for_machines:
        raise Refused.usage("The export itself goes to stdout.", "Name a file with -o, or leave --json out.")
    with ExitStack() as stack:
        progress = stack.enter_context(counted(call.out, "exporting"))
        selection = Selection()
        if run is None:
            log = stack.enter_context(reading_events(call))
        else:
            store = stack.enter_context(reading(call))
            log = store.log
            selection = Selection(streams=frozenset({f"run/{find_run(call, store, run)}"}))
        write = {"native": export_native, "cloudevents": export_cloudevents, "csv": export_csv}[form]
        lines = write(log, selection=selection, with_values=with_values, progress=progress)
        if target is None:
            for line in lines:
                call.out.stdout.buffer.write(line)
            call.out.stdout.buffer.flush()
            return
        written = _write_file(_path(target), call.home, lines)
    head = _head_of(written.last) if run is None and form == "native" else None
    if call.out.for_machines:
        facts = {"file": target, "format": form, "with_values": with_values}
        call.out.document({**facts, "bytes": written.size, "head": head})
        return
    from runwright.cli.rendering.text import byte_size

    call.out.say(f"Wrote {target} ({byte_size(written.size)}).")
    if head is not None:
        call.out.data(head)


@intent(
    "redact", example="runwright log redact 7k2m3x --reason 'asked for by the customer'\nrunwright log redact --dry-run"
)
@click.argument("run", required=False)
@click.option("--older-than", "age", metavar="T", help="Without RUN: what ended longer ago, whatever the settings say.")
@click.option("--reason", metavar="TEXT", help="Why; it stays in the log. Needed but for --dry-run.")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
@takes_store
def redact(call: Invocation, run: str | None, age: str | None, reason: str | None, dry_run: bool) -> None:
    """Erase the private values of an ended run, with all its continuations and restarts; its facts stay.

    Without RUN it does what a host does by itself: it erases those of every such tree that is older than the setting
    `redact_after` of its project. A tree stays whole where a run of it lives, an effect of it is ambiguous, or its
    session is still to be told something.
    """
    from runwright.cli.changing import changing

    words = (reason or "").strip()
    if run is not None and age is not None:
        raise Refused.usage("RUN and --older-than exclude each other.", "Give one of them.")
    if not words and not dry_run:
        raise Refused.usage("--reason is missing, or empty.", "Say why; it stays in the log.")
    if run is not None:
        run_id, erased = _redacted(call, run, words, dry_run=dry_run)
        if call.out.for_machines:
            call.out.document({"run_id": run_id, **_facts(erased), "dry_run": dry_run})
        else:
            _say_erased(call, [erased], listed=False, dry_run=dry_run)
        return
    with reading(call) as store:
        position, done = store.head().position, _aged(store, age)
    if not dry_run and done:
        with changing(call) as changes:
            done = [changes.redact(each.root, reason=words) for each in done]
    if call.out.for_machines:
        print_list(call.out, [{**_facts(each), "dry_run": dry_run} for each in done], position=position)
    else:
        _say_erased(call, done, listed=True, dry_run=dry_run)


def _redacted(call: Invocation, run: str, reason: str, *, dry_run: bool) -> "tuple[str, Erased]":
    """The run that somebody named, and what was erased of its tree, or would be."""
    from runwright.cli.changing import changing
    from runwright.cli.naming_runs import runs_of

    with runs_of(call) as runs:
        run_id = str(runs.find(run)["run_id"])
        if runs.client is not None:
            from runwright.cli.hosted_changes import HostedChanges

            return run_id, HostedChanges(runs.client).redact(run_id, reason=reason, dry_run=dry_run)
    from runwright.engine.embedded.redacting import plan_redaction

    with reading(call) as store:
        planned = _planned(plan_redaction(store, run_id))  # what cannot be done is refused before the store is taken
    if dry_run:
        return run_id, planned
    with changing(call) as changes:
        return run_id, changes.redact(run_id, reason=reason)


def _aged(store: "Reader", age: str | None) -> "list[Erased]":
    """What has grown old: by the settings of each project, or as somebody says."""
    from runwright.cli.durations import parse_duration
    from runwright.engine.embedded.redacting import plan_aged

    seconds = None if age is None else parse_duration(age, "--older-than")
    ages = redact_after_of if seconds is None else lambda _: seconds
    return [_planned(each) for each in plan_aged(store.log, ages, time.time_ns() // 1000)]


def _planned(plan: "Redaction") -> "Erased":
    from runwright.cli.changes import Erased

    return Erased(root=plan.root, runs=tuple(plan.runs), events=plan.events, pending=plan.pending)


def _facts(done: "Erased") -> dict[str, object]:
    return {"root": done.root, "runs": list(done.runs), "events": done.events, "pending": done.pending}


def _say_erased(call: Invocation, done: "Sequence[Erased]", *, listed: bool, dry_run: bool) -> None:
    if listed:
        for each in done:
            call.out.say(f"  {each.root}  {plural(len(each.runs), 'run')}, {plural(each.events, 'event')}")
    would, what = "Would erase" if dry_run else "Erased", plural(sum(each.events for each in done), "event")
    runs = plural(sum(len(each.runs) for each in done), "run")
    call.out.say(f"{would} the private values of {what} in {runs}.")
    if any(each.pending for each in done):
        call.out.say("Their bytes go once no reader is in the way: pending.")


for _each in (verify, head, export, redact):
    command.add_command(_each)


def _tables(*, deep: bool) -> "type[ControlTables] | None":
    """What compares the tables with the events, where somebody wants it: it replays the whole log in memory."""
    if not deep:
        return None
    from runwright.projections.verify import ControlTables

    return ControlTables


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise Refused.usage("FILE has no valid name.", "Name a file.", code="name_invalid")
    return Path(text)


def _is_store(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        from runwright.eventstore.home import SQLITE_MAGIC

        with path.open("rb") as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError:
        return False  # the verification of an export says why it cannot be read


@frozen
class _Written:
    """What was written: its bytes, and its last line."""

    size: int
    last: bytes


def _head_of(line: bytes) -> str:
    """The head that a whole native export ends at, as its last line has it."""
    event = json.loads(line)
    return f"{event['position']}:{event['hash']}"


def _write_file(path: Path, home: Path, lines: Iterable[bytes]) -> _Written:
    """Write beside and rename, owner-only from the first byte: an export may hold private values.

    A link stays one, and what it leads to is replaced. What is there and no file, a pipe or a device, is written into.
    """
    place = Path(os.path.realpath(path))
    if place.is_relative_to(os.path.realpath(home)):
        raise Refused.usage("The state directory takes no exports.", "Name a file elsewhere.", code="name_invalid")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                return _write(stream, lines)
        return _replace(place, lines)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise StoreFull(path) from None
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # and not the name of what is beside it


def _replace(path: Path, lines: Iterable[bytes]) -> _Written:
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            written = _write(file, lines)
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return written


def _write(file: BinaryIO, lines: Iterable[bytes]) -> _Written:
    size, line = 0, b""
    for line in lines:
        size += file.write(line)
    file.flush()
    return _Written(size, line)
