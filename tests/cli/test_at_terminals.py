"""What a person sees and types at a terminal: playing the agent, deciding, too late, and where there is no terminal."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwright.cli.interview import person
from support.command_line import CommandLine
from support.command_processes import Project
from support.terminals import AtTerminal

FLOWS = Path(__file__).parent / "flows"


class Desk:
    """A project, commands at terminals in it, and others that have none."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._terminals: list[AtTerminal] = []

    def at(self, *line: str, piped: bool = False) -> AtTerminal:
        """A command at a terminal of its own."""
        made = AtTerminal(*line, cwd=self.project.folder, environment=self.project.environment, piped=piped)
        self._terminals.append(made)
        return made

    def asked(self, run: str = "@last") -> dict[str, Any]:
        """The one question that waits."""
        import json

        (item,) = json.loads(self.project.run("requests", run, "--json").stdout)["items"]
        return dict(item)

    def output(self, *line: str) -> Any:
        """An output, as JSON."""
        import json

        return json.loads(self.project.run("output", *line, "--json").stdout)

    def close(self) -> None:
        """Leave nothing behind."""
        for each in self._terminals:
            each.close()
        self.project.run("host", "stop")
        self.project.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A project with workflows that ask."""
    (tmp_path / ".runwright").mkdir()
    made = Desk(Project(tmp_path, FLOWS / "asking.py"))
    made.project.environment.pop("COLUMNS")
    yield made
    made.close()


def test_a_person_plays_the_agent_and_decides_in_place(desk: Desk) -> None:
    """Field by field, with what does not fit said at once; then the decision; the output comes last."""
    at = desk.at("run", "asking.py:asking", "--agent", "console")
    at.see("Review the commit.").see('verdict ("clean" or "issues")> ').type("dirty")
    at.see('has to be "clean" or "issues"').see("verdict").type("issues")
    at.see("count (integer)> ").type("many").see("integer").see("count (integer)> ").type("2")
    at.see("notes").type("a\x1b[2Jb")
    at.see("Merge \\x1b[31mthis?").see("1  approve").see("takes a text: Why?").see("then policy decides: reject")
    at.see("choice> ").type("maybe").see("There are: 1 approve, 2 reject").see("choice> ").type("2")
    at.see("Why?").type("not enough tests")
    screen = at.end()
    assert screen.rstrip().endswith("reject not enough tests")
    assert b"\x1b[31mthis" not in at.raw
    decided = desk.output("@last", "decide")
    assert (decided["by"], decided["timed_out"]) == (person(), False)


def test_no_executor_has_to_be_handed_over_for_a_person(desk: Desk) -> None:
    """Ctrl-C pauses at the question; another host asks it again, after `resume` alone."""
    at = desk.at("run", "asking.py:asking", "--agent", "console")
    at.see('verdict ("clean" or "issues")> ').press(b"\x03")
    assert "runwright resume" in at.end(5)
    desk.project.run("host", "stop")
    desk.project.run("host", "start")
    at = desk.at("resume", "@last")
    at.see("verdict (").type('{"verdict": "clean", "count": 1, "nots": ""}').see("no field `nots`")
    at.see("verdict (").type('{"verdict": "clean", "count": 1}').see("choice> ").type("approve")
    assert at.end().rstrip().endswith("approve None")


def test_a_run_without_a_terminal_ends_as_soon_as_a_person_is_needed(desk: Desk) -> None:
    """Exit 5 with the line to type; an answer of the agent's kind may stand on the command line."""
    ended = desk.project.run("run", "asking.py:asking", "--agent", "console", code=5)
    request = desk.asked()
    assert f"runwright answer {request['request_id']}" in ended.stderr
    desk.project.run("answer", "@last", '{"verdict": "clean"}', code=2)
    desk.project.run("answer", "@last", '{"verdict": "clean", "count": 1}')
    desk.project.run("wait", "@last", "--until", "waiting")
    assert desk.asked()["kind"] == "decision"


def test_a_decision_needs_the_terminal_and_not_the_streams(desk: Desk) -> None:
    """Without one it is refused and stays open; with one a value on the command line only proposes."""
    desk.project.run("run", "asking.py:asking", "--agent", "console", "-q", code=5)
    desk.project.run("answer", "@last", '{"verdict": "clean", "count": 1}')
    desk.project.run("wait", "@last", "--until", "waiting")
    request = desk.asked()["request_id"]
    for value in ((), ("approve",)):
        refused = desk.project.run("answer", request, *value, "--json", code=3).stdout
        assert '"human_required"' in refused
        assert f"runwright answer {request}" in refused
    at = desk.at("answer", request, "reject", "--json", piped=True)
    at.see("Proposed on the command line: reject").see("choice> ").type("approve")
    at.end()
    desk.project.run("wait", "@last")
    assert desk.output("@last", "decide")["choice"] == "approve"


def test_whoever_is_too_late_is_told_that_it_was_policy(desk: Desk) -> None:
    """While the question is open at a terminal, and afterwards."""
    desk.project.run("run", "asking.py:hasty", "--agent", "console", "-q", code=5)
    desk.project.run("answer", "@last", '{"verdict": "clean", "count": 1}')
    desk.project.run("wait", "@last", "--until", "waiting")
    request = desk.asked()["request_id"]
    at = desk.at("answer", request)
    at.see("choice> ").see("It was decided: reject, by policy")
    assert "settled already" in " ".join(at.end(3).split())
    late = desk.project.run("answer", request, "approve", code=3).stderr
    assert "the choice that the workflow makes when nobody answered in time" in " ".join(late.split())
    desk.project.run("wait", "@last")
    assert "answered by policy" in desk.project.run("show", "@last", "decide").stdout
    graph = desk.project.run("show", "@last").stdout
    assert "review  agent  begins here  by a person" in graph
    assert "decide  decision  by policy" in graph


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_who_leaves_a_question_is_told_on_a_line_of_its_own(desk: Desk, key: bytes) -> None:
    """Behind the prompt it began in the middle of a line, and broke within a word."""
    desk.project.run("run", "asking.py:asking", "--agent", "console", "-q", code=5)
    assert "\nInterrupted. " in desk.at("answer", "@last").see("verdict (").press(key).end(130)


def test_the_engine_in_this_process_asks_at_the_terminal_too(desk: Desk) -> None:
    """`run --inline`: the agent's question and the decision, one after the other."""
    at = desk.at("run", "--inline", "asking.py:asking", "--agent", "console")
    at.see("verdict (").type("none").see("That will not do").see("verdict (").type("clean")
    at.see("count (integer)> ").type("1").see("notes (string; Enter leaves it out)> ").type("")
    at.see("choice> ").type("1")
    assert at.end().rstrip().endswith("approve None")


def test_a_decision_is_made_where_no_host_lives(desk: Desk) -> None:
    """The command takes the store for a moment; `resume` carries the run on. A paused run takes none."""
    agent = ("--agent", """cmd:echo '{"verdict": "clean", "count": 1}'""")
    desk.project.run("run", "--inline", "asking.py:asking", *agent, code=5)
    desk.project.run("pause", "@last")
    assert "is paused" in desk.at("answer", "@last").end(3)
    desk.project.run("resume", "@last", *agent, code=5)
    desk.at("answer", "@last").see("choice> ").type("1").see("runwright resume").end()
    assert desk.project.run("resume", "@last", *agent).stdout == "approve None\n"


@pytest.fixture
def handing(desk: Desk) -> Desk:
    """A workflow whose runs need what a host keeps in memory alone."""
    shutil.copy(FLOWS / "handed.py", desk.project.folder)
    (desk.project.folder / ".runwright" / "config.toml").write_text('pass_env = ["TOKEN"]\n')
    return desk


def anew(desk: Desk) -> None:
    """Another host, which has nothing of what was handed over, and no variable of its own."""
    desk.project.run("host", "stop")
    token = desk.project.environment.pop("TOKEN", None)
    desk.project.run("host", "start")
    if token is not None:
        desk.project.environment["TOKEN"] = token


def test_a_decision_hands_over_what_a_host_has_lost(handing: Desk) -> None:
    """With the decision go executors and variables, so that no `resume` is needed behind it."""
    agent = ("--agent", """cmd:echo '"said"'""")
    handing.project.environment["TOKEN"] = "four"
    handing.project.run("run", "handed.py", *agent, code=5)
    anew(handing)
    handing.at("answer", "@last", *agent).see("choice> ").type("yes").see("goes on behind it").end()
    handing.project.run("wait", "@last")
    assert handing.output("@last") == "4 said"


def test_a_decision_says_where_the_run_cannot_go_on_behind_it(handing: Desk) -> None:
    """What is lacking here, too, is named, with the line to type once it is there; the decision stands."""
    agent = ("--agent", """cmd:echo '"said"'""")
    handing.project.environment["TOKEN"] = "four"
    handing.project.run("run", "handed.py", *agent, code=5)
    del handing.project.environment["TOKEN"]
    anew(handing)
    at = handing.at("answer", "@last", *agent).see("choice> ").type("yes").see("cannot go on behind it")
    assert "variable TOKEN" in " ".join(at.see("runwright resume").end().split())
    handing.project.environment["TOKEN"] = "four"
    assert handing.project.run("resume", "@last", *agent).stdout == "4 said\n"


def test_a_run_that_is_shown_outlives_its_host_at_each_question(handing: Desk) -> None:
    """What is answered at the terminal brings along what the run was started with."""
    handing.project.environment["TOKEN"] = "four"
    at = handing.at("run", "handed.py", "--agent", "console")
    at.see("Say something.").see("> ")
    anew(handing)
    at.type("one").see("choice> ")
    anew(handing)
    at.type("yes").see("Say something else.").see("> ").type("two")
    assert at.end().rstrip().endswith("4 two")


def test_a_pager_gets_no_question(cli: CommandLine) -> None:
    """What lists shows title, choices, deadline and policy, and nothing in it steers a terminal."""
    shutil.copy(FLOWS / "asking.py", cli.project / "asking.py")
    cli("run", "asking.py:asking", "--agent", "console", "-q", code=5)
    cli("answer", "@last", '{"verdict": "clean", "count": 1}')
    cli("wait", "@last", "--until", "waiting")
    shown = cli("requests").out
    for words in ("Merge \\x1b[31mthis?", "approve  Merge it", "takes a text: Why?", "then policy decides: reject"):
        assert words in shown
    assert "\x1b" not in shown
    for where in (("status",), ("status", "@last")):
        assert "it waits for a decision at decide until" in cli(*where).out
