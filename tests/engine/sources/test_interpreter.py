"""Which Python a start records: the nearest that somebody meant, by the path that makes it an environment."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from runwright.engine.errors import InterpreterUnusable
from runwright.engine.sources.interpreter import choose_interpreter, passed_on

NONE: Mapping[str, str] = MappingProxyType({})


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
    """The setting, else the project's, else the activated one, else the starter's own, else the host's."""
    project = tmp_path / "project"
    project.mkdir()
    variables = {"VIRTUAL_ENV": str(environment(tmp_path / "activated"))}
    own = environment(tmp_path / "own")
    mine = environment(tmp_path / "mine")

    def chosen(setting: str | None = None, variables: Mapping[str, str] = NONE, own: Path | None = None) -> str | None:
        return choose_interpreter(project, setting=setting, environment=variables, own=own)

    assert chosen() is None
    assert chosen(own=own) == str(own / "bin" / "python")
    assert chosen(variables={"VIRTUAL_ENV": ""}, own=own) == str(own / "bin" / "python")
    assert chosen(variables=variables, own=own) == str(tmp_path / "activated" / "bin" / "python")
    (project / ".venv").mkdir()
    assert chosen(variables=variables) == str(tmp_path / "activated" / "bin" / "python"), "an empty folder is none"
    (project / ".venv").rmdir()
    environment(project / ".venv")
    assert chosen(variables=variables) == str(project / ".venv" / "bin" / "python")
    assert chosen(str(mine), variables) == str(mine / "bin" / "python")
    assert chosen(str(mine / "bin" / "python"), variables) == str(mine / "bin" / "python"), "the link, not its target"


def test_a_setting_is_relative_to_the_project_or_a_command(tmp_path: Path) -> None:
    """A bare word is looked up as the starter's shell would; anything with a slash is a path."""
    environment(tmp_path / "envs" / "py")
    found = choose_interpreter(tmp_path, setting="envs/py", environment={})
    assert found == str(tmp_path / "envs" / "py" / "bin" / "python")
    path = {"PATH": str(tmp_path / "envs" / "py" / "bin")}
    assert choose_interpreter(tmp_path, setting="python", environment=path) == found


@pytest.mark.parametrize("setting", ["no-such-python", "./none", "~/no/such/python", "."])
def test_a_setting_that_names_nothing_is_refused(tmp_path: Path, setting: str) -> None:
    """It is said at the start, with the setting's own words, and never replaced by another Python."""
    environment(tmp_path / ".venv")
    with pytest.raises(InterpreterUnusable) as refused:
        choose_interpreter(tmp_path, setting=setting, environment={"PATH": str(tmp_path)})
    assert refused.value.code == "interpreter_unusable"
    assert setting in refused.value.message
    assert "`python`" in refused.value.hint


def test_only_what_is_named_and_set_is_passed_on() -> None:
    """Nothing else of the starter's environment travels, and a name without a value is left out."""
    variables = {"TOKEN": "t", "HOME": "/h", "EMPTY": ""}
    assert passed_on(("TOKEN", "EMPTY", "ABSENT"), variables) == {"TOKEN": "t", "EMPTY": ""}
