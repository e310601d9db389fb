"""Every refusal leads on: what was probably meant, what there is, and the concrete thing in the line to type."""

from pathlib import Path

import pytest

from runwright.cli.failures import sentence
from runwright.cli.hints import fill
from runwright.engine.near import meant, near
from support.command_line import CommandLine

PLACES = ("RUN", "EFFECT", "NODE", "WORKFLOW")


def test_what_is_known_is_filled_in() -> None:
    """A name in a hint is filled in and quoted; what is not known stays; words that hold such a name stay."""
    assert fill("`runwright show RUN NODE`", {"RUN": "7k2m", "NODE": "a b"}) == "`runwright show 7k2m 'a b'`"
    assert fill("`runwright resolve EFFECT`", {"RUN": "7k2m"}) == "`runwright resolve EFFECT`"
    assert fill("RUNWRIGHT_HOME", {"RUN": "7k2m"}) == "RUNWRIGHT_HOME"


def test_a_sentence_begins_with_a_capital_and_a_name_as_it_is_written() -> None:
    """A file that does not exist under a name with a capital must not be named so."""
    assert sentence("there is none") == "There is none."
    for name in ("review.py", "flows/review.py", "pass_env", "store.id:"):
        assert sentence(f"{name} cannot be read").startswith(f"{name} cannot")


def test_a_slip_of_the_keyboard_is_understood() -> None:
    """The nearest name is asked about, and nothing where none is near."""
    assert near("shwo", ["show", "status"]) == "Did you mean show?"
    assert near("xyz", ["show", "status"]) == ""
    assert meant("x", [], "nodes") == "There are no nodes."


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("shwo",), "Did you mean show?"),
        (("run", "smaple"), "Did you mean sample?"),
        (("run", "smaple.py"), "Did you mean sample.py?"),
        (("run", "--inline", "sample", "greet", "-s", "cuont=3"), "Did you mean count?"),
        (("run", "--inline", "sample", "greet", "--agent", "fast=console"), "No node asks for the executor 'fast'"),
        (("run", "sample", "greet", "--agent", "consol"), "Did you mean console?"),
        (("show", "@last", "plna"), "Did you mean plan?"),
        (("output", "@last", "plna"), "The nodes: "),
        (("logs", "@last", "plna"), "Did you mean plan?"),
        (("replay", "@last", "--step", "99"), "the run has 4"),
        (("effect", "@last", "--values"), ""),
        (("runs", "--cursor", "bad"), "--cursor"),
        (("status", "zzzz"), "`runwright runs`"),
        (("effect", "zzzz"), "`runwright effects`"),
    ],
)
def test_a_refusal_leads_on(cli: CommandLine, line: tuple[str, ...], words: str) -> None:
    """What was typed wrong in any place is answered with what was meant, or what there is."""
    (cli.project / "sample.py").write_text((cli.project / ".runwright/workflows/sample.py").read_text())
    cli("run", "--inline", "sample", "greet")
    answer = cli(*line, code=2 if words else 0)
    assert words in " ".join(answer.err.split())


def test_everything_that_is_wrong_with_an_input_is_said_at_once(cli: CommandLine) -> None:
    """A field that is unknown, one of another type and one that is missing."""
    err = " ".join(cli("run", "--inline", "sample", "-s", "cuont=3", "-s", "mode=odd", code=2).err.split())
    for words in ("no field 'cuont'", "-s mode has to be", "missing: task", "count (integer, optional)"):
        assert words in err


def test_hints_name_the_run_and_the_effect(cli: CommandLine) -> None:
    """Where the run and its effect are known, the line can be typed as it stands."""
    run_id = cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", "--json", code=5).document["run_id"]
    hint = cli("resume", "@last", "--json", code=3).document["error"]["hint"]
    assert not any(f" {place}" in hint for place in PLACES if place != "RUN")
    cli("cancel", "@last")
    hint = cli("cancel", "@last", "--json", code=0).document
    hint = cli("pause", "@last", "--json", code=3).document["error"]["hint"]
    assert run_id in hint


def test_waiting_for_what_nothing_drives_says_what_to_type(cli: CommandLine) -> None:
    """Once for each run, with the line to type on its own; a run that ended is waited for in silence."""
    first, second = (cli.queue("sample", "greet") for _ in range(2))
    ended = cli("run", "--inline", "sample", "greet", "--json").document["run_id"]
    lines = cli("wait", ended, first, second, "--timeout", "2", code=5).err.splitlines()
    assert lines == [
        f"Nothing drives run {first} now. In another terminal:",
        f"    runwright resume {first}",
        f"Nothing drives run {second} now. In another terminal:",
        f"    runwright resume {second}",
    ]
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    unsure = cli("wait", "@last", "--timeout", "2", code=5).err
    assert "runwright resolve" in unsure
    assert cli("wait", ended, "-q").err == ""


def test_resolving_speaks_of_the_result(cli: CommandLine) -> None:
    """A result that does not fit, or is missing, is told by the node and its type; what is next comes after."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    for given in (("--result", "7"), ()):
        err = cli("resolve", "@last", "done", *given, "--reason", "looked", code=2).err
        assert "--result" in err
        assert "deliver, whose type is string" in " ".join(err.split())
    err = cli("resolve", "@last", "not-done", "--reason", "looked").err
    assert "runwright resume" in err
    out = cli("status", "@last").out
    assert "can go on" in out
    assert "nobody" not in out


def test_nothing_trails_in_a_pipe(cli: CommandLine) -> None:
    """What goes into a file has no blanks at the ends of its lines."""
    cli("run", "--inline", "sample", "greet")
    lines = (("runs",), ("show", "@last"), ("effects",), ("query", "visits"), ("events",), ("status",), ("workflows",))
    for line in lines:
        out = cli(*line).out
        assert [each for each in out.split("\n") if each != each.rstrip()] == [], line


def test_csv_has_its_heading_without_rows(cli: CommandLine) -> None:
    """A program that reads it finds the columns."""
    cli("run", "--inline", "sample", "greet")
    assert cli("query", "timers", "--csv").out.strip() == "run_id,kind,due,absolute,set_at"


def test_a_failed_run_says_why_and_where(cli: CommandLine) -> None:
    """The safe sentence once, without its code again, and the line that shows the whole error."""
    failed = cli("run", "--inline", "sample", "greet", "-s", "mode=fail", code=1)
    for text in (failed.err, cli("status", "@last").out, cli("show", "@last").out):
        assert text.count("node_failed") <= 1  # the graph has the code beside the node
        assert f"runwright show {cli.run_id()} choose" in text
    assert "nothing goes" not in failed.err  # private: a pipe keeps it


def test_accepted_sources_are_shown(cli: CommandLine, tmp_path: Path) -> None:
    """`--accept-source` says which file differs and what of the definition is another one."""
    cli("run", "--inline", "sample", "greet", "-s", "mode=doubt", code=5)
    cli("resolve", "@last", "not-done", "--reason", "looked")
    file = cli.project / ".runwright/workflows/sample.py"
    extra = '@sample.compute\ndef extra(ctx: Context[Order]) -> str:\n    return "x"\n'
    file.write_text(f"{file.read_text()}\n\n{extra}\n\nsample.then(deliver, extra)\n")
    err = cli("resume", "@last", "--accept-source", code=5).err
    assert "file .runwright/workflows/sample.py differs" in err
    assert "node extra (compute) is new" in err
