"""Which Python a start records: the nearest that somebody meant, by the path that makes it an environment."""

from pathlib import Path

import pytest

from runwright.engine.errors import InterpreterUnusable
from runwright.engine.sources.interpreter import choose_interpreter


def environment(folder: Path) -> Path:
    """Make what looks like a virtual environment: its Python is a link to one elsewhere."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    base = folder.parent / "base-python"
    base.write_text("#!/bin/sh\n")
    base.chmod(0o755)
    python.symlink_to(base)
    return folder


def test_the_nearest_one_wins(tmp_path: Path) -> None:
    """The setting, else the project's, else the one that the starter runs on."""
    project = tmp_path / "project"
    project.mkdir()
    mine = environment(tmp_path / "mine")

    def chosen(setting: str | None = None) -> str:
        return choose_interpreter(project, setting=setting, search=None, own="/own/python")

    assert chosen() == "/own/python"
    (project / ".venv").mkdir()
    assert chosen() == "/own/python", "an empty folder is none"
    (project / ".venv").rmdir()
    environment(project / ".venv")
    assert chosen() == str(project / ".venv" / "bin" / "python")
    assert chosen(str(mine)) == str(mine / "bin" / "python")
    assert chosen(str(mine / "bin" / "python")) == str(mine / "bin" / "python"), "the link, not its target"


def test_a_setting_is_relative_to_the_project_or_a_command(tmp_path: Path) -> None:
    """A bare word is looked up as the starter's shell would; anything with a slash is a path."""
    environment(tmp_path / "envs" / "py")

    def chosen(setting: str) -> str:
        search = str(tmp_path / "envs" / "py" / "bin")
        return choose_interpreter(tmp_path, setting=setting, search=search, own="/own/python")

    found = str(tmp_path / "envs" / "py" / "bin" / "python")
    assert (chosen("envs/py"), chosen("envs/py/bin/python"), chosen("python")) == (found, found, found)


@pytest.mark.parametrize("setting", ["no-such-python", "./none", "~/no/such/python", "."])
def test_a_setting_that_names_nothing_is_refused(tmp_path: Path, setting: str) -> None:
    """It is said at the start, with the setting's own words, and never replaced by another Python."""
    environment(tmp_path / ".venv")
    with pytest.raises(InterpreterUnusable) as refused:
        choose_interpreter(tmp_path, setting=setting, search=str(tmp_path), own="/own/python")
    assert refused.value.code == "interpreter_unusable"
    assert setting in refused.value.message
    assert "`python`" in refused.value.hint
