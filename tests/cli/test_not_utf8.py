"""What is not UTF-8 (as a terminal or a folder from elsewhere hands it on) is refused by what it is called here."""

import os
from pathlib import Path

import pytest

from support.command_line import CommandLine

#: How Python hands on the byte 0xE9, which alone is no UTF-8.
ODD = "caf\udce9"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (("run", f"{ODD}.py"), "WORKFLOW"),
        (("check", f"{ODD}.py"), "WORKFLOW"),
        (("run", "sample", ODD), "TASK"),
        (("start", "sample", "t", "-s", f"task={ODD}"), "--set"),
        (("start", "sample", "t", "--agent", f"cmd:{ODD}"), "--agent"),
        (("start", "sample", "t", "--key", ODD), "--key"),
        (("start", "sample", "t", "-i", f'{{"task": "{ODD}"}}'), "The input given with -i"),
        (("status", ODD), "RUN"),
        (("cancel", "@last", "--reason", ODD), "--reason"),
        (("answer", "@last", ODD), "VALUE"),
        (("resolve", ODD, "done", "--reason", "x"), "EFFECT"),
        (("runs", "--workflow", ODD), "--workflow"),
        (("config", "python", ODD), "VALUE"),
        (("runs", "--home", ODD), "The name of the state directory"),
    ],
)
def test_it_is_named_and_nothing_happens(cli: CommandLine, line: tuple[str, ...], what: str) -> None:
    """One sentence without a word of encodings' inner life, exit 2, and the run is as it was."""
    run_id = cli.queue("sample", "t")
    said = cli(*line, code=2).err
    assert said.startswith(f"error: {what} is not UTF-8")
    assert "UTF-8" in said.splitlines()[1] or "--home" in said
    assert not any(word in said for word in ("surrogate", "udce9", "payload", "pair"))
    assert cli("status", run_id, "--json").document["status"] == "queued"
    assert not (cli.home / "host.sock").exists()


@pytest.mark.parametrize("with_host", [False, True])
def test_a_folder_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch, with_host: bool) -> None:
    """A run that is started in it could not be saved; @last names none there; with a host the sentence is the same."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    cli.queue("sample", "t")
    if with_host:
        cli("host", "start")
    odd = Path(os.fsdecode(os.fsencode(cli.project.parent) + b"/caf\xe9"))
    odd.mkdir()
    (odd / "flow.py").write_text((cli.project / ".runwright/workflows/sample.py").read_text())
    flags = () if with_host else ("--inline",)
    monkeypatch.chdir(odd)
    cli("check", "flow.py")
    for line in (
        ("run", *flags, "flow.py", "t"),
        ("run", *flags, f"{cli.project}/.runwright/workflows/sample.py", "t"),
    ):
        said = cli(*line, code=4).err
        assert "/caf\\xe9 cannot be saved: its name is not UTF-8." in said
        assert "start the run from another folder" in said
    for command in ("status", "pause", "output"):
        assert "none was started in this project" in cli(command, "@last", code=2).err
    assert len(cli("runs", "--json").document["items"]) == 1


def test_a_variable_that_is_handed_on_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name alone, before a host is started for it; and a setting from the environment, too."""
    monkeypatch.setenv("RUNWRIGHT_PASS_ENV", "TOKEN")
    monkeypatch.setenv("TOKEN", ODD)
    said = cli("start", "sample", "t", code=2).err
    assert "The variable TOKEN, which `pass_env` hands on, is not UTF-8." in said
    assert "caf" not in said
    assert not (cli.home / "host.sock").exists()
    monkeypatch.setenv("RUNWRIGHT_PYTHON", f"/{ODD}/python")
    assert "The setting `python` takes a text in UTF-8" in cli("start", "sample", "t", code=2).err


def test_the_name_of_a_file_may_be_any_bytes(cli: CommandLine) -> None:
    """It is only opened, and shown as it can be read."""
    cli("run", "--inline", "sample", "t")
    assert "Wrote caf\\xe9" in cli("log", "export", "-o", ODD).err
    assert "hold" in cli("log", "verify", ODD).out
    assert "caf\\xe9x cannot be read" in cli("log", "verify", f"{ODD}x", code=2).err
    run_id = cli.run_id()
    assert cli("replay", run_id, "--from", ODD, "--json").document["run_id"] == run_id
