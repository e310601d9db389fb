"""Walking the graph: order, commits, routing, contexts, limits and how a run ends."""

from pathlib import Path

from attrs import frozen

from runwright import Context, JsonObject, Workflow
from runwright.engine.commands.worker import CompleteRun, ExitWorker, FailRun, FinishNode, ParkRun
from runwright.eventstore.values import Json
from support.running import output_log, port_for, run
from support.scripted_port import ScriptedPort


def three_steps() -> Workflow[JsonObject]:
    """Three compute nodes in a row."""
    workflow = Workflow("steps")

    @workflow.compute
    def one(ctx: Context[JsonObject]) -> int:
        return 1

    @workflow.compute
    async def two(ctx: Context[JsonObject]) -> int:
        return ctx.output(one) + 1

    @workflow.compute
    def three(ctx: Context[JsonObject]) -> list[int]:
        return [ctx.output(one), ctx.output(two)]

    workflow.entry(one)
    workflow.then(one, two)
    workflow.then(two, three)
    return workflow


def test_a_step_costs_one_commit(tmp_path: Path) -> None:
    """The end of one node, the start of the next and the run's last words share commits."""
    port = port_for(three_steps(), tmp_path)
    assert run(port) == "finished"
    assert port.told() == [
        *("|", "Ready", "StartNode"),
        *("|", "FinishNode", "StartNode"),
        *("|", "FinishNode", "StartNode"),
        *("|", "FinishNode", "CompleteRun", "ExitWorker"),
    ]
    assert port.output("three") == [1, 2]
    assert [one.next for one in port.all(FinishNode) if isinstance(one, FinishNode)] == ["two", "three", None]


def test_an_output_is_rebuilt_from_json_before_anyone_sees_it(tmp_path: Path) -> None:
    """A class comes back equal and not identical; what a function does to its value later changes nothing."""
    workflow = Workflow("rebuilt")
    shared: dict[str, Json] = {"n": 1}

    @frozen
    class Box:
        items: tuple[int, ...]

    given: list[Box] = []

    @workflow.compute
    def make(ctx: Context[JsonObject]) -> Box:
        given.append(Box((1, 2)))
        return given[0]

    @workflow.compute
    def share(ctx: Context[JsonObject]) -> dict[str, Json]:
        assert ctx.output(make) == given[0]
        assert ctx.output(make) is not given[0]
        return shared

    @workflow.compute
    def spoil(ctx: Context[JsonObject]) -> dict[str, Json]:
        shared["n"] = 2
        seen = ctx.output(share)
        seen["n"] = 3
        return ctx.output(share)

    workflow.entry(make)
    workflow.then(make, share)
    workflow.then(share, spoil)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert port.output("spoil") == {"n": 1}


def loop() -> Workflow[JsonObject]:
    """A loop that a limit ends after two entries."""
    workflow = Workflow("loop")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> str:
        return "again"

    @workflow.compute
    def give_up(ctx: Context[JsonObject]) -> dict[str, int]:
        return {"work": ctx.visits(work), "own": ctx.visits(give_up), "left": ctx.steps_left, "visit": ctx.visit}

    workflow.entry(work)
    workflow.switch(work, {"again": work})
    workflow.limit(work, visits=2, to=give_up)
    return workflow


def test_a_limit_leads_on(tmp_path: Path) -> None:
    """Entries over the limit go to its other place and count as no visit of the limited one."""
    port = port_for(loop(), tmp_path)
    assert run(port) == "finished"
    assert port.output("give_up") == {"work": 2, "own": 1, "left": 997, "visit": 1}
    assert port.finished() == [
        ("work", 1, 1, "completed"),
        ("work", 2, 1, "completed"),
        ("give_up", 1, 1, "completed"),
    ]


def test_steps_are_the_last_resort(tmp_path: Path) -> None:
    """A run over its steps fails with `max_steps_exceeded`; what had finished is committed."""
    port = port_for(loop(), tmp_path, max_steps=1)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (port.ended.code, port.ended.outcome) == ("max_steps_exceeded", "failed")
    assert port.finished() == [("work", 1, 1, "completed")]


def test_a_value_without_a_case_fails_the_run(tmp_path: Path) -> None:
    """`route_missing` names node, path and type, and the node itself completed."""
    workflow = Workflow("unrouted")

    @workflow.compute
    def pick(ctx: Context[JsonObject]) -> str:
        return "c"

    workflow.entry(pick)
    workflow.switch(pick, {"a": pick, "b": pick})
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.code == "route_missing"
    assert "'pick'" in port.ended.message
    assert port.finished() == [("pick", 1, 1, "completed")]


def failing() -> Workflow[JsonObject]:
    """A node that raises, caught by another that sees why."""
    workflow = Workflow("failing")

    @workflow.compute
    def breaks(ctx: Context[JsonObject]) -> int:
        raise ValueError("no luck, token=abc123")

    @workflow.compute
    def rescue(ctx: Context[JsonObject]) -> list[str]:
        result = ctx.result(breaks)
        assert result is not None
        assert result.error is not None
        return [result.outcome, result.error.code, result.error.message, str(ctx.output(breaks, 7))]

    workflow.entry(breaks)
    workflow.catch(breaks, rescue)
    return workflow


def test_a_caught_failure_goes_on(tmp_path: Path) -> None:
    """The catcher sees code and text, secrets struck out, and no output of the failed visit."""
    port = port_for(failing(), tmp_path)
    assert run(port) == "finished"
    assert port.output("rescue") == ["failed", "node_failed", "ValueError: no luck, token=[masked]", "7"]
    assert isinstance(port.ended, CompleteRun)
    assert "Traceback" in output_log(port)
    assert "abc123" not in output_log(port)


def test_an_uncaught_failure_ends_the_run_with_a_safe_message(tmp_path: Path) -> None:
    """The run's message is our own words; the exception's text is private."""
    workflow = Workflow("uncaught")

    @workflow.compute
    def breaks(ctx: Context[JsonObject]) -> int:
        raise ValueError("private words")

    workflow.entry(breaks)
    port = port_for(workflow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert port.ended.message == "Node 'breaks' failed (visit 1, attempt 1)."
    assert port.ended.error == "ValueError: private words"


def test_a_pause_parks_between_two_nodes(tmp_path: Path) -> None:
    """The node under way finishes, the next does not start; a later worker routes from the recorded outcome."""
    workflow = Workflow("paused")
    ran: list[str] = []

    @workflow.compute
    def one(ctx: Context[JsonObject]) -> int:
        ran.append("one")
        port.paused = True
        return 1

    @workflow.compute
    def two(ctx: Context[JsonObject]) -> int:
        ran.append("two")
        return ctx.output(one) + 1

    workflow.entry(one)
    workflow.then(one, two)
    port = port_for(workflow, tmp_path)
    assert run(port) == "parked"
    assert port.parked == ParkRun(reason="paused")
    assert port.exited == ExitWorker(outcome="parked")
    port.paused = False
    assert run(port) == "finished"
    assert (ran, port.output("two")) == (["one", "two"], 2)


def test_a_lost_claim_ends_quietly(tmp_path: Path) -> None:
    """A fenced worker writes nothing more and says so to its caller only."""
    workflow = Workflow("fenced")

    @workflow.compute
    def one(ctx: Context[JsonObject]) -> int:
        port.lost = True
        return 1

    workflow.entry(one)
    port = port_for(workflow, tmp_path)
    assert run(port) == "claim_lost"
    assert len(port.lists) == 2


def test_a_refusal_nobody_knows_parks_the_run(tmp_path: Path) -> None:
    """What the protocol does not explain is no failure of the run: it parks and names the code."""
    port = _Odd(port_for(three_steps(), tmp_path).program, tmp_path)
    assert run(port) == "failed"
    assert port.parked is not None
    assert (port.parked.reason, port.parked.code) == ("protocol_rejected", "odd")
    assert port.exited == ExitWorker(outcome="failed", phase="execute", code="odd")


class _Odd(ScriptedPort):
    def _start(self, start: object) -> object:  # type: ignore[override]  # answers what no port would
        from runwright.engine.results import Conflict

        return Conflict("odd")


def test_updates_and_logs_leave_the_function_at_once(tmp_path: Path) -> None:
    """Progress goes to the port, log lines to the run's private log, with secrets struck out."""
    workflow = Workflow("talks")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        ctx.update(completed=1, total=2, message="half")
        ctx.log.warning("password: %s", "hunter2")
        return 1

    workflow.entry(work)
    port = port_for(workflow, tmp_path)
    run(port)
    assert port.updates == [("overall", {"completed": 1, "total": 2, "message": "half"})]
    assert "work WARNING: password: [masked]" in output_log(port)
    assert (tmp_path / "output.log").stat().st_mode & 0o777 == 0o600


def test_a_progress_number_that_json_has_not_is_the_functions_mistake(tmp_path: Path) -> None:
    """NaN in an update fails where it was written."""
    workflow = Workflow("nan")

    @workflow.compute
    def work(ctx: Context[JsonObject]) -> int:
        ctx.update(completed=float("nan"))
        return 1

    workflow.entry(work)
    port = port_for(workflow, tmp_path)
    run(port)
    assert isinstance(port.ended, FailRun)
    assert "completed is nan" in str(port.ended.error)
