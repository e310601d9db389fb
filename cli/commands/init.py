"""``runwright init``: a project with a commented example and its test."""

import shlex
from pathlib import Path
from typing import Final

import rich_click as click

from runwright.cli.command import intent
from runwright.cli.failures import Refused
from runwright.cli.invocation import Invocation
from runwright.cli.texts import FILE_NAME

#: Written file below the project, and the template it is a copy of (none: its text stands here).
_FILES: Final = (
    (".runwright/workflows/example.py", "example.py"),
    (".runwright/tests/test_example.py", "test_example.py"),
    (".runwright/README.md", "project.md"),
)
_CONFIG: Final = ".runwright/config.toml"
_CONFIG_TEXT: Final = """\
# Settings of this project; `runwright config` shows each with where it comes from.

# The executor for agent nodes: a command that reads the prompt on stdin and writes JSON.
# default_agent = "cmd:my-agent --json"
"""


@intent("init", example="runwright init\nrunwright run example")
@click.argument("directory", type=FILE_NAME, metavar="[DIR]", required=False)
def command(call: Invocation, directory: str | None) -> None:
    """Write a commented example and its test.

    The example lists the Markdown files of a folder in one index file; it finds one in an empty folder, too. DIR is
    the current folder by default. Files that exist already are left as they are.
    """
    if directory is not None and (not directory or "\0" in directory):
        raise Refused.usage("DIR is no name of a folder.", "Example: runwright init my-project", code="name_invalid")
    folder = Path(directory or ".")
    templates = Path(__file__).parent.parent / "templates"
    written: list[str] = []
    kept: list[str] = []
    texts = {_CONFIG: _CONFIG_TEXT} | {name: (templates / source).read_text("utf-8") for name, source in _FILES}
    for name, text in texts.items():
        (written if _write(folder / name, text) else kept).append(name)
    if call.out.for_machines:
        call.out.document({"project": str(folder.resolve()), "written": written, "kept": kept})
        return
    for name in written:
        call.out.say(f"Wrote {folder / name}")
    for name in kept:
        call.out.say(f"Kept  {folder / name} (it was there)")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    from runwright.cli.rendering.statuses import next_lines

    where = "there" if enter else "here"
    call.out.say("", f"It lists the Markdown files {where} in INDEX.md. Try it, and its test (which needs pytest):")
    call.out.say(*next_lines([f"{enter}runwright run example", f"{enter}python -m pytest .runwright"]))


def _write(path: Path, text: str) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
