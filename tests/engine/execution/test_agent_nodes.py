"""Agent and choose nodes: asking, refusing, accepting, and what is left after a crash."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import frozen

from runwright import Context, JsonObject, Retry, Workflow, seconds
from runwright.engine.agents.agent import Agent, AgentRequest, PersonElsewhere
from runwright.engine.agents.callable import CallableAgent
from runwright.engine.commands.worker import CloseRequest, FailRun, OpenRequest, ParkRun, SubmitCandidate
from support.running import port_for, run, run_until_crash
from support.scripted_port import Crash, ScriptedPort


@frozen
class Verdict:
    """What the agent answers."""

    verdict: Literal["clean", "issues"]
    notes: str = ""


def reviewing(**how: Any) -> Workflow[JsonObject]:
    """One agent node that returns a `Verdict`."""
    workflow = Workflow("reviewing")

    @workflow.agent(returns=Verdict, **how)
    def review(ctx: Context[JsonObject]) -> str:
        return f"Review {ctx.input['path']}"

    workflow.entry(review)
    return workflow


class Answers:
    """An executor that gives one answer after the other and keeps what it was asked."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[AgentRequest] = []

    async def run(self, request: AgentRequest) -> object:
        """Answer, or raise what stands in the answer's place."""
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def ask(port: ScriptedPort, agent: Agent) -> str | None:
    """Run with one executor."""
    return run_until_crash(port, {"path": "a.py"}, agents={"default": agent})


def test_an_answer_is_accepted_with_the_end_of_the_node(tmp_path: Path) -> None:
    """Start and question stand in one list, answer and end in the next."""
    port = port_for(reviewing(), tmp_path)
    agent = Answers({"verdict": "clean"})
    assert ask(port, agent) == "finished"
    assert port.told() == [
        *("|", "Ready", "StartNode", "OpenRequest"),
        *("|", "SubmitCandidate", "FinishNode", "CompleteRun", "ExitWorker"),
    ]
    assert port.output("review") == {"verdict": "clean", "notes": ""}
    [opened] = port.all(OpenRequest)
    assert isinstance(opened, OpenRequest)
    [request] = agent.asked
    assert (request.prompt, request.schema, opened.contract) == ("Review a.py", opened.contract, request.schema)
    assert (request.path, request.visit, request.attempt, request.resumed) == ("review", 1, 1, False)
    assert (request.request_id, request.cwd, request.refused) == ("request-1", tmp_path, None)


def test_a_person_elsewhere_is_waited_for_without_a_worker(tmp_path: Path) -> None:
    """Start, question, deadline and park are one commit; a worker that comes back to the open question only parks."""
    port = port_for(reviewing(timeout=seconds(60)), tmp_path)
    assert ask(port, PersonElsewhere()) == "parked"
    assert port.told() == ["|", "Ready", "StartNode", "OpenRequest", "ParkRun", "ExitWorker"]
    [opened], [park] = port.all(OpenRequest), port.all(ParkRun)
    assert isinstance(opened, OpenRequest)
    assert isinstance(park, ParkRun)
    assert (opened.prompt, opened.deadline) == ("Review a.py", port.nodes["review"].deadline)
    assert park.timer is not None
    assert (park.reason, park.timer.kind, park.timer.due) == ("waiting", "deadline", opened.deadline)
    assert ask(port, PersonElsewhere()) == "parked"
    assert len(port.all(OpenRequest)) == 1
    assert port.told()[-3:] == ["Ready", "ParkRun", "ExitWorker"]


def test_nobody_is_asked_where_nobody_is() -> None:
    """An executor that is a person elsewhere answers nothing by itself."""
    with pytest.raises(EOFError, match="nobody is at the terminal to answer review"):
        asyncio.run(PersonElsewhere().run(AgentRequest(
            prompt="", schema={}, run_id="run", path="review", visit=1, attempt=1, request_id="request", deadline=None,
            cwd=Path(), scratch=Path(), update=lambda *_, **__: None, log=lambda _: None,
        )))  # fmt: skip


def test_a_value_of_the_nodes_own_type_is_an_answer(tmp_path: Path) -> None:
    """A function in the program may return the class itself."""
    port = port_for(reviewing(), tmp_path)
    assert ask(port, Answers(Verdict("issues", "x"))) == "finished"
    assert port.output("review") == {"verdict": "issues", "notes": "x"}


def test_a_wrong_answer_is_refused_with_its_path_and_asked_again(tmp_path: Path) -> None:
    """The reason reaches the executor, and the record."""
    port = port_for(reviewing(), tmp_path)
    agent = Answers({"verdict": "dirty"}, "clean", object(), {"verdict": "clean"})
    assert ask(port, agent) == "finished"
    reasons = [request.refused for request in agent.asked]
    assert reasons[0] is None
    assert "$.verdict" in str(reasons[1])
    assert "object" in str(reasons[2])
    assert [one.code for one in port.submissions] == ["output_invalid"] * 3 + [None]
    assert [one.candidate for one in port.submissions][:3] == [{"verdict": "dirty"}, "clean", None]


def test_an_answer_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """The answer's own code may raise anything, and nesting may have no end: the executor is asked again."""

    class Torn(dict[str, object]):
        def items(self) -> Any:
            raise SystemExit(3)

    endless: list[object] = []
    endless.append(endless)
    port = port_for(reviewing(), tmp_path)
    agent = Answers(Torn(verdict="clean"), {"verdict": "clean", "notes": endless}, {"verdict": "clean"})
    assert ask(port, agent) == "finished"
    assert [one.code for one in port.submissions] == ["output_invalid"] * 2 + [None]


def test_validate_may_refuse(tmp_path: Path) -> None:
    """By raising ValueError; its text is the reason."""

    def check(ctx: Context[JsonObject], value: Verdict) -> None:
        if value.verdict == "issues" and not value.notes:
            raise ValueError("issues need notes")

    port = port_for(reviewing(validate=check), tmp_path)
    agent = Answers({"verdict": "issues"}, {"verdict": "issues", "notes": "n"})
    assert ask(port, agent) == "finished"
    assert agent.asked[1].refused == "issues need notes"
    assert port.submissions[0].code == "validation_failed"


def test_a_broken_validate_is_no_refusal(tmp_path: Path) -> None:
    """A mistake in the function fails the node at once; no answer could mend it."""

    def check(ctx: Context[JsonObject], value: Verdict) -> None:
        raise AttributeError("oops")

    port = port_for(reviewing(validate=check), tmp_path)
    assert ask(port, Answers({"verdict": "clean"})) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "node_failed"


def test_five_refusals_end_the_attempt(tmp_path: Path) -> None:
    """The request closes, the node fails with `validation_failed`, and no declared retry applies."""
    port = port_for(reviewing(retry=Retry(attempts=3, first=seconds(0))), tmp_path)
    agent = Answers(*[[]] * 9)
    assert ask(port, agent) == "finished"
    assert (len(agent.asked), len(port.submissions)) == (5, 5)
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "validation_failed"
    assert port.all(CloseRequest) == [CloseRequest(request="request-1", cause="failed")]


def test_an_executor_that_raises_fails_the_attempt(tmp_path: Path) -> None:
    """A declared retry asks anew, in a request of its own."""
    port = port_for(reviewing(retry=Retry(attempts=2, first=seconds(0))), tmp_path)
    agent = Answers(RuntimeError("down"), {"verdict": "clean"})
    assert ask(port, agent) == "finished"
    assert [request.request_id for request in agent.asked] == ["request-1", "request-2"]
    assert port.all(CloseRequest) == [CloseRequest(request="request-1", cause="failed")]


def test_an_executor_out_of_time(tmp_path: Path) -> None:
    """The request closes and the node has timed out."""

    class Slow:
        async def run(self, request: AgentRequest) -> object:
            await asyncio.sleep(30)
            return None

    port = port_for(reviewing(timeout=0.05), tmp_path)
    assert ask(port, Slow()) == "finished"
    assert port.all(CloseRequest) == [CloseRequest(request="request-1", cause="timed_out")]
    assert port.finished() == [("review", 1, 1, "timed_out")]


def test_after_a_crash_the_same_request_is_asked_again(tmp_path: Path) -> None:
    """With the saved prompt, the last refusal, and the word that it was asked before."""
    port = port_for(reviewing(), tmp_path)

    def vanish(transitions: Any) -> None:
        if any(isinstance(each, SubmitCandidate) and each.refusal is None for each in transitions):
            raise Crash

    port.crash_before = vanish
    assert ask(port, Answers({"verdict": "dirty"}, {"verdict": "clean"})) is None
    port.crash_before = lambda _: None
    agent = Answers({"verdict": "clean"})
    assert ask(port, agent) == "finished"
    [request] = agent.asked
    assert (request.request_id, request.prompt, request.resumed) == ("request-1", "Review a.py", True)
    assert "$.verdict" in str(request.refused)
    assert len(port.all(OpenRequest)) == 1


def test_a_missing_executor_parks_the_run(tmp_path: Path) -> None:
    """Nobody to ask is a matter of the environment, and no failure of the node."""
    port = port_for(reviewing(by="reviewer"), tmp_path)
    assert ask(port, Answers()) == "parked"
    assert port.parked is not None
    assert (port.parked.reason, port.parked.code) == ("environment_missing", "agent_missing")
    assert port.nodes == {}


def test_by_chooses_the_executor(tmp_path: Path) -> None:
    """Each node may name its own."""
    port = port_for(reviewing(by="reviewer"), tmp_path)
    reviewer = Answers({"verdict": "clean"})
    assert run(port, {"path": "a"}, agents={"default": Answers(), "reviewer": reviewer}) == "finished"
    assert len(reviewer.asked) == 1


def test_choose_takes_one_of_its_choices(tmp_path: Path) -> None:
    """Blanks around it do no harm; anything else is refused, naming the choices."""
    workflow = Workflow("choosing")

    @workflow.choose(choices=["yes", "no"])
    def pick(ctx: Context[JsonObject]) -> str:
        return "Well?"

    @workflow.compute
    def after(ctx: Context[JsonObject]) -> str:
        return ctx.output(pick)

    workflow.entry(pick)
    workflow.switch(pick, {"yes": after, "no": after})
    port = port_for(workflow, tmp_path)
    agent = Answers("perhaps", "yes\n")
    assert ask(port, agent) == "finished"
    assert '"yes", "no"' in str(agent.asked[1].refused)
    assert port.output("after") == "yes"


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_callable_agent_calls_its_function(tmp_path: Path, kind: str) -> None:
    """Plain functions run in a thread, coroutine functions on the loop."""

    def plain(request: AgentRequest) -> object:
        request.update(message="thinking")
        return {"verdict": "clean", "notes": request.prompt}

    async def waiting(request: AgentRequest) -> object:
        return plain(request)

    function: Callable[[AgentRequest], object] = plain if kind == "sync" else waiting
    port = port_for(reviewing(), tmp_path)
    assert ask(port, CallableAgent(function)) == "finished"
    assert port.output("review") == {"verdict": "clean", "notes": "Review a.py"}
    assert port.updates == [("overall", {"message": "thinking"})]


def test_a_json_schema_is_a_contract_too(tmp_path: Path) -> None:
    """`schema=` instead of a class."""
    workflow = Workflow("described")

    @workflow.agent(schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    def count(ctx: Context[JsonObject]) -> str:
        return "Count"

    workflow.entry(count)
    port = port_for(workflow, tmp_path)
    agent = Answers({"n": "x"}, {"n": 1})
    assert ask(port, agent) == "finished"
    assert "$.n" in str(agent.asked[1].refused)
    assert port.output("count") == {"n": 1}
