"""Mounted children: what they see, how they are entered and left, what their ends mean to the parent."""

from pathlib import Path

import pytest
from attrs import frozen

from runwright import Context, JsonObject, Workflow
from runwright.engine.commands.worker import CompleteRun, EnterMount, ExitMount, FailRun, FinishNode, WorkerTransition
from runwright.eventstore.values import Json
from support.running import port_for, run, run_until_crash
from support.scripted_port import Crash, ScriptedPort


@frozen
class Job:
    """What the child is asked."""

    name: str
    size: int = 1


def child(max_steps: int = 1000) -> Workflow[Job]:
    """``count`` then ``done``, or ``refused`` for a size of 0; a negative size fails."""
    flow = Workflow("child", input=Job, max_steps=max_steps)

    @flow.compute
    def count(ctx: Context[Job]) -> int:
        if ctx.input.size < 0:
            raise ValueError("no such size")
        return ctx.output(done, 0) + ctx.input.size

    @flow.compute
    def done(ctx: Context[Job]) -> int:
        assert ctx.node == "done"
        assert dict(ctx.outputs) == {"count": ctx.input.size}
        assert (ctx.visits(count), ctx.visits(done)) == (1, 1)
        return ctx.output(count)

    @flow.compute
    def refused(ctx: Context[Job]) -> str:
        return ctx.input.name

    flow.entry(count)
    flow.switch(count, {0: refused}, default=done)
    flow.exit("ready", done)
    flow.exit("blocked", refused)
    return flow


def looping(rounds: int = 3) -> Workflow[JsonObject]:
    """A loop around a mount: ``next`` counts, the child runs, and ``end`` says what was seen."""
    flow = Workflow("parent")

    @flow.compute
    def next(ctx: Context[JsonObject]) -> int:
        return ctx.output(next, -1) + 1

    docs = flow.include("docs", child(), input=lambda ctx: Job("n", ctx.output(next)))

    @flow.compute
    def more(ctx: Context[JsonObject]) -> bool:
        seen.append([dict(ctx.outputs), ctx.visits(docs), ctx.visit])
        return ctx.visits(docs) < rounds

    @flow.compute
    def end(ctx: Context[JsonObject]) -> list[Json]:
        return seen

    seen: list[Json] = []
    flow.entry(next)
    flow.then(next, docs)
    flow.then(docs["ready"], more)
    flow.then(docs["blocked"], more)
    flow.switch(more, {True: next, False: end})
    return flow


def test_a_step_into_and_out_of_a_mount_is_one_commit(tmp_path: Path) -> None:
    """Entries and exits share the commit of the step around them, and are no steps."""
    port = port_for(looping(1), tmp_path)
    assert run(port) == "finished"
    told = [
        *("|", "Ready", "StartNode"),
        *("|", "FinishNode", "EnterMount", "StartNode"),
        *("|", "FinishNode", "StartNode"),
        *("|", "FinishNode", "ExitMount", "StartNode"),
        *("|", "FinishNode", "StartNode"),
        *("|", "FinishNode", "CompleteRun", "ExitWorker"),
    ]
    assert port.told() == told
    nexts = [one.next for one in port.all(FinishNode) if isinstance(one, FinishNode)]
    assert nexts == ["docs", "docs/refused", "more", "end", None]
    assert port.steps == 5
    assert port.mounts["docs"].input == {"name": "n", "size": 0}


def test_a_loop_around_a_mount_begins_afresh(tmp_path: Path) -> None:
    """Each invocation has no outputs of the one before; the latest way out is the one that is there."""
    port = port_for(looping(), tmp_path)
    assert run(port) == "finished"
    assert port.output("end") == [
        [{"next": 0, "docs[blocked]": "n"}, 1, 1],
        [{"next": 1, "more": True, "docs[ready]": 1}, 2, 2],
        [{"next": 2, "more": True, "docs[ready]": 2}, 3, 3],
    ]
    assert port.nodes["docs/count"].visits == 3
    assert port.nodes["docs/count"].invocation_visits == 1
    assert [one.invocation for one in port.all(EnterMount) if isinstance(one, EnterMount)] == [1, 2, 3]


def caught(value: int | str, *, catch: bool = True, max_steps: int = 1000) -> Workflow[JsonObject]:
    """A mount whose child fails for a negative size; ``rescue`` says what it knows."""
    flow = Workflow("parent")
    docs = flow.include("docs", child(max_steps), input=lambda ctx: Job("n", value))  # type: ignore[arg-type]

    @flow.compute
    def use(ctx: Context[JsonObject]) -> int:
        return 1

    @flow.compute
    def rescue(ctx: Context[JsonObject]) -> dict[str, Json]:
        result = ctx.result(docs["ready"])
        assert result is not None
        assert result.error is not None
        with pytest.raises(LookupError, match="failed"):
            ctx.output(docs["blocked"])
        return {"outcome": result.outcome, "code": result.error.code, "visits": ctx.visits(docs)}

    flow.entry(docs)
    flow.then(docs["ready"], use)
    flow.then(docs["blocked"], use)
    if catch:
        flow.catch(docs, rescue)
    else:
        flow.then(use, rescue)
    return flow


@pytest.mark.parametrize(
    ("value", "max_steps", "code"),
    [(-1, 1000, "node_failed"), ("many", 1000, "input_invalid"), (1, 1, "max_steps_exceeded")],
)
def test_a_bad_end_is_caught_at_the_mount(value: int | str, max_steps: int, code: str, tmp_path: Path) -> None:
    """A node that fails, an input that does not fit, a bound on steps: each leaves the mount, and says why there."""
    port = port_for(caught(value, max_steps=max_steps), tmp_path)
    assert run(port) == "finished"
    assert port.output("rescue") == {"outcome": "failed", "code": code, "visits": 1}
    assert isinstance(port.ended, CompleteRun)
    mount = port.mounts["docs"]
    assert (mount.inside, mount.exit, mount.outcome, mount.code) == (False, None, "failed", code)


@pytest.mark.parametrize(
    ("value", "max_steps", "code", "words"),
    [
        (-1, 1000, "node_failed", "Node 'docs/count' failed (visit 1, attempt 1)."),
        ("many", 1000, "input_invalid", "The input of mount 'docs' failed (input_invalid, invocation 1)."),
        (1, 1, "max_steps_exceeded", "Mount 'docs' used all of its 1 steps (invocation 1)."),
    ],
)
def test_what_nothing_catches_fails_the_run(
    value: int | str, max_steps: int, code: str, words: str, tmp_path: Path
) -> None:
    """With the code of what ended badly, and a message that names its full path."""
    port = port_for(caught(value, max_steps=max_steps, catch=False), tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (port.ended.code, port.ended.message.startswith(words)) == (code, True)
    assert not any(mount.inside for mount in port.mounts.values())


def nested(*, broken: bool = False) -> Workflow[JsonObject]:
    """Two mounts deep, the inner child mounted twice; ``broken`` makes the second one fail, caught at the root."""
    leaf = Workflow("leaf", input=Job)

    @leaf.compute
    def work(ctx: Context[Job]) -> str:
        if ctx.input.size > 1 and broken:
            raise ValueError("broken")
        return f"{ctx.path} {ctx.visit} {ctx.input.name} {ctx.steps_left}"

    leaf.entry(work)
    out = leaf.exit("out", work)

    middle = Workflow("middle", input=Job, max_steps=10)
    one = middle.include("one", leaf, input=lambda ctx: Job(ctx.input.name + ".one"))
    two = middle.include("two", leaf, input=lambda ctx: Job(ctx.output(one[out]), 2))

    @middle.compute
    def both(ctx: Context[Job]) -> list[str]:
        return [ctx.output(one[out]), ctx.output(two[out])]

    middle.entry(one)
    middle.then(one[out], two)
    middle.then(two[out], both)
    found = middle.exit("found", both)

    root = Workflow("root")
    mid = root.include("mid", middle, input=lambda ctx: Job("root"))

    @root.compute
    def end(ctx: Context[JsonObject]) -> list[str]:
        return ctx.output(mid[found], [])

    root.entry(mid)
    root.then(mid[found], end)
    root.catch(mid, end)
    return root


def test_nested_mounts(tmp_path: Path) -> None:
    """Several mounts are entered in one step; each child sees its own input; the nearest bound says what is left."""
    port = port_for(nested(), tmp_path)
    assert run(port) == "finished"
    first = "mid/one/work 1 root.one 9"
    assert port.output("end") == [first, f"mid/two/work 1 {first} 8"]
    assert [type(one).__name__ for one in port.lists[0]] == ["Ready", "EnterMount", "EnterMount", "StartNode"]


def test_a_bad_end_leaves_mount_after_mount(tmp_path: Path) -> None:
    """Innermost first, with the outcome and code that it began with."""
    port = port_for(nested(broken=True), tmp_path)
    assert run(port) == "finished"
    exits = [(one.path, one.exit, one.code) for one in port.all(ExitMount) if isinstance(one, ExitMount)]
    assert exits == [("mid/one", "out", None), ("mid/two", None, "node_failed"), ("mid", None, "node_failed")]
    assert port.output("end") == []


def test_a_way_out_that_no_rule_takes_on_completes_the_run(tmp_path: Path) -> None:
    """With the output of the node that it stands at."""
    flow = Workflow("parent")
    flow.entry(flow.include("docs", child(), input=lambda ctx: Job("n", 7)))
    port = port_for(flow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, CompleteRun)
    assert (port.node, port.mounts["docs"].output) == ("docs/done", 7)


def test_limits_on_mounts_and_in_them(tmp_path: Path) -> None:
    """A limit on a mount counts entries, one inside counts in each invocation."""
    inner = Workflow("inner")

    @inner.compute
    def again(ctx: Context[JsonObject]) -> str:
        return "again"

    @inner.compute
    def stop(ctx: Context[JsonObject]) -> int:
        return ctx.visits(again)

    inner.entry(again)
    inner.then(again, again)
    inner.limit(again, visits=2, to=stop)
    out = inner.exit("out", stop)

    flow = Workflow("outer")
    part = flow.include("part", inner, input=lambda ctx: {})

    @flow.compute
    def back(ctx: Context[JsonObject]) -> int:
        return ctx.output(part[out])

    @flow.compute
    def end(ctx: Context[JsonObject]) -> list[int]:
        return [ctx.visits(part), ctx.output(back)]

    flow.entry(part)
    flow.then(part[out], back)
    flow.then(back, part)
    flow.limit(part, visits=3, to=end)
    port = port_for(flow, tmp_path)
    assert run(port) == "finished"
    assert port.output("end") == [3, 2]
    assert port.nodes["part/again"].visits == 6


def test_an_input_that_always_fails_ends_however_it_is_caught(tmp_path: Path) -> None:
    """A mount that catches itself is entered once more, and then nothing catches it: there was no step in between."""
    flow = Workflow("parent")

    def broken(ctx: Context[JsonObject]) -> Job:
        raise RuntimeError(f"entry {ctx.visit}, {ctx.visits(docs)} of {ctx.node}")

    docs = flow.include("docs", child(), input=broken)
    flow.entry(docs)
    flow.catch(docs, docs)
    port = port_for(flow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (port.ended.code, port.mounts["docs"].invocation) == ("node_failed", 2)
    assert port.ended.error == "RuntimeError: entry 2, 2 of docs"


def test_a_missing_case_at_a_way_out_leaves_the_mount_first(tmp_path: Path) -> None:
    """The mount was left well; it is the parent's rule that has no answer."""
    flow = Workflow("parent")
    docs = flow.include("docs", child(), input=lambda ctx: Job("n", 5))

    @flow.compute
    def end(ctx: Context[JsonObject]) -> int:
        return 1

    flow.entry(docs)
    flow.switch(docs["ready"], {1: end})
    flow.then(docs["blocked"], end)
    port = port_for(flow, tmp_path)
    assert run(port) == "finished"
    assert isinstance(port.ended, FailRun)
    assert (port.ended.code, port.mounts["docs"].exit) == ("route_missing", "ready")


def driven(port: ScriptedPort) -> None:
    """Launch the run again and again until it has ended."""
    for _ in range(30):
        if port.ended is not None:
            return
        run_until_crash(port)
    raise AssertionError("the run does not end")


@pytest.mark.parametrize("workflow", [looping, nested, lambda: nested(broken=True), lambda: caught(-1)])
def test_a_worker_may_vanish_at_any_boundary(workflow: object, tmp_path: Path) -> None:
    """Before or after any list, the next worker goes on to the same places in the same order."""
    assert callable(workflow)
    plain = port_for(workflow(), tmp_path)
    run(plain)
    for at in range(len(plain.lists)):
        for when in ("crash_before", "crash_after"):
            port = port_for(workflow(), tmp_path)
            left = [at]

            def crash(_: object, left: list[int] = left) -> None:
                left[0] -= 1
                if left[0] == -1:
                    raise Crash

            setattr(port, when, crash)
            driven(port)
            assert port.nodes.keys() == plain.nodes.keys()
            assert {path: node.visits for path, node in port.nodes.items()} == {
                path: node.visits for path, node in plain.nodes.items()
            }
            assert {path: (each.invocation, each.exit, each.code) for path, each in port.mounts.items()} == {
                path: (each.invocation, each.exit, each.code) for path, each in plain.mounts.items()
            }
            assert type(port.ended) is type(plain.ended)


@pytest.mark.parametrize("workflow", [looping, nested, lambda: nested(broken=True), lambda: caught("many")])
def test_a_list_may_be_cut_anywhere(workflow: object, tmp_path: Path) -> None:
    """Only a part of a list was committed (a pause, a stopping host): the next worker goes on from there."""
    assert callable(workflow)
    plain = port_for(workflow(), tmp_path)
    run(plain)
    total = sum(len(each) for each in plain.lists)
    for at in range(1, total):
        port = Cut(port_for(workflow(), tmp_path), at)
        run_until_crash(port.port)
        port.port.decide = None
        driven(port.port)
        assert {path: node.visits for path, node in port.port.nodes.items()} == {
            path: node.visits for path, node in plain.nodes.items()
        }
        mounts = {path: (each.invocation, each.exit, each.code) for path, each in plain.mounts.items()}
        assert {path: (each.invocation, each.exit, each.code) for path, each in port.port.mounts.items()} == mounts
        assert type(port.port.ended) is type(plain.ended)


class Cut:
    """Crashes a port's worker in the middle of a list, after a number of transitions."""

    def __init__(self, port: ScriptedPort, at: int) -> None:
        self.port = port
        self._left = at
        port.decide = self.decide

    def decide(self, transition: WorkerTransition) -> None:
        """Count down."""
        self._left -= 1
        if self._left < 0:
            raise Crash
