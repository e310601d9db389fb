"""``@last``: the newest run of this project, or that was started here; and what is said where there is none."""

import shutil
from pathlib import Path

import pytest

from support.command_line import CommandLine

SAMPLE = Path(__file__).parent / "flows" / "sample.py"


@pytest.fixture
def elsewhere(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder with the workflow, beside the project that commands run in."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    folder = cli.project.parent / "elsewhere"
    folder.mkdir()
    shutil.copy(SAMPLE, folder / "flow.py")
    return folder


@pytest.mark.parametrize("with_host", [False, True])
def test_a_run_of_another_folders_file_is_the_last_one_here(
    cli: CommandLine, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, with_host: bool
) -> None:
    """Its project is the file's folder; whoever started it finds it where they stand, and there as well."""
    if with_host:
        cli("host", "start")
    flags = () if with_host else ("--inline",)
    older = cli("run", *flags, "sample", "a", "--json").document["run_id"]
    newest = cli("run", *flags, "../elsewhere/flow.py", "b", "--json").document["run_id"]
    assert older != newest
    for command in ("status", "replay"):
        assert cli(command, "@last", "--json").document["run_id"] == newest
    assert newest in cli("cancel", "@last", code=3).err  # named by the host, where one lives
    monkeypatch.chdir(elsewhere)
    assert cli("status", "@last", "--json").document["run_id"] == newest
    assert newest in cli("cancel", "@last", code=3).err
    # A project that is named is meant alone, wherever the command stands.
    (cli.project / "below").mkdir()
    monkeypatch.chdir(cli.project)
    for project, meant in ((elsewhere, newest), (cli.project / "below", None)):
        monkeypatch.setenv("RUNWRIGHT_PROJECT", str(project))
        answer = cli("cancel", "@last", code=2 if meant is None else 3)
        assert ("none was started in this project" if meant is None else meant) in answer.err


@pytest.mark.parametrize("with_host", [False, True])
def test_where_there_is_none_the_newest_of_all_is_named(
    cli: CommandLine, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, with_host: bool
) -> None:
    """With its project, so that it can be typed."""
    if with_host:
        cli("host", "start")
        assert "No run was started" in cli("status", "@last", code=2).err
    run_id = cli("run", *(() if with_host else ("--inline",)), "sample", "a", "--json").document["run_id"]
    monkeypatch.chdir(elsewhere)
    for command in ("show", "effects", "pause", "answer", "output"):
        error = cli(command, "@last", "--json", code=2).document["error"]
        assert error["code"] == "not_found"
        assert "none was started in this project" in error["message"]
        assert f"{run_id}, of {cli.project}." in error["hint"]


def test_a_project_named_by_the_environment_is_where_a_run_is_started(
    cli: CommandLine, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with --project: by name, by file, checked or run."""
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("RUNWRIGHT_PROJECT", str(cli.project))
    cli("check", "sample")
    run_id = cli("run", "--inline", "sample", "a", "--json").document["run_id"]
    assert cli("status", "@last", "--json").document["run_id"] == run_id
    (row,) = cli("query", "runs", "--json").document["items"]
    assert row["project"] == str(cli.project)
    assert "outside the project" in cli("check", "flow.py", code=2).err
    assert "outside the project" in cli("start", "flow.py", "a", code=2).err
