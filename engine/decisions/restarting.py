"""Restarts: a fresh run of a root's definition and input, from the first node or from a named one.

Where somebody has accepted other files for the run that is restarted, and those are what is there now, they stand in
the place of the root's.
"""

from typing import Final

from attrs import evolve, frozen

from runwright.engine.commands.client import Caller, RestartRun
from runwright.engine.decisions.carried import carried
from runwright.engine.decisions.decided import Decided, Decision
from runwright.engine.decisions.facts import RunFacts
from runwright.engine.decisions.program import handed_on, source_changed, standing_on
from runwright.engine.decisions.session import Origin, origin_of
from runwright.engine.graph.definition import Definition
from runwright.engine.results import Conflict, RecoveryRequired
from runwright.eventstore.events.event import Event
from runwright.eventstore.events.run import RunEligible
from runwright.eventstore.events.timer import TimerSet
from runwright.projections.control.mounts import MountRow
from runwright.projections.control.runs import RunRow
from runwright.projections.control.terminal import TerminalRow
from runwright.projections.control.visits import VisitRow

#: How often a model may restart one root, and how often a chain may end in the same way before it may not.
MAX_RESTARTS: Final = 3
MAX_REPEATS: Final = 2


@frozen(kw_only=True)
class Before:
    """How a run stood before it last came to a node.

    Attributes:
        visits: Its nodes, none of them open.
        mounts: Its mounts.
        steps: The steps used, its own base included.
        ended: Whether it had ended when this was read; else it may have gone on since.
    """

    visits: tuple[VisitRow, ...]
    mounts: tuple[MountRow, ...]
    steps: int
    ended: bool = True


@frozen(kw_only=True)
class RestartFacts:
    """What a restart is decided on.

    Attributes:
        parent: The run that is restarted.
        root: The first run of its chain.
        definition: The graph that the new run stands on.
        terminal: How the parent ended.
        last: The run that the parent's work stands in now; itself, where nothing carries it on.
        input_there: Whether the root's input can still be read.
        restarts: How many restarts of this root there are.
        repeats: How many runs of the parent's own line, itself included, ended in the same way.
        origin: How the session stands that the restart would take.
        twin: A run of the new ID.
        before: How the parent stood before it last came to ``at``; ``None`` where it never did.
    """

    parent: RunFacts
    root: RunRow
    definition: Definition
    terminal: TerminalRow | None
    last: str
    input_there: bool
    restarts: int
    repeats: int
    origin: Origin
    twin: RunRow | None = None
    before: Before | None = None


def still_live(run_id: str, queue: str) -> Conflict:
    """Refuse to run afresh what has not ended."""
    return Conflict("still_live", {"run": run_id, "queue": queue})


def stood_on(root: RunRow, parent: RunRow, command: RestartRun) -> RunRow | None:
    """The run whose files are there now: the root, or else the one restarted, for which others were accepted."""
    found = standing_on(root, command.definition, command.sources)
    return next((each for each in (root, parent) if (each.definition, each.sources) == found), None)


def decide_restart(facts: RestartFacts, command: RestartRun, caller: Caller) -> Decision[str]:
    """Decide whether an ended run is run afresh; its own stream takes no event of it."""
    refusal = _refuse_parent(facts, caller) or _refuse_progress(facts, caller) or _refuse_place(facts, command)
    if refusal is not None:
        return refusal
    root, terminal, before = facts.root, facts.terminal, facts.before
    if facts.twin is not None:
        return Conflict("key_reused", {"run": facts.twin.run_id, "operation": "run.restart"})
    began = origin_of(facts.origin)
    if isinstance(began, Conflict):
        return began
    cause, depth = began
    known = stood_on(root, facts.parent.run, command)
    if known is None:
        return source_changed(root, standing_on(root, command.definition, command.sources))
    queued = evolve(
        handed_on(root),
        definition=known.definition,
        sources=known.sources,
        kind="restart",
        cause=cause,
        depth=depth,
        parent=facts.parent.run.run_id,
        root=root.run_id,
        restart_number=facts.parent.run.restart_number + 1,
        parent_fingerprint=None if terminal is None else terminal.fingerprint,
        at=command.at,
        step_base=0 if before is None else before.steps,
    )
    events: list[Event] = [queued, *(_taken_over(facts, before) if before is not None else ())]
    if root.timeout is not None:
        events.append(TimerSet(kind="run", due=facts.parent.now + root.timeout))
    if root.session is None:
        # A run in a session waits for that session's idle boundary.
        events.append(RunEligible(cause="headless"))
    return Decided(command.new_run_id, tuple(events))


def _refuse_parent(facts: RestartFacts, caller: Caller) -> Conflict | RecoveryRequired | None:
    parent = facts.parent.run
    if not facts.parent.ended:
        return still_live(parent.run_id, facts.parent.queue.state)
    if parent.status == "continued":
        return Conflict("parent_invalid", {"run": parent.run_id, "outcome": parent.status, "last": facts.last})
    kind, _, session = caller.client.partition(":")
    if not caller.person and session and session != parent.session:
        return Conflict("parent_invalid", {"run": parent.run_id, "outcome": parent.status, "client": kind})
    if not facts.input_there:
        return RecoveryRequired("input_cleared", {"run": parent.run_id, "root": facts.root.run_id})
    return None


def _refuse_progress(facts: RestartFacts, caller: Caller) -> RecoveryRequired | None:
    """Bound what a model may ask for; a person can always restart."""
    if caller.person or (facts.restarts < MAX_RESTARTS and facts.repeats < MAX_REPEATS):
        return None
    return RecoveryRequired(
        "restart_no_progress",
        {
            "run": facts.parent.run.run_id,
            "root": facts.root.run_id,
            "restarts": facts.restarts,
            "repeats": facts.repeats,
        },
    )


def _refuse_place(facts: RestartFacts, command: RestartRun) -> Conflict | None:
    at, run_id = command.at, facts.parent.run.run_id
    if at is None:
        return None
    if at not in facts.definition.nodes:
        return Conflict("not_found", {"what": "node", "id": at, "run": run_id})
    if "/" in at:
        return Conflict("parent_invalid", {"run": run_id, "node": at, "mount": at.partition("/")[0]})
    if facts.before is None:
        return Conflict("not_found", {"what": "visit of node", "id": at, "run": run_id})
    if not facts.before.ended:
        return Conflict("revision_changed", {"run": run_id})
    return None


def _taken_over(facts: RestartFacts, before: Before) -> tuple[Event, ...]:
    """What finished before, as far as the new run's graph knows it (other sources may have been accepted since)."""
    nodes, mounts = facts.definition.nodes, facts.definition.mounts
    visits = [row for row in before.visits if row.path in nodes and nodes[row.path].kind == row.kind]
    return carried(visits, [row for row in before.mounts if row.path in mounts])
