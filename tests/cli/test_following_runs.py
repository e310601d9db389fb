"""Requests, answers and restarts on the command line: documents, words, and what is typed at a terminal."""

import shutil
import threading
from pathlib import Path

import pytest

from runwright import Context, Engine, Workflow
from runwright.cli.answers import read_answer
from runwright.cli.failures import Refused
from runwright.cli.following import follow
from runwright.cli.invocation import Flags, Invocation
from runwright.cli.showing import screen
from runwright.engine.reading.reader import Reader
from runwright.eventstore.values import JsonObject
from support.command_line import CommandLine
from support.command_processes import LIMIT
from support.golden import check

FLOWS = Path(__file__).parent / "flows"


@pytest.fixture
def review(cli: CommandLine) -> CommandLine:
    """A command line with a workflow that asks a person."""
    shutil.copy(FLOWS / "review.py", cli.project / "review.py")
    return cli


def test_the_shapes_of_requests_answers_and_restarts(review: CommandLine, tmp_path: Path) -> None:
    """What a program gets from each of them, and what a waiting and a continued run are shown as."""
    check("requests_none", review("requests", "--json").document, tmp_path)
    check("run_waiting", review("run", "--inline", "review.py", "--json", code=5).document, tmp_path)
    check("requests", review("requests", "@last", "--json").document, tmp_path)
    parent = review.run_id()
    check("answer", review("answer", parent, '{"word": "no"}', "--json").document, tmp_path)
    check("status_continued", review("status", parent, "--json").document, tmp_path)
    child = review.run_id()
    check("status_continuation", review("status", child, "--json").document, tmp_path)
    assert review("resume", child, "--json", code=1).document["status"] == "failed"
    check("restart", review("restart", child, "--json").document, tmp_path)
    check("status_restart", review("status", "@last", "--json").document, tmp_path)
    check("restart_conflict", review("restart", parent, "--json", code=3).document, tmp_path)
    at = review("restart", child, "--at", "publish", "--json").document["run_id"]
    check("show_restart_at", review("show", at, "--json").document, tmp_path)


def test_a_review_from_the_first_word_to_the_last(review: CommandLine) -> None:
    """`run` says what to type; `answer` takes the run's name; `wait`, `output` and `resume` follow the chain."""
    waiting = review("run", "--inline", "review.py", "-s", "name=X", code=5)
    assert "runwright answer" in waiting.err
    parent = review.run_id()
    assert "May the draft go out?" in review("requests").out
    assert "draft of X" in review("requests", parent).out
    assert "runwright answer" in review("status").out
    accepted = review("answer", "@last", '{"word": "yes", "note": "good"}').err
    child = review.run_id()
    assert child in accepted
    assert f"runwright resume {child}" in accepted
    assert review("resume", child).out == "draft of X: good\n"
    assert review("output", parent).out == "draft of X: good\n"
    assert review("output", parent, "draft").out == "draft of X\n"
    review("wait", parent)
    assert review("requests").err == "Nothing waits for an answer.\n"
    refused = review("answer", parent, "{}", code=3).err
    assert "waits for no answer" in refused


def test_nobody_is_asked_where_there_is_no_terminal(review: CommandLine) -> None:
    """Without VALUE somebody has to be there; what stands on stdin is no answer."""
    review("run", "--inline", "review.py", code=5)
    refused = review("answer", "@last", code=2, stdin='{"word": "yes"}\n')
    assert refused.err.startswith("error: There is no VALUE")
    assert len(review("requests", "--json").document["items"]) == 1


def test_an_answer_that_is_given_twice_or_comes_too_late(review: CommandLine) -> None:
    """The same one is adopted; another one names the run that carries on."""
    review("run", "--inline", "review.py", code=5)
    request = review("requests", "--json").document["items"][0]["request_id"]
    first = review("answer", request, '{"word": "yes"}', "--json").document
    again = review("answer", request, '{"word": "yes", "note": ""}', "--json").document
    assert (again["result"], again["run_id"]) == ("adopted", first["run_id"])
    late = review("answer", request[-8:], '{"word": "no"}', code=3)
    assert "error:" in late.err


def test_a_restart_at_a_node_that_there_is_not(review: CommandLine) -> None:
    """A name that the workflow does not have, or that the run never came to, is a wrong name."""
    review("run", "--inline", "review.py", code=5)
    parent = review.run_id()
    review("restart", parent, code=3)
    review("cancel", parent)
    review("restart", parent, "--at", "nothing", code=2)
    review("restart", parent, "--at", "publish", code=2)
    restarted = review("restart", parent, "--at", "approve").out.strip()
    assert review("resume", restarted, code=5).out == ""
    assert [each["path"] for each in review("requests", restarted, "--json").document["items"]] == ["approve"]


def test_a_restart_says_what_it_restarts(cli: CommandLine) -> None:
    """The run before it, and in a longer chain also how long it is, and where it began."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=fail", code=1)
    root = cli.run_id()
    first = cli("restart", root).out.strip()
    assert f"restarts  {root}\n" in cli("status", first).out
    cli("resume", first, code=1)
    second = cli("restart", first, "--at", "choose").out.strip()
    said = " ".join(cli("status", second).out.split())
    assert f"restarts {first} at choose, restart number 2 of {root} " in said


def test_a_restart_that_cannot_begin_there_says_where_it_can(cli: CommandLine) -> None:
    """The nodes it may begin at, and for one in a mounted workflow, or the mount itself, what stands around it."""
    shutil.copy(FLOWS / "composed.py", cli.project / "composed.py")
    cli("run", "--inline", "composed.py:composed", code=1)
    for named, words in (
        ("nope", ("There is no node 'nope'", "The nodes to begin at: prepare, publish.")),
        ("sub", ("'sub' is a mounted workflow", "The nodes to begin at: prepare, publish.")),
        ("sub/work", ("sub/work stands in sub.", "Begin at a node that comes before sub")),
    ):
        err = " ".join(cli("restart", "@last", "--at", named, code=3 if "/" in named else 2).err.split())
        assert all(each in err for each in words), err
    cli("restart", "@last", "--at", "publish")


def test_a_continued_chain_is_restarted_at_what_came_before_the_answer(review: CommandLine) -> None:
    """Its last run is named; the node stands in the run before it."""
    review("run", "--inline", "review.py", "-s", "name=X", code=5)
    review("answer", "@last", '{"word": "no"}')
    child = review.run_id()
    review("resume", child, code=1)
    for node, shown in (("draft", []), ("approve", ["draft"])):
        restarted = review("restart", child, "--at", node).out.strip()
        carried = review("query", "visits", "--where", f"run_id={restarted}", "--json").document["items"]
        assert [each["path"] for each in carried] == shown
        assert review("resume", restarted, code=5).out == ""


def test_a_wrong_answer_speaks_of_the_answer(review: CommandLine) -> None:
    """Where it does not fit, and where one reads what is asked; nothing about the run's input."""
    review("run", "--inline", "review.py", code=5)
    for value in ('{"word": "perhaps"}', "{}", "7", '{"word": "yes", "more": 1}'):
        err = " ".join(review("answer", "@last", value, code=2).err.split())
        assert err.startswith("error: The answer does not fit at $")
        assert "`runwright requests`" in err
        assert "input" not in err


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("yes", {"type": "string"}, "yes"),
        ('"yes"', {"type": "string"}, '"yes"'),
        ("a", {"enum": ["a", "b"]}, "a"),
        ("12", {"type": "integer"}, 12),
        ("12", {}, 12),
        ("twelve", {}, "twelve"),
        ("null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ("word", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "word"),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
    ],
)
def test_what_is_typed_is_read_by_what_is_asked_for(text: str, schema: dict[str, object], value: object) -> None:
    """A text where a text is asked for, else JSON, and a text where it may be either."""
    assert read_answer(text, schema) == value  # type: ignore[arg-type]  # literal schemas


def test_what_is_no_json_is_refused_where_no_text_may_stand() -> None:
    """The sentence says where, and never what was typed."""
    with pytest.raises(Refused) as refused:
        read_answer("secret", {"type": "integer"})
    assert refused.value.failure.code == "input_invalid"
    assert "secret" not in refused.value.failure.message


class _Silent:
    """News that never come."""

    def next(self, timeout: float | None = None) -> None:
        """Nothing, at once."""

    def close(self) -> None:
        """Nothing to end."""


def test_nothing_of_an_ended_run_is_missing_on_its_screen(review: CommandLine) -> None:
    """A run is seen to have ended before anybody told of its last events: they are shown all the same."""
    review("run", "--inline", "review.py", code=5)
    with Reader.open(review.home) as store:
        run_id = review.run_id()
        call = Invocation(Flags(home=str(review.home)))
        (before,) = (each.position for each in store.events(run_id, types=["run.started"]))
        with screen(call, store, [run_id], before) as feeder:
            assert feeder is not None
            follow(store, [run_id], _Silent(), feeder, rests=lambda _: True)
            assert feeder.progress.position == max(each.position for each in store.events(run_id))


def test_waiting_for_what_needs_somebody_looks_past_what_was_just_answered(cli: CommandLine) -> None:
    """A run that was answered goes on as soon as there is a place: until then it is parked, but does not rest."""
    shutil.copy(FLOWS / "asking.py", cli.project / "asking.py")
    asking = cli("run", "asking.py:asking", "--agent", "console", "-q", "--json", code=5).document["run_id"]
    cli.stop_host()
    request = cli("requests", asking, "--json").document["items"][0]["request_id"]
    begun, free = threading.Event(), threading.Event()
    busy = Workflow("busy")

    @busy.compute
    def hold(ctx: Context[JsonObject]) -> None:
        """Keep the only place."""
        begun.set()
        assert free.wait(LIMIT)

    busy.entry(hold)
    with Engine.open(cli.home, workflows=[busy], capacity=1) as engine:
        engine.start(busy, {})
        assert begun.wait(LIMIT)
        engine.answer(request, {"verdict": "clean", "count": 1})
        assert cli("wait", asking, "--until", "waiting", "--timeout", "0", code=5).err == ""
        free.set()
        cli("wait", asking, "--until", "waiting")
        assert "Merge" in cli("requests").out
