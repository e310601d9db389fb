"""The option that names the conversation a run is started for."""

from collections.abc import Callable
from typing import Any, TypeVar

import rich_click as click

F = TypeVar("F", bound=Callable[..., Any])


def _checked(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    del context, parameter
    if value is None:
        return None
    from runwright.engine.decisions.session import SESSION_ID

    if not SESSION_ID.fullmatch(value):
        raise click.BadParameter("a session ID has 1 to 128 of A-Z a-z 0-9 . _ : -")
    return value


def session_option(function: F) -> F:
    """Let a run be started for a session, which it holds until it has ended."""
    option = click.option(
        "--session",
        metavar="ID",
        callback=_checked,
        help="The session it is for: it holds it, and begins when that next comes to rest.",
    )
    return option(function)
