"""Starting, finishing and updating nodes: the fence before user code, and what may follow what."""

from typing import Final

from runwright.engine.codes import COMMAND_CODES, RUN_CODES
from runwright.engine.commands.worker import FinishNode, StartNode, UpdateNode
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import NodeFacts, RunFacts, Step
from runwright.engine.graph.definition import Definition, NodeSpec
from runwright.engine.progress import MAX_UPDATE
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.effect import EffectCancelled
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.message import MessageCancelled
from runwright.eventstore.events.node import NodeFinished, NodeStarted, NodeUpdated
from runwright.eventstore.events.request import RequestClosed
from runwright.eventstore.events.timer import TimerCleared
from runwright.eventstore.values import Json, encode
from runwright.projections.control.mounts import MountRow
from runwright.projections.control.requests import RequestRow
from runwright.projections.control.visits import VisitRow

#: Node kinds that ask an executor.
ASKING: Final = frozenset({"agent", "choose"})

#: Node kinds that a worker asks for and never answers: whoever does finishes the node.
ANSWERED_ELSEWHERE: Final = frozenset({"assistant", "decision", "checkpoint"})

#: Timers that bound a step of a session, and go with its request.
OF_STEPS: Final = frozenset({"deadline", "delivery"})


def decide_start(facts: NodeFacts, command: StartNode) -> Decision[None]:
    """Decide whether an attempt may start; the node's function runs only after the answer."""
    of, current = facts.of, facts.current
    run = of.run
    if of.queue.state != "running":
        return broken("not_ready", queue=of.queue.state)
    if run.paused or run.pause_requested:
        return Conflict("paused", {"run": run.run_id})
    spec = facts.definition.nodes.get(command.path)
    if spec is None:
        return broken("unknown_node", node=command.path)
    if current is not None and current.open:
        if _names(of, command):
            return Adopted(None, of.revision)
        return broken("attempt_open", node=run.node, visit=run.visit, attempt=run.attempt)
    again = (command.path, command.visit) == (run.node, run.visit)
    refusal = refuse_place(facts.definition, facts.inside, command.path) or (
        _refuse_retry(facts, spec, command.attempt) if again else _refuse_visit(facts, command)
    )
    if refusal is not None:
        return refusal
    started = NodeStarted(
        path=command.path,
        visit=command.visit,
        attempt=command.attempt,
        kind=spec.kind,
        invocation=_invocation(facts),
        deadline=command.deadline,
    )
    return Decided(None, (started,))


def decide_finish(facts: NodeFacts, command: FinishNode) -> Decision[None]:
    """Decide the end of the open attempt; an equal end that stands already is adopted."""
    of, target = facts.of, facts.target
    if target is None or (target.visits, target.attempt) != (command.visit, command.attempt):
        return broken("attempt_not_open", node=of.run.node, visit=of.run.visit, attempt=of.run.attempt)
    finished = NodeFinished(
        path=command.path,
        visit=command.visit,
        attempt=command.attempt,
        outcome=command.outcome,
        code=command.code,
        next=command.next,
        output=Content.json(command.output) if command.outcome == "completed" else None,
        error=None if command.error is None else Content.text(error_text(command.error)),
    )
    if not target.open:
        if facts.finished is not None and _equal(facts.finished, finished):
            return Adopted(None, of.revision)
        return Conflict("revision_changed", {"node": target.path, "visit": target.visits, "outcome": target.outcome})
    if command.next is not None and not _is_place(facts, command.next):
        return broken("unknown_node", node=command.next)
    if (command.code is None) is not (command.outcome == "completed") or not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    before = _before_end(facts, command)
    if isinstance(before, Conflict):
        return before
    return Decided(None, (*before, finished))


def decide_update(facts: NodeFacts, command: UpdateNode) -> Decision[None]:
    """Decide whether a progress update belongs to the open attempt; it counts as no progress of the run."""
    of, current = facts.of, facts.current
    if current is None or not current.open or not _names(of, command):
        return broken("attempt_not_open", node=of.run.node, visit=of.run.visit, attempt=of.run.attempt)
    updated = progress(of, command.path, command.visit, command.attempt, command.key, command.update)
    return updated if isinstance(updated, Conflict) else Decided(None, (updated,))


def progress(of: RunFacts, path: str, visit: int, attempt: int, key: str, update: Json) -> NodeUpdated | Conflict:
    """What an attempt reports of its progress, in as many bytes as are kept of it."""
    size = len(encode(update).encode())
    if size > MAX_UPDATE:
        return Conflict("payload_too_large", {"what": "update", "limit": MAX_UPDATE, "size": size})
    return NodeUpdated(
        path=path,
        visit=visit,
        attempt=attempt,
        key=key,
        # The stream's version orders a run's updates and needs no count of its own.
        number=of.revision + 1,
        update=Content.json(update),
    )


def open_attempt(of: RunFacts, current: VisitRow | None, path: str, visit: int) -> Conflict | None:
    """Refuse what does not belong to the open attempt's visit."""
    if current is not None and current.open and (path, visit) == (of.run.node, of.run.visit):
        return None
    return broken("attempt_not_open", node=of.run.node, visit=of.run.visit, attempt=of.run.attempt)


def closed(request: RequestRow, cause: str, asked: Step | None) -> list[Event]:
    """Close a request that nobody answered, with all that its session still has of it: messages, time limits."""
    events: list[Event] = [RequestClosed(request=request.request, cause=cause)]
    if asked is not None:
        if asked.pending is not None:
            events.append(MessageCancelled(message=asked.pending.message, cause=cause))
        events += (TimerCleared(kind=each.kind) for each in asked.timers if each.kind in OF_STEPS)
    return events


def refuse_place(definition: Definition, inside: tuple[MountRow, ...], path: str) -> Conflict | None:
    """Refuse a place whose mounts around it are not exactly the ones that are open."""
    around = {mount.path for mount in definition.mounts_around(path)}
    if around == {row.path for row in inside}:
        return None
    return broken("mount_not_open", place=path, inside=inside[-1].path if inside else None)


def known_code(code: str | None) -> bool:
    """Whether a code is one of the closed lists, or there is none."""
    return code is None or code in RUN_CODES or code in COMMAND_CODES


def _names(of: RunFacts, command: StartNode | FinishNode | UpdateNode) -> bool:
    """Whether a command names exactly the attempt that started last."""
    run = of.run
    return command.visit == run.visit and command.attempt == run.attempt and command.path == run.node


def _refuse_retry(facts: NodeFacts, spec: NodeSpec, attempt: int) -> Conflict | None:
    current = facts.current
    if current is None or attempt != current.attempt + 1:
        return broken("attempt_out_of_order", node=spec.path, attempt=attempt)
    if current.invocation != _invocation(facts):
        return broken("invocation_over", node=spec.path, invocation=current.invocation)
    if not spec.tries_again(current.attempt, current.outcome, current.code):
        return broken("retry_not_declared", node=spec.path, attempt=attempt)
    return None


def _invocation(facts: NodeFacts) -> int:
    """The entry of the mount around the place where the run stands; 0 outside of mounts."""
    return facts.inside[-1].invocation if facts.inside else 0


def _refuse_visit(facts: NodeFacts, command: StartNode) -> Conflict | None:
    run, visits = facts.of.run, 0 if facts.target is None else facts.target.visits
    if command.visit != visits + 1 or command.attempt != 1:
        return broken("visit_out_of_order", node=command.path, visit=command.visit, expected=visits + 1)
    if facts.effect is not None and facts.effect.state in ("reserved", "applying", "ambiguous"):
        return broken("effect_unsettled", effect=facts.effect.effect, state=facts.effect.state)
    steps = run.step_base + run.steps
    if steps >= run.max_steps:
        return Conflict("max_steps_exceeded", {"run": run.run_id, "steps": steps, "max_steps": run.max_steps})
    for row in facts.inside:
        most = facts.definition.mounts[row.path].max_steps
        if steps - row.step_base >= most:
            evidence: dict[str, Json] = {"run": run.run_id, "mount": row.path, "steps": steps - row.step_base}
            return Conflict("max_steps_exceeded", {**evidence, "max_steps": most})
    return None


def _before_end(facts: NodeFacts, command: FinishNode) -> tuple[Event, ...] | Conflict:
    """Settle what the attempt leaves open, or say why it cannot end like this."""
    effect, request, completed = facts.effect, facts.request, command.outcome == "completed"
    spec = facts.definition.nodes.get(command.path)
    events: list[Event] = []
    if completed and spec is not None and spec.kind in ANSWERED_ELSEWHERE:
        return broken("answered_elsewhere", node=command.path)
    if effect is None:
        if completed and spec is not None and spec.is_effect:
            return broken("effect_unsettled", node=command.path, state=None)
    elif effect.state in ("applying", "ambiguous") or (completed and effect.state != "applied"):
        return broken("effect_unsettled", effect=effect.effect, state=effect.state)
    elif effect.state == "reserved" and command.next is not None:
        # The visit is over and nothing will try it again.
        events.append(EffectCancelled(effect=effect.effect, cause=command.outcome))
    if request is not None and request.state in ("open", "validating"):
        if completed:
            return broken("request_open", request=request.request)
        events += closed(request, command.outcome, facts.asked)
    return tuple(events)


def _is_place(facts: NodeFacts, place: str) -> bool:
    return place in facts.definition.nodes or place in facts.definition.mounts


def _equal(saved: NodeFinished, given: NodeFinished) -> bool:
    if (saved.outcome, saved.code, saved.next) != (given.outcome, given.code, given.next):
        return False
    # Compared as text: Python holds 1, 1.0 and True for equal, JSON does not.
    return _text(saved.output) == _text(given.output) and _text(saved.error) == _text(given.error)


def _text(content: Content | None) -> str | None:
    return None if content is None else encode(content.value)
