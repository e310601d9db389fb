"""Does the reference name every command, option, setting and code of the command line?"""

import re
from collections.abc import Iterator
from pathlib import Path

import rich_click as click

from runwright.cli.catalogue import runwright
from runwright.cli.command import EVERYWHERE
from runwright.cli.failures import CODES
from runwright.cli.settings import KEYS

ROOT = Path(__file__).parents[2]
CLI = (ROOT / "docs/reference/cli.md").read_text("utf-8")


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Every command with its whole name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(command, inner)
        else:
            yield inner.command_path, command


def test_every_command_and_option_is_in_the_reference() -> None:
    """Each command has a section, and each of its own options a row in it."""
    found = list(commands(runwright, click.Context(runwright, info_name="runwright")))
    assert len(found) > 25
    for path, command in found:
        section = CLI.partition(f"### {path}\n")[2].partition("\n### ")[0]
        assert section, path
        assert "$ " in section, f"{path} has no example"
        for option in command.params:
            if isinstance(option, click.Option) and getattr(option, "panel", None) != EVERYWHERE:
                assert f"`{option.opts[0]}`" in section, (path, option.opts)


def test_every_setting_is_in_the_reference() -> None:
    """Each key has a row."""
    text = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    assert [key.name for key in KEYS if f"| `{key.name}` |" not in text] == []


def test_every_code_of_the_command_line_is_in_the_reference() -> None:
    """A code that the command line writes itself is one of its own, or one that the engine has too."""
    errors = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    used = {
        code
        for path in (ROOT / "cli").rglob("*.py")
        for code in re.findall(r'\bcode="([a-z_]+)"', path.read_text("utf-8"))
    }
    assert used
    assert [code for code in sorted(used | CODES.keys()) if f"| `{code}` |" not in errors] == []
