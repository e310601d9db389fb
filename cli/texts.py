"""What is typed is text, as everything that the log holds; only the name of a file may be any bytes."""

from typing import Any, Final, TypeVar

import rich_click as click
from click.types import StringParamType

from runwright.cli.failures import Refused
from runwright.engine.texts import text_problem

T = TypeVar("T", bound=click.Command)

#: A bound from here on is only what a store can hold, and nobody is told of it.
_ENDLESS: Final = 2**31
#: The type of a parameter that names a file or folder, which the system takes as it is.
FILE_NAME = StringParamType()


class Typed(StringParamType):
    """A text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is not UTF-8 before anything is read by it."""
        converted = super().convert(value, param, ctx)
        if text_problem(converted) is not None:
            raise Refused.usage(
                f"{'What was typed' if param is None else _called(param)} is not UTF-8.",
                "Only UTF-8 can be saved: rename the file, or convert the text.",
            )
        return converted


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is none, or beyond a bound, in words."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            above = "" if self.max is None or self.max >= _ENDLESS else f" to {self.max}"
            raise Refused.usage(
                f"{'What was typed' if param is None else _called(param)} takes a whole number from {self.min}"
                f"{above or ' on'}.",
                f"See `{ctx.command_path} --help`." if ctx is not None else "",
            ) from None


def takes_text(command: T) -> T:
    """Have every parameter of a command take text that names no file."""
    for parameter in command.params:
        if parameter.type is click.STRING:
            parameter.type = Typed()
    return command


def _called(param: click.Parameter) -> str:
    return param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name.strip("[].")
