"""Entering and leaving mounted children: one inside another, an invocation after the other."""

from runwright.engine.commands.worker import EnterMount, ExitMount
from runwright.engine.decisions.decided import Decided, Decision, broken
from runwright.engine.decisions.facts import MountFacts
from runwright.engine.decisions.node import known_code, refuse_place
from runwright.engine.graph.definition import MountSpec
from runwright.engine.results import Adopted, Conflict
from runwright.engine.safe import error_text
from runwright.eventstore.events.event import Content, Event
from runwright.eventstore.events.node import MountEntered, MountExited
from runwright.eventstore.values import encode


def decide_enter(facts: MountFacts, command: EnterMount) -> Decision[None]:
    """Decide the next entry into a mount; one without an input that fits ends as it begins."""
    of, row = facts.of, facts.target
    if of.queue.state != "running":
        return broken("not_ready", queue=of.queue.state)
    if of.run.paused or of.run.pause_requested:
        return Conflict("paused", {"run": of.run.run_id})
    if command.path not in facts.definition.mounts:
        return broken("unknown_mount", mount=command.path)
    if (command.code is None) is not (command.outcome is None) or not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    before = 0 if row is None else row.invocation
    around = facts.inside[-1].invocation if facts.inside else 0
    entered = MountEntered(
        path=command.path,
        invocation=command.invocation,
        within=around,
        step_base=of.run.step_base + of.run.steps,
        input=Content.json(command.input) if command.outcome is None else None,
    )
    events: tuple[Event, ...] = (entered,)
    if command.outcome is not None:
        events = (entered, _exited(command, None, command.outcome))
    if facts.last is not None and _stands(facts.last, events[-1]):
        return Adopted(None, of.revision)
    if (refusal := _attempt_open(facts)) is not None:
        return refusal
    if (refusal := refuse_place(facts.definition, facts.inside, command.path)) is not None:
        return refusal
    if command.invocation != before + 1:
        return broken("invocation_out_of_order", mount=command.path, invocation=command.invocation, expected=before + 1)
    return Decided(None, events)


def decide_leave(facts: MountFacts, command: ExitMount) -> Decision[None]:
    """Decide the end of the innermost open mount; an equal end that stands already is adopted."""
    of, row, spec = facts.of, facts.target, facts.definition.mounts.get(command.path)
    if row is None or spec is None or row.invocation != command.invocation:
        return broken("mount_not_open", place=command.path, inside=facts.inside[-1].path if facts.inside else None)
    if (command.code is None) is not (command.outcome == "completed") or not known_code(command.code):
        return broken("code_unfit", outcome=command.outcome)
    if not row.inside:
        if facts.last is not None and _stands(facts.last, _exited(command, command.exit, command.outcome)):
            return Adopted(None, of.revision)
        return Conflict("revision_changed", {"mount": row.path, "invocation": row.invocation, "outcome": row.outcome})
    if (refusal := _attempt_open(facts)) is not None:
        return refusal
    if facts.inside[-1].path != row.path:
        return broken("mount_not_open", place=row.path, inside=facts.inside[-1].path)
    if command.outcome != "completed":
        if command.exit is not None:
            return broken("exit_unfit", mount=row.path, exit=command.exit)
        return Decided(None, (_exited(command, None, command.outcome),))
    if not _left_by(facts, spec, command.exit) or facts.output is None:
        return broken("exit_unfit", mount=row.path, exit=command.exit)
    return Decided(None, (_exited(command, command.exit, "completed", facts.output),))


def _left_by(facts: MountFacts, spec: MountSpec, exit: str | None) -> bool:
    """Whether the node that the way out stands at completed in this very invocation, which nothing can follow."""
    leaver, row = facts.leaver, facts.target
    if exit not in spec.exits or leaver is None or row is None:
        return False
    return (leaver.invocation, leaver.outcome, leaver.open) == (row.invocation, "completed", False)


def _attempt_open(facts: MountFacts) -> Conflict | None:
    run = facts.of.run
    if facts.current is None or not facts.current.open:
        return None
    return broken("attempt_open", node=run.node, visit=run.visit, attempt=run.attempt)


def _exited(
    command: EnterMount | ExitMount, exit: str | None, outcome: str, output: Content | None = None
) -> MountExited:
    return MountExited(
        path=command.path,
        invocation=command.invocation,
        exit=exit,
        outcome=outcome,
        code=command.code,
        output=output,
        error=None if command.error is None else Content.text(error_text(command.error)),
    )


def _stands(saved: Event, wanted: Event) -> bool:
    """Whether the last word on an invocation is the one that is asked for."""
    match saved, wanted:
        case MountEntered(), MountEntered():
            return (saved.path, saved.invocation) == (wanted.path, wanted.invocation) and (
                _text(saved.input) == _text(wanted.input)
            )
        case MountExited(), MountExited():
            # The output is the exit node's own and cannot differ.
            return (saved.path, saved.invocation, saved.exit, saved.outcome, saved.code) == (
                wanted.path,
                wanted.invocation,
                wanted.exit,
                wanted.outcome,
                wanted.code,
            ) and _text(saved.error) == _text(wanted.error)
        case _:
            return False


def _text(content: Content | None) -> str | None:
    # Compared as text: Python holds 1, 1.0 and True for equal, JSON does not.
    return None if content is None else encode(content.value)
