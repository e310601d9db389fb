"""How a command is declared: its intent in one sentence, an example, and the flags that every command takes."""

from collections.abc import Callable
from typing import Any, TypeVar

import rich_click as click

from runwright.cli.invocation import Flags, Invocation
from runwright.cli.texts import FILE_NAME, takes_text

F = TypeVar("F", bound=Callable[..., Any])

#: The panel of a command's help that holds the flags standing everywhere.
EVERYWHERE = "Everywhere"


class IntentCommand(click.RichCommand):
    """A command whose help ends in lines to type."""

    example: str = ""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options before those that stand everywhere."""
        from rich.table import Table
        from rich_click.rich_panel import construct_panels

        panels = construct_panels(self, ctx, formatter)  # type: ignore[arg-type]  # rich-click's own, as it calls it
        for panel in sorted(panels, key=lambda each: each.name == EVERYWHERE):
            shown = panel.render(self, ctx, formatter)  # type: ignore[arg-type]  # the same
            if not isinstance(shown.renderable, Table) or shown.renderable.rows:
                formatter.write(shown)  # type: ignore[arg-type]  # the same

    def format_epilog(  # type: ignore[override]  # narrowed as rich-click itself narrows it
        self,
        ctx: click.RichContext,  # noqa: ARG002 (click hands it in)
        formatter: click.RichHelpFormatter,
    ) -> None:
        """Write the example as it is typed, each line whole however narrow the terminal is."""
        from rich.text import Text

        text = Text.assemble((" Example\n", "bold"), *(f"   {line}\n" for line in self.example.splitlines()))
        formatter.write(text, soft_wrap=True)


class Family(click.RichGroup):
    """A group of commands that share a word; without a further one it shows its help and changes nothing."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.invoke_without_command = False
        self.no_args_is_help = True


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def keep(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        flags = context.ensure_object(Flags)
        if value not in (None, False, 0):
            setattr(flags, name, value)

    return keep


def shared_flags(*, lines: bool = False, panel: str | None = EVERYWHERE) -> Callable[[F], F]:
    """Add the flags that stand everywhere; ``lines`` adds ``--jsonl`` for what lists or streams."""

    def add(function: F) -> F:
        def option(*names: str, **given: Any) -> Callable[[F], F]:
            return click.option(*names, panel=panel, **given)

        options = [
            option("--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else."),
            option("--home", type=FILE_NAME, metavar="DIR", help="The state directory (or RUNWRIGHT_HOME)."),
            option("--project", type=FILE_NAME, metavar="DIR", help="The project folder."),
            option("-q", "--quiet", is_flag=True, help="Say nothing beside the answer."),
            option("-v", "--verbose", count=True, metavar="", help="Say more: what the engine logs, and tracebacks."),
        ]
        if lines:
            options.insert(1, option("--jsonl", "as_lines", is_flag=True, help="One JSON document a line."))
        for each in reversed(options):
            function = each(function)
        parameters: list[click.Parameter] = getattr(function, "__click_params__", [])
        for parameter in parameters:
            if parameter.name in Flags.__annotations__:
                parameter.expose_value = False
                parameter.callback = _remember(parameter.name)
        return function

    return add


def takes_store(function: F) -> F:
    """Add the flag of commands that take the store, and so make it where there is none."""
    return click.option(
        "--unsafe-filesystem",
        is_flag=True,
        help="Take the store on a network or shared file system, too.",
    )(function)


def intent(name: str, *, example: str, lines: bool = False) -> Callable[[Callable[..., int | None]], click.Command]:
    """Declare a command.

    The function gets the `Invocation` first and its own parameters by name; it returns an exit code, ``None`` for 0.

    Args:
        name: The word behind ``runwright``.
        example: One line (or several) to type, shown at the end of its help.
        lines: Whether it lists or streams, so that ``--jsonl`` makes sense.
    """

    def declare(function: Callable[..., int | None]) -> click.Command:
        def call(context: click.Context, /, **given: Any) -> int:
            invocation = Invocation(context.ensure_object(Flags))
            invocation.show_warnings()
            with invocation.at_end:
                return function(invocation, **given) or 0

        call.__doc__ = function.__doc__
        call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]  # click's own
        made = takes_text(click.command(name, cls=IntentCommand)(shared_flags(lines=lines)(click.pass_context(call))))
        made.example = example.strip()
        return made

    return declare
