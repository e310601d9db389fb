"""Every command of the command line, as tests try them all on one store."""

from collections.abc import Iterator, Sequence

import click

from runwright.cli.catalogue import runwright

#: Every command that looks into a store, with whatever it needs to get there.
COMMANDS = (
    ("run", "world.py:four"), ("start", "world.py:four"), ("restart", "@last"), ("status",), ("runs",),
    ("show", "@last"), ("watch",), ("wait", "@last"), ("output", "@last"), ("logs", "@last"), ("pause", "@last"),
    ("resume", "@last"), ("cancel", "@last"), ("requests",), ("answer", "@last", "1"), ("effects",),
    ("effect", "@last"), ("resolve", "@last", "not-done", "--reason", "x"), ("events",), ("replay", "@last"),
    ("query", "runs"), ("projections", "verify"), ("projections", "rebuild"), ("log", "verify"), ("log", "head"),
    ("log", "export"), ("log", "redact", "@last", "--reason", "x"), ("log", "redact", "--dry-run"),
    ("host", "run"), ("host", "start"), ("store", "status"), ("store", "adopt"), ("store", "backup", "copy.sqlite"),
    ("store", "import", "export.jsonl"),
)  # fmt: skip
#: The others: they need no store, or only look for a host.
WITHOUT = {"init", "workflows", "check", "config", "completion", "demo", "host status", "host stop"}


def every_name() -> set[str]:
    """Every command there is by name, those of groups with that of their group."""
    return set(_names(runwright, click.Context(runwright)))


def name_of(line: Sequence[str]) -> str:
    """The name of the command that a line gives."""
    two = " ".join(line[:2])
    return two if two in every_name() else line[0]


def _names(group: click.Group, context: click.Context) -> Iterator[str]:
    """Every command below a group by name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from (f"{name} {inner}" for inner in _names(command, click.Context(command, context)))
        else:
            yield name
