"""``runwright config``: the settings with their origin, and a way to set them."""

from pathlib import Path

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.durations import duration_text
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.settings import KEYS, Setting, find_key, load_settings, project_files, user_file


@intent("config", example="runwright config default_agent 'cmd:my-agent --json'", lines=True)
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--user", is_flag=True, help="Set it for you everywhere, not for this project.")
@click.option("--unset", is_flag=True, help="Remove KEY from the file.")
def command(call: Invocation, key: str | None, value: str | None, user: bool, unset: bool) -> None:
    """Settings with where each comes from.

    A setting is taken from a flag, else from RUNWRIGHT_KEY, else from the project (.runwright/config.toml or
    [tool.runwright] in pyproject.toml), else from your own configuration, else it has its default. KEY VALUE writes
    the project's file where the project has a folder .runwright, else your own.
    """
    if key is None and (unset or user):
        raise Refused.usage("There is no KEY to set or remove.", "Example: runwright config capacity --unset")
    if key is None:
        _show_all(call)
        return
    find_key(key)
    if value is not None and unset:
        raise Refused.usage("--unset takes no VALUE.", "Leave one of them out.")
    if value is not None or unset:
        _write(call, key, value, user)
        return
    _show_one(call, key)


def _write(call: Invocation, key: str, value: str | None, user: bool) -> None:
    from runwright.cli.setting_edit import write_setting

    of_project = project_files(call.project)[0][0]
    path = of_project if of_project.parent.is_dir() and not user else user_file()
    write_setting(path, key, value)
    holding = load_settings(call.project).get(key)
    if call.out.for_machines:
        call.out.document(_facts(key, holding))
        return
    call.out.say(f"{'Removed' if value is None else 'Set'} {key} in {path}.")
    if value is not None and holding.origin != str(path):
        call.out.say(f"{holding.origin} holds over it.")


def _show_one(call: Invocation, key: str) -> None:
    setting = call.settings.get(key)
    if call.out.for_machines:
        call.out.document(_facts(key, setting))
        return
    call.out.data(_words(key, setting))
    call.out.say(f"{find_key(key).meaning}; from {setting.origin}")


def _show_all(call: Invocation) -> None:
    settings = call.settings
    named = sorted(f"agents.{name}" for name in settings.agents())
    rows = [(name, settings.get(name)) for name in [*named, *(key.name for key in KEYS[1:])]]
    if call.out.as_lines:
        call.out.lines(_facts(name, setting) for name, setting in rows)
    elif call.out.as_json:
        call.out.document({"items": [_facts(name, setting) for name, setting in rows], "position": None, "next": None})
    else:
        from runwright.cli.rendering.tables import plain_table

        cells = [(name, _words(name, setting), _place(call, setting), find_key(name).meaning) for name, setting in rows]
        headings = ("setting", "value", "from", "meaning")
        # What each is for needs a line of its own at 80 columns; whoever wants it asks with -v, or for one key.
        width = 4 if call.out.verbose else 3
        call.out.show(plain_table(headings[:width], [row[:width] for row in cells], whole=("setting",)))


def _place(call: Invocation, setting: Setting) -> str:
    """Where a setting comes from, a file of the project relative to it."""
    path = Path(setting.origin)
    return str(path.relative_to(call.project)) if path.is_relative_to(call.project) else setting.origin


def _facts(name: str, setting: Setting) -> dict[str, object]:
    value = list(setting.value) if isinstance(setting.value, tuple) else setting.value
    return {"key": name, "value": value, "origin": setting.origin}


def _words(name: str, setting: Setting) -> str:
    match setting.value:
        case None | ():
            return find_key(name).unset.replace("`", "")
        case tuple() as names:
            return ", ".join(names)
        case float() as seconds:
            return duration_text(seconds)
        case value:
            return str(value)
