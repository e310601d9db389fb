"""The command line over a host: starts that return, runs that outlive their command, steering, and following."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwright.engine.client.connect import find_host
from support.command_line import CommandLine
from support.command_processes import LIMIT, Project, until
from support.golden import check
from support.hosts import left_of

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def hosted(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A command line whose commands start a host, which is stopped at the end."""
    monkeypatch.setenv("RUNWRIGHT_IDLE_EXIT", "60")
    return cli


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project folder with the gated workflow, and processes in it."""
    made = Project(tmp_path, FLOWS / "gate.py")
    made.environment["RUNWRIGHT_IDLE_EXIT"] = "60"
    yield made
    made.go()
    made.run("host", "stop")
    made.close()


def test_a_start_returns_and_the_run_goes_on(hosted: CommandLine, tmp_path: Path) -> None:
    """`start` prints the ID and exits; the run completes by itself, and the host stays until it is stopped."""
    check("start", hosted("start", "sample", "greet", "-s", "count=2", "--json").document, tmp_path)
    hosted("wait", "@last")
    assert hosted("status", "@last", "--json").document["status"] == "completed"
    again = hosted("start", "sample", "greet", "-v")
    assert "Watch it with: runwright watch" in again.err
    assert "Started a host" not in again.err
    status = hosted("host", "status", "--json").document
    assert status["state"] == "serving"
    assert not {"pid", "home", "path"} & set(status)
    hosted("wait", again.out.strip())
    stopped = hosted("host", "stop", "--json").document
    assert stopped == {"action": "host stop", "stopped": True, "head": hosted("log", "head").out.strip()}
    assert find_host(hosted.home) is None
    assert hosted("host", "status", "--json", code=4).document["error"]["code"] == "host_unavailable"
    assert hosted("host", "stop", "--json").document["stopped"] is False


def test_the_size_of_a_store_counts_what_is_not_in_its_file_yet(hosted: CommandLine) -> None:
    """While somebody holds it, most of it may stand in the WAL."""
    hosted("host", "start")
    hosted("wait", hosted("start", "sample", "greet").out.strip())
    files = {name: (hosted.home / name).stat().st_size for name in ("log.sqlite", "log.sqlite-wal")}
    assert files["log.sqlite-wal"] > 0
    assert hosted("store", "status", "--json").document["bytes"] == sum(files.values())
    hosted("host", "stop")
    assert not (hosted.home / "log.sqlite-wal").exists()
    assert hosted("store", "status", "--json").document["bytes"] == (hosted.home / "log.sqlite").stat().st_size


def test_a_run_is_shown_until_it_ends(hosted: CommandLine) -> None:
    """The output last on stdout; the steps and what the code printed on stderr; the exit code says how it ended."""
    done = hosted("run", "sample", "greet")
    assert "✓" in done.err
    assert hosted("output", "@last").out == done.out
    assert hosted("run", "sample", "greet", "--json").document["status"] == "completed"
    failed = hosted("run", "sample", "greet", "-s", "mode=fail", "--json", code=1).document
    assert failed["error"]["code"] == "node_failed"
    assert hosted("run", "sample", "greet", "-q").err == ""
    doubt = hosted("run", "sample", "greet", "-s", "mode=doubt", code=5)
    assert "runwright resolve" in doubt.err


def test_what_is_typed_is_judged_where_the_workflow_is_loaded(hosted: CommandLine) -> None:
    """The same sentences as without a host, and nothing is queued."""
    hosted("host", "start")
    for line, words in (
        (("-s", "cuont=3"), "Did you mean count?"),
        (("-s", "count=many"), "-s count has to be: integer."),
        (("--agent", "fast=cmd:echo 1"), "No node asks for the executor 'fast'."),
        (("--agent", "console"), "No node asks for the executor 'default'."),
    ):
        refused = hosted("start", "sample", "greet", *line, code=2)
        assert words in " ".join(refused.err.split())
    assert hosted("start", "smaple", "greet", code=2).err.count("Did you mean sample?") == 1
    assert hosted("runs", "--json").document["items"] == []


def test_a_start_for_a_session_waits_for_it(hosted: CommandLine) -> None:
    """It is queued and names when it begins; a second one names who holds the session, since when."""
    first = hosted("start", "sample", "t", "--session", "pi-1")
    run_id = first.out.strip()
    assert "begins when session pi-1 next comes to rest" in first.err
    busy = hosted("start", "sample", "t", "--session", "pi-1", code=3)
    assert f"held by run {run_id} of workflow sample, queued 20" in busy.err
    document = hosted("status", "--session", "pi-1", "--json").document
    assert (document["run_id"], document["status"], document["session"]) == (run_id, "queued", "pi-1")
    hosted("cancel", run_id)
    assert hosted("status", "--session", "pi-1", "--json").document["status"] == "cancelled"
    named = hosted("start", "sample", "t", "--session", "pi-1", "--json").document
    assert list(named) == ["action", "workflow", "run_id", "queued"]
    assert (named["action"], named["queued"]) == ("start", True)


def test_an_answer_and_a_restart_go_on_by_themselves(hosted: CommandLine) -> None:
    """Behind a checkpoint the host drives the run that carries on; a restart needs no further command, too."""
    shutil.copy(FLOWS / "review.py", hosted.project / "review.py")
    waiting = hosted("run", "review.py", "-s", "name=X", code=5)
    assert "runwright answer" in waiting.err
    hosted("answer", "@last", '{"word": "perhaps"}', code=2)
    hosted("answer", "@last", '{"word": "yes", "note": "good"}')
    hosted("wait", "@last")
    assert hosted("output", "@last").out == "draft of X: good\n"
    restarted = hosted("restart", hosted.run_id(), "--json").document["run_id"]
    hosted("wait", restarted, "--until", "waiting")


def test_an_effect_is_settled_through_the_host(hosted: CommandLine) -> None:
    """`resolve` settles it, and the run goes on to its end without calling it again."""
    hosted("run", "sample", "greet", "-s", "mode=doubt", code=5)
    effect = hosted("effects", "@last", "--state", "ambiguous", "--json").document["items"][0]["effect"]
    hosted("resolve", effect, "done", "--result", "7", "--reason", "looked", code=2)
    answer = hosted(
        "resolve", effect[-8:], "done", "--result", '"it was there"', "--reason", "looked", "--json"
    ).document
    assert (answer["effect"], answer["state"]) == (effect, "applied")
    hosted("wait", "@last")
    assert hosted("output", "@last").out == "it was there\n"
    hosted("log", "redact", "@last", "--reason", "no longer needed")
    assert hosted("log", "verify", "--json").document["ok"]


def test_a_parked_run_says_so_and_what_to_type(project: Project) -> None:
    """Its word alone could also be that of a run which is about to go on."""
    # Long enough that its worker rests, whatever the machine is doing; the next one finds the files changed.
    run_id = project.run("start", "gate.py", "-s", "rest=3").stdout.strip()
    project.until_first()
    file = project.folder / "gate.py"
    file.write_text(f"{file.read_text()}\n# changed\n")
    line = f"runwright resume {run_id} --accept-source"
    refused = project.run("resume", run_id, "--accept-source", code=3).stderr
    assert f"runwright pause {run_id}" in refused
    project.go()
    until(lambda: "parked: source_changed" in project.run("status", run_id).stdout)
    for look in (("status", run_id), ("status",), ("show", run_id), ("runs",)):
        found = project.run(*look)
        assert "parked: source_changed" in found.stdout, look
        assert line in found.stdout + found.stderr, look
    assert json.loads(project.run("status", run_id, "--json").stdout)["status"] == "queued"
    assert "completed" in project.run("resume", run_id, "--accept-source").stderr


def test_a_resume_shows_what_is_printed_from_then_on(project: Project) -> None:
    """What a live run printed before is no news; each line that comes later is."""
    shutil.copy(FLOWS / "chatty.py", project.folder)
    run_id = project.run("start", "chatty.py").stdout.strip()
    until(lambda: "early" in project.run("logs", run_id).stdout)
    resumed = project.begin("resume", run_id)
    assert resumed.stderr is not None
    assert "Carrying on" in resumed.stderr.readline()
    project.go()
    said = resumed.communicate(timeout=LIMIT)[1]
    assert "late" in said
    assert "early" not in said


def test_the_first_interrupt_pauses_and_keeps_showing(project: Project) -> None:
    """Ctrl-C lets the step end, starts no further one, and says how to go on; `resume` carries it to its end."""
    process = project.begin("run", "gate.py")
    project.until_first()
    process.send_signal(signal.SIGINT)
    until(lambda: json.loads(project.run("query", "runs", "--json").stdout)["items"][0]["pause_requested"])
    project.go()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 5, err
    assert out == ""
    assert "runwright resume" in err
    assert project.run("resume", "@last").stdout == "second\n"
    assert project.ledger.read_text() == "first\nsecond\n"


def test_the_second_interrupt_leaves_and_the_run_goes_on_pausing(project: Project) -> None:
    """The second Ctrl-C ends the command with 130; the step under way ends in the host, and the run is paused."""
    process = project.begin("run", "gate.py")
    project.until_first()
    process.send_signal(signal.SIGINT)
    until(lambda: json.loads(project.run("query", "runs", "--json").stdout)["items"][0]["pause_requested"])
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, err
    assert "runwright watch" in err
    project.go()
    project.run("wait", "@last", "--until", "waiting")
    assert json.loads(project.run("status", "@last", "--json").stdout)["status"] == "paused"
    assert project.ledger.read_text() == "first\n"


def test_a_run_is_shown_on_when_its_host_was_killed(project: Project) -> None:
    """`run` starts another host, which takes the run up where it stood."""
    process = project.begin("run", "gate.py")
    project.until_first()
    os.kill(json.loads(project.run("store", "status", "--json").stdout)["pid"], signal.SIGKILL)
    until(lambda: project.ledger.read_text().count("first") == 2)
    project.go()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert out == "second\n"


def test_following_is_told_by_the_host(project: Project) -> None:
    """`watch`, `wait`, `logs -f`, `events -f` and `runs --follow` beside the host, until the run has ended."""
    run_id = project.run("start", "gate.py").stdout.strip()
    project.until_first()
    ending = [project.begin(*line, run_id) for line in (("watch",), ("wait",), ("watch", "--jsonl"))]
    ending.append(project.begin("logs", run_id, "-f"))
    endless = [project.begin("events", run_id, "-f", "--jsonl"), project.begin("runs", "--follow", "--jsonl")]
    overview = project.begin("watch", "--jsonl")
    for each in (*endless, overview):
        assert each.stdout is not None
        assert each.stdout.readline()
    project.run("pause", run_id)
    project.go()
    project.run("wait", run_id, "--until", "waiting")
    assert project.run("resume", run_id).stdout == "second\n"
    for each in ending:
        _, err = each.communicate(timeout=LIMIT)
        assert each.returncode == 0, err
    for each in (*endless, overview):
        each.send_signal(signal.SIGINT)
        each.communicate(timeout=LIMIT)
        assert each.returncode == 130


def test_cancel_ends_what_is_at_work(project: Project) -> None:
    """A step that waits for ever is ended with its process, and `wait` says that the run was cancelled."""
    run_id = project.run("start", "gate.py").stdout.strip()
    project.until_first()
    project.run("cancel", run_id, "--reason", "enough")
    project.run("wait", run_id, code=1)


def test_a_stopped_host_leaves_its_runs_to_be_resumed(project: Project) -> None:
    """`host stop` waits for the step; the run says what to type, and goes on in this process where no host lives."""
    run_id = project.run("start", "gate.py").stdout.strip()
    project.until_first()
    stopping = project.begin("host", "stop")
    until(lambda: json.loads(project.run("host", "status", "--json").stdout or "{}").get("state") != "serving")
    project.go()
    stopping.communicate(timeout=LIMIT)
    assert stopping.returncode == 0
    status = json.loads(project.run("status", run_id, "--json").stdout)
    assert status["next"][0] == f"runwright resume {run_id}"
    assert project.run("resume", run_id).stdout == "second\n"


def test_a_program_that_serves_nobody_is_named(project: Project) -> None:
    """Where a process drives its runs itself, a start says which one, and what can be done about it."""
    process = project.begin("run", "--inline", "gate.py")
    project.until_first()
    failure = json.loads(project.run("start", "gate.py", "--json", code=4).stdout)["error"]
    assert failure["code"] == "store_in_use"
    assert str(process.pid) in failure["message"]
    project.go()
    process.communicate(timeout=LIMIT)
    home = project.folder / "home"
    until(lambda: left_of(home) == [] or find_host(home) is not None)
    assert find_host(home) is None, "what was refused is over, and takes no store later"


def test_the_demo_kills_its_worker_and_recovers(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says first what it will do, shows the recovery and the replay, and leaves no folder and no host behind."""
    temporary = cli.project.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    told = cli("demo")
    assert told.out.startswith("This runs a workflow")
    assert "a tiny one, for there is none here" in " ".join(told.out.split())
    for words in ("worker_crashed", "Replayed as of position", "● count_lines"):
        assert words in told.out
    document = cli("demo", "--json").document
    assert (document["status"], document["workers"]) == ("completed", 2)
    assert document["killed_at"] is not None
    assert list(temporary.iterdir()) == []
    assert not (cli.home / "log.sqlite").exists()


def test_the_host_knows_runs_by_the_names_that_people_use(hosted: CommandLine, tmp_path: Path) -> None:
    """The end of an ID, or @last of the project or of the folder; what names no run is a sentence."""
    hosted("host", "start")
    first, second = hosted("start", "sample", "a").out.strip(), hosted("start", "sample", "b").out.strip()
    hosted("wait", first, second)
    for name, meant in ((first[-6:].upper(), first), (second, second), ("@last", second)):
        assert f"Run {meant} has ended already" in hosted("cancel", name, code=3).err
    for name, words in (("zzzz", "no run zzzz"), ("zz", "no run zz"), ("\udcff", "RUN is not"), (first[:2], "no run")):
        assert words in hosted("pause", name, code=2).err
    (tmp_path / "elsewhere").mkdir()
    assert (
        "none was started in this project"
        in hosted("pause", "@last", "--project", str(tmp_path / "elsewhere"), code=2).err
    )


def test_every_look_at_a_stuck_run_shows_the_same_reason(project: Project) -> None:
    """A run whose node kills its worker: `status`, `runs` and `watch` say why it is stuck, and what to type."""
    shutil.copy(FLOWS / "deadly.py", project.folder)
    run_id = project.run("start", "deadly.py").stdout.strip()
    project.run("wait", run_id, "--until", "waiting")
    reason = json.loads(project.run("status", run_id, "--json").stdout)["reason"]["code"]
    assert reason == "worker_no_progress"
    for look in (("status",), ("status", run_id), ("runs",)):
        assert reason in project.run(*look).stdout
    watching = project.begin("watch", run_id)
    assert watching.stderr is not None
    said = ""
    while f"runwright resume {run_id}" not in said:
        said += watching.stderr.readline()
    assert reason in said
    overview = project.begin("watch")
    assert overview.stdout is not None
    assert reason in overview.stdout.readline()
    project.run("cancel", run_id)
    assert watching.communicate(timeout=LIMIT)
    assert watching.returncode == 1
    overview.send_signal(signal.SIGINT)
    overview.communicate(timeout=LIMIT)


def test_a_host_that_holds_the_store_is_called_one(project: Project) -> None:
    """`run --inline` beside a host says what can be done about it."""
    project.run("host", "start")
    refused = project.run("run", "--inline", "gate.py", code=4).stderr
    assert "runwright host stop" in " ".join(refused.split())


def test_leaving_is_no_error(project: Project) -> None:
    """Ctrl-C in `watch` leaves, and says how to go on."""
    project.run("start", "gate.py")
    project.until_first()
    watching = project.begin("watch")
    assert watching.stdout is not None
    watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=LIMIT)
    assert watching.returncode == 130
    assert err == "Nothing was stopped. Watch again with: runwright watch\n"
