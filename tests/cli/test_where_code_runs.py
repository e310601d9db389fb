"""Where a host runs a workflow's code: the interpreter that the settings name, and the variables that they hand on."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import runwright
from support.command_line import CommandLine

WORKFLOW = """\
import os
import sys

from runwright import Context, Workflow

where = Workflow("where")


@where.compute
def look(ctx: Context) -> dict[str, str]:
    return {"python": sys.prefix, "token": os.environ.get("TOKEN", "-"), "other": os.environ.get("OTHER", "-")}


@where.checkpoint(summary="Go on?", returns=bool)
def ask(ctx: Context) -> str:
    return "so far"


@where.compute
def look_again(ctx: Context) -> dict[str, str]:
    return look.declaration.function(ctx)


where.entry(look)
where.then(look, ask)
where.then(ask, look_again)
"""


LEAKY = """\
import os

from runwright import Command, Context, Workflow

leaky = Workflow("leaky")


@leaky.shell(recovery="idempotent")
def call(ctx: Context) -> Command:
    return Command.sh('echo "who is $TOKEN?" >&2; exit 3')


@leaky.compute
def look(ctx: Context) -> str:
    print("a", os.environ["TOKEN"], flush=True)
    ctx.log.info("b %s", os.environ["TOKEN"])
    os.write(1, b"c " + os.environb[b"TOKEN"] + b"\\n")
    raise KeyError(os.environ["TOKEN"])


leaky.entry(call)
leaky.catch(call, look)
"""


@pytest.fixture
def hosted(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line with the workflow, two variables, and a host that knows neither."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    for name in ("TOKEN", "OTHER"):
        monkeypatch.delenv(name, raising=False)
    (cli.project / "where.py").write_text(WORKFLOW)
    cli("host", "start")
    monkeypatch.setenv("TOKEN", "secret-1")
    monkeypatch.setenv("OTHER", "secret-2")
    return cli


def environment(folder: Path) -> Path:
    """A virtual environment without pip that sees this runwright, and what that needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    roots = [str(Path(runwright.__file__).parent.parent), sysconfig.get_path("purelib")]
    (folder / "lib" / version / "site-packages" / "here.pth").write_text("\n".join(roots) + "\n")
    return folder


def test_an_environment_of_the_projects_own_runs_its_code(hosted: CommandLine) -> None:
    """Found beside the project, or named by the setting; one that is not there refuses the start without a trace."""
    made = environment(hosted.project / ".venv")
    hosted("run", "where.py", code=5)
    assert hosted("output", "@last", "look", "--json").document["python"] == str(made)
    other = environment(hosted.project / "env")
    hosted("config", "python", "env/bin/python")
    hosted("run", "where.py", code=5)
    assert hosted("output", "@last", "look", "--json").document["python"] == str(other)
    hosted("config", "python", "./env")
    hosted("run", "where.py", code=5)
    assert hosted("output", "@last", "look", "--json").document["python"] == str(other), "a folder is its environment"
    for nowhere in ("nowhere/bin/python", "no-such-command"):
        hosted("config", "python", nowhere)
        refused = hosted("start", "where.py", "--json", code=2).document["error"]
        assert (refused["code"], nowhere in refused["message"]) == ("interpreter_unusable", True)
    assert len(hosted("runs", "--json").document["items"]) == 3


def test_named_variables_are_handed_on_and_no_others(hosted: CommandLine) -> None:
    """Their values stand neither in the log nor anywhere else in the state directory."""
    hosted("config", "pass_env", "TOKEN")
    hosted("run", "where.py", code=5)
    assert hosted("output", "@last", "look", "--json").document == {
        "python": sys.prefix, "token": "secret-1", "other": "-",
    }  # fmt: skip
    exported = hosted("log", "export").out
    assert "TOKEN" in exported
    assert "secret-1" not in exported


def test_what_was_handed_on_is_struck_out_of_whatever_is_kept(hosted: CommandLine) -> None:
    """C95: from what the code prints, logs and raises, and from what its commands say; by a worker and in process."""
    hosted("config", "pass_env", "TOKEN")
    (hosted.project / "leaky.py").write_text(LEAKY)
    for how in ((), ("--inline",)):
        hosted("run", *how, "leaky.py", code=1)
        assert "who is [masked]?" in hosted("show", "@last", "call", "--values").out
        assert "KeyError: '[masked]'" in hosted("show", "@last", "look", "--values").out
        printed = hosted("logs", "@last").out
        assert all(f"{letter} [masked]" in printed for letter in ("a", "b", "c") if letter != "c" or not how)
        hosted("host", "stop")
    kept = [path for path in hosted.home.rglob("*") if path.is_file() and b"secret-1" in path.read_bytes()]
    assert kept == []


def test_what_a_host_has_lost_is_handed_over_again(hosted: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an answer, by a restart and by a resume, each from its own environment; without it a run keeps its place."""
    hosted("config", "pass_env", "TOKEN")
    hosted("run", "where.py", code=5)
    anew(hosted, monkeypatch)
    monkeypatch.setenv("TOKEN", "secret-3")
    hosted("answer", "@last", "true")
    hosted("wait", "@last")
    assert hosted("output", "@last", "--json").document["token"] == "secret-3"
    monkeypatch.setenv("TOKEN", "secret-4")
    run_id = hosted("restart", "@last").out.strip()
    hosted("wait", run_id, "--until", "waiting")
    assert hosted("output", run_id, "look", "--json").document["token"] == "secret-4"
    anew(hosted, monkeypatch)
    said = hosted("answer", run_id, "true").err
    last = hosted.run_id()
    for words in ("cannot go on behind it", "variable TOKEN", f"runwright resume {last}"):
        assert words in said
    monkeypatch.setenv("TOKEN", "secret-5")
    assert hosted("resume", last, "--json").document["output"]["token"] == "secret-5"


def test_a_run_that_never_began_says_what_it_lacks(hosted: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not parked for it, and whoever resumes it does not wait for ever."""
    hosted("host", "stop")
    run_id = hosted.queue("where.py", pass_env=("TOKEN",))
    monkeypatch.delenv("TOKEN")
    hosted("host", "start")
    refused = hosted("resume", run_id, "--json", code=3).document["error"]
    assert (refused["code"], "variable TOKEN" in refused["message"]) == ("environment_missing", True)
    assert "--pass-env" not in refused["hint"]
    monkeypatch.setenv("TOKEN", "secret-6")
    assert hosted("resume", run_id, "--json", code=5).document["status"] == "waiting"


def anew(hosted: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start another host that knows the variable no more."""
    hosted("host", "stop")
    monkeypatch.delenv("TOKEN")
    assert "TOKEN" not in os.environ
    hosted("host", "start")
