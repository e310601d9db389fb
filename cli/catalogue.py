"""Every command by name, in the groups in which help shows them; each is imported when it is used."""

from importlib import import_module
from typing import Final

import rich_click as click

from runwright.cli.command import shared_flags
from runwright.engine.near import near

#: Group, then the commands in it: a name, and the module below `runwright.cli.commands` that declares it.
GROUPS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    ("Start", (("run", "run"), ("start", "start"), ("restart", "restart"))),
    (
        "Look",
        (
            ("status", "status"),
            ("runs", "runs"),
            ("show", "show"),
            ("watch", "watch"),
            ("wait", "wait"),
            ("output", "output"),
            ("logs", "logs"),
        ),
    ),
    (
        "Steer",
        (
            ("pause", "pause"),
            ("resume", "resume"),
            ("cancel", "cancel"),
            ("requests", "requests"),
            ("answer", "answer"),
            ("effects", "effects"),
            ("effect", "effect"),
            ("resolve", "resolve"),
        ),
    ),
    ("Write", (("init", "init"), ("workflows", "workflows"), ("check", "check"))),
    (
        "Audit",
        (
            ("events", "events"),
            ("replay", "replay"),
            ("query", "query"),
            ("projections", "projections"),
            ("log", "log"),
        ),
    ),
    (
        "System",
        (("host", "host"), ("store", "store"), ("config", "config"), ("completion", "completion"), ("demo", "demo")),
    ),
)
_MODULES: Final = {name: module for _, commands in GROUPS for name, module in commands}

HELP: Final = {
    "max_width": 100,
    "commands_before_options": True,
    "style_commands_table_column_width_ratio": (1, 5),  # the same in every group, so that they stand below each other
    "range_string": "",  # a bound that nobody meets says nothing; whoever does is told
    "command_groups": {
        "runwright": [{"name": title, "commands": [name for name, _ in commands]} for title, commands in GROUPS]
    },
}


class Catalogue(click.RichGroup):
    """The group of all commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click hands it in)
        """Name every command in the order of help."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (the same)
        """Import and answer one command."""
        module = _MODULES.get(cmd_name)
        if module is None:
            return None
        command = import_module(f"runwright.cli.commands.{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed; where there is none, say which was meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            question = near(name, _MODULES)
            raise click.UsageError(f"There is no command {name[:80]!r}.{f' {question}' if question else ''}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Catalogue,
    name="runwright",
    context_settings={"help_option_names": ["-h", "--help"], "rich_help_config": HELP},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.option("--version", is_flag=True, help="The version.")
@shared_flags(panel=None)
@click.pass_context
def runwright(context: click.Context, version: bool) -> None:
    """Keeps workflows alive: durable, replayable, and auditable to the last event."""
    if version:
        from runwright.cli.main import main

        context.exit(main(["--version"]))
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), color=context.color)
