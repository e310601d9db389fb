"""Shell nodes: what runs, what is kept of it, and that nothing of it is left."""

import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runwright import Command, Context, JsonObject, Observation, Present, Retry, ShellResult, Workflow, seconds
from runwright.engine.commands.worker import FailRun, SettleEffect
from runwright.engine.execution.commands import as_command
from support.running import output_log, port_for, run, run_until_crash
from support.scripted_port import Crash, ScriptedPort

Written = Callable[[Context[JsonObject]], Any]


def shell(written: Written, **how: Any) -> Workflow[JsonObject]:
    """One shell node."""
    workflow = Workflow("shell")

    @workflow.shell(**{"recovery": "idempotent", **how})
    def command(ctx: Context[JsonObject]) -> Any:
        return written(ctx)

    workflow.entry(command)
    return workflow


def ran(port: ScriptedPort) -> dict[str, Any]:
    """The saved result of the command."""
    value = port.output("command")
    assert isinstance(value, dict)
    return value


def test_a_command_runs_without_a_shell_in_the_runs_folder(tmp_path: Path) -> None:
    """Arguments arrive as they are; stdout is the result, stderr goes to the log too."""
    script = "import os, sys; print(os.getcwd()); print(sys.argv[1]); print('told', file=sys.stderr)"
    port = port_for(shell(lambda ctx: [sys.executable, "-c", script, "$HOME; *"]), tmp_path)
    assert run(port) == "finished"
    assert ran(port)["stdout"].splitlines() == [os.path.realpath(tmp_path), "$HOME; *"]
    assert (ran(port)["stderr"], ran(port)["exit_code"]) == ("told\n", 0)
    assert "command: told" in output_log(port)


def test_stdin_env_cwd_and_the_shell_string(tmp_path: Path) -> None:
    """Everything that a `Command` says is heard; the value of a variable is saved nowhere."""
    (tmp_path / "inner").mkdir()
    written = Command.sh(
        "cat; pwd; echo $SECRET_THING >&2; echo $RUNWRIGHT_RUN_ID",
        stdin="in\n",
        cwd=Path("inner"),
        env={"SECRET_THING": "s3cr3t-value"},
    )
    port = port_for(shell(lambda ctx: written), tmp_path)
    assert run(port) == "finished"
    assert ran(port)["stdout"].splitlines() == ["in", os.path.realpath(tmp_path / "inner"), "run"]
    assert ran(port)["stderr"] == "[masked]\n"
    assert "s3cr3t" not in output_log(port)


def test_streams_are_cut_and_marked(tmp_path: Path) -> None:
    """No more than the limit of each stream is kept, and both say whether there was more."""
    script = "import sys; sys.stdout.write('a' * 300_000); sys.stderr.write('b' * 10)"
    port = port_for(shell(lambda ctx: Command([sys.executable, "-c", script], max_output=1000)), tmp_path)
    run(port)
    assert (len(ran(port)["stdout"]), ran(port)["stdout_cut"], ran(port)["stderr_cut"]) == (1000, True, False)


def test_stdout_to_a_file_is_not_cut(tmp_path: Path) -> None:
    """The file takes everything; the result holds path, size and digest."""
    script = "import sys; sys.stdout.write('a' * 2_000_000)"
    port = port_for(shell(lambda ctx: Command([sys.executable, "-c", script], stdout_to=Path("out.txt"))), tmp_path)
    run(port)
    digest = hashlib.sha256(b"a" * 2_000_000).hexdigest()
    assert ran(port)["stdout_file"] == {"path": str(tmp_path / "out.txt"), "size": 2_000_000, "sha256": digest}


def test_a_non_zero_exit_is_a_known_failure(tmp_path: Path) -> None:
    """Even of a manual effect; the end of stderr stands in the error."""
    port = port_for(shell(lambda ctx: Command.sh("echo why >&2; exit 3"), recovery="manual"), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.error == "the command ended with exit code 3\nwhy"


def test_unchecked_exits_are_results(tmp_path: Path) -> None:
    """`check=False` hands the exit code on."""
    port = port_for(shell(lambda ctx: Command.sh("exit 3", check=False)), tmp_path)
    run(port)
    assert ran(port)["exit_code"] == 3


def test_a_signal_is_an_uncertain_end(tmp_path: Path) -> None:
    """A command that a signal killed may have done anything before."""
    port = port_for(shell(lambda ctx: Command.sh("kill -9 $$"), recovery="manual"), tmp_path)
    assert run(port) == "parked"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("ls -l", "Command.sh"),
        ([], "empty"),
        (["echo", 3], "int"),
        (["echo", "a\0b"], "NUL"),
        (["/no/such/program"], "No such file"),
    ],
    ids=["text", "empty", "number", "nul", "missing"],
)
def test_what_cannot_be_started_is_a_known_failure(tmp_path: Path, written: object, words: str) -> None:
    """Nothing ran, so nothing is ambiguous."""
    port = port_for(shell(lambda ctx: written, recovery="manual"), tmp_path)
    assert run(port) == "finished"
    assert words in str(port.nodes["command"].error)


def test_parse_makes_the_output(tmp_path: Path) -> None:
    """The effect keeps the whole result, the node what `parse` returned."""

    def parse(result: ShellResult) -> int:
        return int(result.stdout)

    port = port_for(shell(lambda ctx: ["echo", "42"], parse=parse), tmp_path)
    run(port)
    assert port.output("command") == 42
    result = port.effects["command", 1].result
    assert isinstance(result, dict)
    assert result["stdout"] == "42\n"


def test_a_failing_parse_repeats_no_command(tmp_path: Path) -> None:
    """The command did its work: the effect is applied, the node fails, and no retry applies."""

    def parse(result: ShellResult) -> int:
        raise ValueError("odd")

    port = port_for(shell(lambda ctx: ["echo"], parse=parse, retry=Retry(attempts=3, first=seconds(0))), tmp_path)
    assert run(port) == "finished"
    assert port.effects["command", 1].state == "applied"
    assert port.finished() == [("command", 1, 1, "failed")]


def test_an_observed_command_may_be_present(tmp_path: Path) -> None:
    """`Present()` of a command without a result is an empty one."""
    workflow = Workflow("observed")

    def look(ctx: Context[JsonObject], command: Command) -> Observation[ShellResult]:
        assert list(command.argv) == ["/bin/sh", "-c", "exit 9"]
        return Present()

    @workflow.shell(observe=look)
    def command(ctx: Context[JsonObject]) -> Command:
        return Command.sh("exit 9")

    workflow.entry(command)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished", output_log(port)
    assert ran(port)["stdout"] == ""


TREE = "sleep 300 & (sleep 2; touch late) & echo up > up; sleep 300"
STUBBORN = f"(trap '' TERM; sleep 300 & sleep 300) & {TREE}"


@pytest.mark.parametrize("tree", [TREE, STUBBORN], ids=["tree", "ignores_term"])
def test_a_timeout_ends_the_whole_tree(tmp_path: Path, tree: str) -> None:
    """TERM, then KILL; no descendant is left and the outcome is recorded after that."""
    port = port_for(shell(lambda ctx: Command.sh(tree), timeout=0.5), tmp_path)
    left: list[list[str]] = []
    port.crash_before = lambda each: left.append(living(tmp_path)) if has_settlement(each) else None
    assert run(port) == "finished"
    assert port.finished() == [("command", 1, 1, "timed_out")]
    assert left == [[]]
    assert (tmp_path / "up").exists()
    assert not (tmp_path / "late").exists()


def test_what_a_finished_command_left_is_ended(tmp_path: Path) -> None:
    """A background process that holds the pipes neither hangs the node nor outlives it."""
    started = time.monotonic()
    port = port_for(shell(lambda ctx: Command.sh("sleep 300 & echo done")), tmp_path)
    assert run(port) == "finished"
    assert ran(port)["stdout"] == "done\n"
    assert living(tmp_path) == []
    assert time.monotonic() - started < 10


def test_the_environment_is_worked_out_again_and_compared(tmp_path: Path) -> None:
    """After a crash the values come from the function; another value is another request."""
    token = ["first-value"]
    node = shell(lambda ctx: Command.sh("echo $T > seen", env={"T": token[0]}))
    port = port_for(node, tmp_path)
    port.crash_before = crash_at_settlement
    assert run_until_crash(port) is None
    assert "first-value" not in str(port.effects["command", 1].request)
    (tmp_path / "seen").unlink()
    assert run_until_crash(port) is None
    assert (tmp_path / "seen").read_text() == "first-value\n"
    token[0] = "another"
    port.crash_before = lambda _: None
    assert run(port) == "finished"
    assert port.nodes["command"].code == "effect_request_changed"


def has_settlement(transitions: Any) -> bool:
    """Whether a list settles an effect."""
    return any(isinstance(each, SettleEffect) for each in transitions)


def crash_at_settlement(transitions: Any) -> None:
    """Let the worker vanish with its result."""
    if any(isinstance(each, SettleEffect) and each.outcome == "applied" for each in transitions):
        raise Crash


def living(folder: Path) -> list[str]:
    """Processes that work in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if (process / "cwd").readlink() == folder:
                    found.append((process / "cmdline").read_text())
            except OSError:
                continue
    return found


def test_a_command_is_read_from_a_list() -> None:
    """A list of arguments is a command as it stands."""
    assert as_command(["a", "b"]) == Command(["a", "b"])
