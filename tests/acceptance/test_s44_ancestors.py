"""S44: terminal facts of a chain with ends of every kind, each value read by its declared type."""

from runwright import Engine
from runwright.engine.reading.moment import moment_of
from runwright.engine.rundata import Found, Missing, RunData, TerminalFacts
from support.command_line import CommandLine
from support.sound import check_sound


def facts_of(engine: Engine, run_id: str) -> TerminalFacts:
    """The terminal facts of an ended run."""
    with moment_of(engine.reader.log) as moment:
        found = RunData(moment.rows, moment.event).read_terminal_facts(run_id)
    assert found is not None
    return found


def test_s44_ancestors_of_every_kind(cli: CommandLine) -> None:
    """S44: completed, failed, timed out, cancelled and continued ancestors, with kind, reason and value."""
    with Engine.open(cli.home) as engine:
        chain = [engine.run("asking.py:ending", {}).run_id]

        def answer(word: str) -> None:
            (request,) = engine.requests(chain[-1])
            chain.append(engine.answer(request.request_id, word).run_id)
            engine.wait(chain[-1])

        def restart() -> None:
            chain.append(engine.restart(chain[-1]))
            engine.wait(chain[-1], until="waiting")

        answer("fine")
        restart()
        answer("fail")
        restart()
        engine.cancel(chain[-1], reason="no more")
        restart()
        answer("the last")
        facts = facts_of(engine, chain[-1])
    assert (facts.outcome, facts.output) == ("completed", Found("the last"))
    assert [each.run_id for each in facts.ancestors] == chain[-2::-1]
    assert [each.outcome for each in facts.ancestors] == [
        "continued",
        "cancelled",
        "failed",
        "continued",
        "completed",
        "continued",
    ]
    cancelled, failed, completed = (facts.ancestors[number] for number in (1, 2, 4))
    assert cancelled.error == Found("no more")
    assert (failed.code, isinstance(failed.error, Found), failed.output) == (
        "node_failed",
        True,
        Missing(failed.run_id, "output"),
    )
    assert isinstance(failed.error, Found)
    assert isinstance(failed.error.value, str)
    assert completed.output == Found("fine")
    continued = facts.ancestors[0]
    assert (continued.output, continued.error) == (
        Missing(continued.run_id, "output"),
        Missing(continued.run_id, "error"),
    )
    check_sound(cli.home)


def test_s44_an_ancestor_that_ran_out_of_time(cli: CommandLine) -> None:
    """S44: a run that its own limit ended while it waited for a person, and the restart of it."""
    with Engine.open(cli.home) as engine:
        late = engine.run("asking.py:ending", {"end": "timed_out"}).run_id
        assert engine.wait(late, timeout=20).status == "timed_out"
        fresh = engine.restart(late)
        assert engine.wait(fresh, timeout=20).status == "timed_out"
        facts = facts_of(engine, fresh)
        assert [(each.outcome, each.code) for each in (facts, *facts.ancestors)] == [("timed_out", "run_timed_out")] * 2
        assert engine.requests() == []
    check_sound(cli.home)
