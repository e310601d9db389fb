"""Do a test's session and its people answer as they would in reality, only at once, and through a crash anywhere?"""

from datetime import timedelta
from typing import Any

import pytest
from attrs import frozen

from runwright import AgentRequest, Choice, Context, Json, JsonObject, Question, Workflow, days, testing
from runwright.engine.commands.session import DeliverMessage
from runwright.engine.embedded.async_engine import AsyncEngine
from runwright.engine.errors import ConflictError
from runwright.engine.results import Conflict
from runwright.engine.testing.errors import StandInMissing, StandInUnknown, StandInUnused


@frozen
class Verdict:
    """What the agent says."""

    word: str


def talk(*, assistant: bool = True) -> Workflow[JsonObject]:
    """Tells something, asks its agent, and asks a person who has a week."""
    flow: Workflow[JsonObject] = Workflow("talk", input=JsonObject)

    @flow.notify
    def hello(ctx: Context[JsonObject]) -> str:
        return "I begin."

    @flow.agent(returns=Verdict, timeout=timedelta(minutes=10))
    def ask(ctx: Context[JsonObject]) -> str:
        return "Say a word."

    @flow.decision(choices=["yes", Choice("no", text="Why not?")], deadline=days(7), on_timeout="no")
    def ship(ctx: Context[JsonObject]) -> Question:
        return Question("Ship it?", subject={"word": ctx.output(ask).word})

    @flow.compute
    def end(ctx: Context[JsonObject]) -> list[Json]:
        decided = ctx.output(ship)
        return [ctx.output(ask).word, decided.choice, decided.text, decided.by, decided.timed_out]

    flow.entry(hello)
    flow.then(hello, ask)
    if assistant:
        tell = flow.assistant(max_chars=4, name="tell")(lambda ctx: "Tell it.")
        flow.then(ask, tell)
        flow.then(tell, ship)
    else:
        flow.then(ask, ship)
    flow.then(ship, end)
    return flow


@pytest.mark.parametrize("session", [False, True])
@pytest.mark.parametrize(
    ("decided", "came_to"),
    [
        ("yes", ["soft", "yes", None, "test", False]),
        (("no", "too soft"), ["soft", "no", "too soft", "test", False]),
        (None, ["soft", "no", None, "policy", True]),
    ],
)
def test_people_decide_at_once_or_never(session: bool, decided: Any, came_to: list[Json]) -> None:
    """A choice, a choice with its text, or a week that passes without one."""
    flow = talk(assistant=False)
    outcome = testing.run(flow, {}, agents={"ask": [Verdict("soft")]}, decisions={"ship": [decided]}, session=session)
    assert (outcome.status, outcome.output) == ("completed", came_to)
    assert outcome.path == ("hello", "ask", "ship", "end")
    assert outcome.prompts("ask") == ["Say a word."]


def test_an_assistant_brings_its_session() -> None:
    """Its answer is cut as in reality; a refused candidate is corrected within the turn."""
    asked: list[AgentRequest] = []

    def answer(request: AgentRequest) -> object:
        asked.append(request)
        return {"word": "soft" if request.refused else 7}

    flow = talk()
    outcome = testing.run(flow, {}, agents={"ask": answer, "tell": ["It is soft."]}, decisions={"ship": ["yes"]})
    (tell,) = [each for each in flow.nodes if each.name == "tell"]
    assert outcome.output_of(tell) == "It i"
    assert [each.refused is None for each in asked] == [True, False]
    assert asked[1].refused is not None
    assert "$.word" in asked[1].refused
    assert {(each.path, each.visit, each.attempt) for each in asked} == {("ask", 1, 1)}


def test_a_provider_that_fails_is_asked_again_and_then_no_more() -> None:
    """An answer that is an exception ends its turn in an error: two wait, the third in a row pauses the run."""
    flow, broken = talk(assistant=False), OSError("the provider is down")
    agents: dict[str, list[object]] = {"ask": [broken, broken, Verdict("soft")]}
    assert testing.run(flow, {}, agents=agents, decisions={"ship": ["yes"]}, session=True).status == "completed"
    outcome = testing.run(flow, {}, agents={"ask": [broken] * 3}, session=True)
    assert outcome.status == "paused"


def test_five_refused_answers_fail_the_node() -> None:
    """As many as the session's agent has."""
    outcome = testing.run(talk(assistant=False), {}, agents={"ask": [{}] * 5}, session=True)
    assert (outcome.status, outcome.error and outcome.error.code) == ("failed", "validation_failed")


def test_a_crash_anywhere_changes_nothing() -> None:
    """On both sides of every commit, the session's own included."""
    agents: dict[str, list[object]] = {"ask": [{"word": 7}, Verdict("soft")], "tell": ["It is soft."]}
    assert len(testing.crash_at(talk(), {}, agents=agents, decisions={"ship": ["yes"]})) > 40
    flow = talk(assistant=False)
    assert len(testing.crash_at(flow, {}, agents={"ask": [Verdict("soft")]}, decisions={"ship": [None]})) > 10


def test_what_stands_in_for_nothing_is_named() -> None:
    """A person whom nobody plays, one without a deadline who never answers, a choice too many, another kind of node."""
    flow, agents = talk(assistant=False), {"ask": [Verdict("soft")]}
    with pytest.raises(StandInMissing, match="Give decisions="):
        testing.run(flow, {}, agents=agents)
    with pytest.raises(StandInMissing, match="Give agents="):
        testing.run(talk(), {}, agents=agents, decisions={"ship": ["yes"]})
    with pytest.raises(StandInUnused, match="1 of them were never asked for"):
        testing.run(flow, {}, agents=agents, decisions={"ship": ["yes", "no"]})
    with pytest.raises(StandInUnknown, match="agents are for agent and choose and assistant nodes"):
        testing.run(flow, {}, agents={"hello": ["?"]})
    patient: Workflow[JsonObject] = Workflow("patient", input=JsonObject)
    patient.entry(patient.decision(choices=["yes"], name="ship")(lambda ctx: "?"))
    with pytest.raises(StandInMissing, match="has no deadline"):
        testing.run(patient, {}, decisions={"ship": [None]})


def test_a_session_looks_again_where_its_run_moved_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was about to show is not what comes first any more: its test does not end with that."""
    tell = AsyncEngine.tell_session
    refused: list[str] = []

    async def telling(self: AsyncEngine, command: Any, **options: Any) -> Any:
        if isinstance(command, DeliverMessage) and not refused:
            refused.append(command.message)
            raise ConflictError(Conflict("revision_changed", {"message": command.message}))
        return await tell(self, command, **options)

    monkeypatch.setattr(AsyncEngine, "tell_session", telling)
    flow: Workflow[JsonObject] = Workflow("tells", input=JsonObject)
    flow.entry(flow.notify(name="hello")(lambda ctx: "I begin."))
    outcome = testing.run(flow, {}, session=True)
    assert (outcome.status, len(refused)) == ("completed", 1)
