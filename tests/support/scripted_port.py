"""A port in memory: records what an executor asks, and answers as the transitions would."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import evolve

from runwright.engine.commands.run import Resume, RunCommand, Start
from runwright.engine.commands.worker import (
    BeginEffect,
    CloseRequest,
    CompleteRun,
    EffectGrant,
    EnterMount,
    ExitMount,
    ExitWorker,
    FailRun,
    FinishNode,
    OpenRequest,
    ParkRun,
    Ready,
    ReserveEffect,
    SettleEffect,
    StartNode,
    SubmitCandidate,
    UpdateNode,
    WorkerTransition,
)
from runwright.engine.execution.port import MountState, NodeState, RunState, SavedEffect, SavedRequest
from runwright.engine.graph.program import Program
from runwright.engine.results import Adopted, Applied, Conflict, Result
from runwright.eventstore.values import Json, decode, encode


class Crash(BaseException):
    """The worker vanishes at this point."""


class ScriptedPort:
    """One run's durable state, and everything that was asked of it.

    Attributes:
        lists: Every list, in order.
        ended: How the run ended (`CompleteRun`, `FailRun`), or ``None``.
        parked: How it was parked last, or ``None``.
        updates: Progress as it was handed over.
        paused: Whether a pause was asked for.
        lost: Whether another owner has the run.
        crash_before: Called with each list before it is decided; may raise.
        crash_after: Called with each list after it is decided; may raise.
        decide: Called with each transition before it is decided; may raise, which keeps what stands before it.
    """

    def __init__(self, program: Program, tmp_path: Path, *, max_steps: int = 1000) -> None:
        self.program = program
        self.folder = tmp_path
        self.max_steps = max_steps
        self.lists: list[list[WorkerTransition]] = []
        self.ended: CompleteRun | FailRun | None = None
        self.parked: ParkRun | None = None
        self.exited: ExitWorker | None = None
        self.updates: list[tuple[str, Json]] = []
        self.paused = False
        self.lost = False
        self.nodes: dict[str, NodeState] = {}
        self.mounts: dict[str, MountState] = {}
        self.mount: str | None = None
        self.node: str | None = None
        self.steps = 0
        self.effects: dict[tuple[str, int], SavedEffect] = {}
        self.requests: dict[str, SavedRequest] = {}
        self.open_request: str | None = None
        self.submissions: list[SubmitCandidate] = []
        self.shift = 0
        self.crash_before: Callable[[Sequence[WorkerTransition]], None] = lambda _: None
        self.crash_after: Callable[[Sequence[WorkerTransition]], None] = lambda _: None
        self.decide: Callable[[WorkerTransition], None] | None = None

    # the port

    async def transact(self, transitions: Sequence[WorkerTransition]) -> list[Result[object]]:
        """Decide a list in order; the first that is refused ends it."""
        self.crash_before(transitions)
        self.lists.append(list(transitions))
        answers: list[Result[object]] = []
        for transition in transitions:
            if self.decide is not None:
                self.decide(transition)
            answer = Conflict("claim_lost", {"why": "expired"}) if self.lost else self._decide(transition)
            answers.append(answer)
            if not isinstance(answer, Applied | Adopted):
                break
        self.crash_after(transitions)
        return answers

    def update(self, path: str, visit: int, attempt: int, key: str, update: Json) -> None:
        """Keep progress."""
        self.updates.append((key, update))

    def now(self) -> int:
        """UTC in microseconds, as far ahead as a test wants."""
        return time.time_ns() // 1000 + self.shift

    # what a test looks at

    def state(self, run_input: Json = None, command: RunCommand | None = None) -> RunState:
        """The run as the next worker would read it."""
        current = self.nodes.get(self.node or "")
        default = Start(run_id="run") if self.node is None and self.mount is None else Resume(run_id="run")
        return RunState(
            command=command or default,
            run_id="run",
            root="run",
            workflow=self.program.definition.workflow,
            definition="digest",
            input=run_input,
            node=self.node,
            nodes=dict(self.nodes),
            steps=self.steps,
            max_steps=self.max_steps,
            cwd=self.folder,
            scratch=self.folder,
            effect=None if current is None else self.effects.get((current.path, current.visits)),
            request=None if self.open_request is None else self.requests[self.open_request],
            mounts=dict(self.mounts),
            mount=self.mount,
        )

    def told(self) -> list[str]:
        """The names of everything that was asked, a ``|`` before each list."""
        return [name for each in self.lists for name in ("|", *(type(one).__name__ for one in each))]

    def finished(self) -> list[tuple[str, int, int, str]]:
        """Each attempt that ended: path, visit, attempt, outcome."""
        return [
            (one.path, one.visit, one.attempt, one.outcome)
            for each in self.lists
            for one in each
            if isinstance(one, FinishNode)
        ]

    def all(self, kind: type[object]) -> list[object]:
        """Everything of one kind that was asked."""
        return [one for each in self.lists for one in each if isinstance(one, kind)]

    def output(self, path: str) -> Json:
        """The saved output of a node."""
        return self.nodes[path].output

    # the rules

    def _decide(self, transition: WorkerTransition) -> Result[object]:
        if self.ended is not None and not isinstance(transition, ExitWorker):
            return Conflict("already_terminal")
        match transition:
            case StartNode():
                return self._start(transition)
            case FinishNode():
                return self._finish(transition)
            case EnterMount():
                return self._enter(transition)
            case ExitMount():
                self._exit(transition)
            case ReserveEffect() | BeginEffect() | SettleEffect():
                return self._effect(transition)
            case OpenRequest() | SubmitCandidate() | CloseRequest():
                return self._request(transition)
            case ParkRun():
                self.parked = transition
            case CompleteRun() | FailRun():
                assert self.node is None or not self.nodes[self.node].open
                self.ended = transition
            case ExitWorker():
                self.exited = transition
            case Ready():
                self.parked = self.exited = None
            case UpdateNode():
                self.updates.append((transition.key, transition.update))
        return Applied(None, 1)

    def _start(self, start: StartNode) -> Result[object]:
        if self.paused:
            return Conflict("paused")
        known = self.nodes.get(start.path)
        assert self.node is None or not self.nodes[self.node].open, "an attempt is open"
        assert start.visit == (known.visits if known and start.attempt > 1 else (known.visits if known else 0) + 1)
        if start.attempt == 1:
            if self.steps >= self.max_steps:
                return Conflict("max_steps_exceeded")
            self.steps += 1
        scope = start.path.rpartition("/")[0]
        assert self._inside() == ([scope] if scope else [])
        invocation = self.mounts[scope].invocation if scope else 0
        if known is not None and known.invocation != invocation:
            known = evolve(known, invocation_visits=0, outcome=None, has_output=False, output=None)
        entries = (known.invocation_visits if known else 0) + (1 if start.attempt == 1 else 0)
        self.nodes[start.path] = NodeState(
            path=start.path,
            visits=start.visit,
            invocation_visits=entries,
            open=True,
            attempt=start.attempt,
            outcome=known.outcome if known else None,
            has_output=known.has_output if known else False,
            output=known.output if known else None,
            code=known.code if known else None,
            error=known.error if known else None,
            started_at=self.now(),
            finished_at=known.finished_at if known else None,
            deadline=start.deadline,
            invocation=invocation,
        )
        self.node, self.mount = start.path, None
        return Applied(None, 1)

    def _finish(self, finish: FinishNode) -> Result[object]:
        node = self.nodes[finish.path]
        assert (node.visits, node.attempt, node.open) == (finish.visit, finish.attempt, True)
        effect = self.effects.get((finish.path, finish.visit))
        assert effect is None or effect.state not in ("applying", "ambiguous"), "the effect is not settled"
        assert self.open_request is None, "the request is open"
        assert (finish.code is None) is (finish.outcome == "completed")
        self.nodes[finish.path] = evolve(
            node,
            open=False,
            outcome=finish.outcome,
            has_output=finish.outcome == "completed",
            output=_stored(finish.output),
            code=finish.code,
            error=finish.error,
            finished_at=self.now(),
        )
        return Applied(None, 1)

    def _enter(self, enter: EnterMount) -> Result[object]:
        if self.paused:
            return Conflict("paused")
        assert self.node is None or not self.nodes[self.node].open, "an attempt is open"
        known, scope = self.mounts.get(enter.path), enter.path.rpartition("/")[0]
        within = self.mounts[scope].invocation if scope else 0
        assert self._inside() == ([scope] if scope else [])
        assert enter.invocation == (known.invocation if known else 0) + 1
        self.mounts[enter.path] = MountState(
            path=enter.path,
            invocation=enter.invocation,
            within=within,
            entries=known.entries + 1 if known and known.within == within else 1,
            inside=enter.outcome is None,
            outcome=enter.outcome,
            code=enter.code,
            error=enter.error,
            step_base=self.steps,
            input=_stored(enter.input),
            entered_at=self.now(),
            exited_at=None if enter.outcome is None else self.now(),
        )
        self.mount = enter.path
        return Applied(None, 1)

    def _exit(self, left: ExitMount) -> None:
        mount = self.mounts[left.path]
        assert self._inside() == [left.path]
        assert mount.invocation == left.invocation
        output: Json = None
        if left.exit is not None:
            output = self.nodes[self.program.definition.mounts[left.path].exits[left.exit]].output
        assert (left.exit is None, left.code is None) == (left.outcome != "completed", left.outcome == "completed")
        self.mounts[left.path] = evolve(
            mount,
            inside=False,
            exit=left.exit,
            outcome=left.outcome,
            code=left.code,
            error=left.error,
            output=output,
            exited_at=self.now(),
        )
        self.mount = left.path

    def _inside(self) -> list[str]:
        """The innermost open mount."""
        return sorted((path for path, mount in self.mounts.items() if mount.inside), key=len)[-1:]

    def _effect(self, asked: ReserveEffect | BeginEffect | SettleEffect) -> Result[object]:
        assert self.nodes[asked.path].open
        key = (asked.path, asked.visit)
        saved = self.effects.get(key)
        if isinstance(asked, ReserveEffect):
            request = _sealed(asked.request)
            if saved is None:
                self.effects[key] = SavedEffect(effect="e" * 64, state="reserved", applications=0, request=request)
                return Applied(EffectGrant(effect="e" * 64, state="reserved", applications=0), 1)
            if encode(saved.request) != encode(request):
                return Conflict("effect_request_changed")
            grant = EffectGrant(
                effect=saved.effect, state=saved.state, applications=saved.applications, result=saved.result
            )
            return Adopted(grant, 1)
        assert saved is not None
        if isinstance(asked, BeginEffect):
            if saved.state != "reserved":
                return Conflict("effect_ambiguous", {"state": saved.state})
            self.effects[key] = evolve(saved, state="applying", applications=saved.applications + 1)
            return Applied(saved.applications + 1, 1)
        assert (saved.state, saved.applications) == ("applying", asked.application)
        states = {"released": "reserved"}
        self.effects[key] = evolve(saved, state=states.get(asked.outcome, asked.outcome), result=_stored(asked.result))
        return Applied(None, 1)

    def _request(self, asked: OpenRequest | SubmitCandidate | CloseRequest) -> Result[object]:
        if isinstance(asked, OpenRequest):
            assert self.open_request is None
            self.open_request = f"request-{len(self.requests) + 1}"
            self.requests[self.open_request] = SavedRequest(
                request=self.open_request, prompt=asked.prompt, refused=0, refusal=None, deadline=asked.deadline
            )
            return Applied(self.open_request, 1)
        assert asked.request == self.open_request
        if isinstance(asked, CloseRequest):
            self.open_request = None
            return Applied(None, 1)
        self.submissions.append(asked)
        if asked.refusal is None:
            self.open_request = None
        else:
            saved = self.requests[asked.request]
            self.requests[asked.request] = evolve(saved, refused=saved.refused + 1, refusal=asked.refusal)
        return Applied("submission", 1)


def _stored(value: Json) -> Json:
    return decode(encode(value))


def _sealed(request: Json) -> Json:
    """What is saved of a request: of a command's environment only something that is equal for equal values."""
    if isinstance(request, dict) and isinstance(request.get("env"), dict):
        env = request["env"]
        assert isinstance(env, dict)
        return {**request, "env": {name: f"sealed {len(str(value))} {str(value)[-1:]}" for name, value in env.items()}}
    return _stored(request)
