"""The worker's last words, and bad outcomes on their way out of a run."""

from typing import Literal, TypeAlias

from attrs import frozen

from runwright.engine.commands.worker import FailRun, Phase, WorkerTransition
from runwright.engine.execution.failures import BadOutcome, Failure
from runwright.engine.execution.port import MountState, NodeState
from runwright.engine.safe import cut

WorkerEnd: TypeAlias = Literal["finished", "parked", "failed", "claim_lost"]

_MAX_SAFE_MESSAGE = 1024


@frozen
class End:
    """The worker's last words; what they say is committed together. ``phase`` is where it was when it failed."""

    last: WorkerTransition
    outcome: WorkerEnd
    code: str | None = None
    phase: Phase = "execute"


@frozen(kw_only=True)
class Bad:
    """What ended badly and is not caught yet: it leaves the mounts around it, and at last the run.

    Attributes:
        outcome: How it ended.
        code: The stable code.
        message: The safe sentence.
        error: The private text.
    """

    outcome: BadOutcome
    code: str
    message: str
    error: str | None = None

    def end(self) -> End:
        """The end of a run that nothing caught it in."""
        fail = FailRun(outcome=self.outcome, code=self.code, phase="execute", message=self.message, error=self.error)
        return End(fail, "finished")


def bad_node(node: NodeState) -> Bad | None:
    """A node that ended badly, all its attempts used."""
    if node.outcome not in ("failed", "timed_out"):
        return None
    outcome: BadOutcome = "failed" if node.outcome == "failed" else "timed_out"
    code = node.code or ("node_timed_out" if outcome == "timed_out" else "node_failed")
    message = f"Node {node.path!r} {_what(outcome)} (visit {node.visits}, attempt {node.attempt})."
    return Bad(outcome=outcome, code=code, message=message, error=node.error)


def bad_input(mount: MountState, failure: Failure) -> Bad:
    """A mount whose input could not be worked out, or did not fit."""
    how = f"({failure.code}, invocation {mount.invocation})"
    message = f"The input of mount {mount.path!r} {_what(failure.outcome)} {how}."
    return Bad(outcome=failure.outcome, code=failure.code, message=message, error=failure.error)


def no_steps(mount: MountState, most: int) -> Bad:
    """A mounted child that used all its steps."""
    message = (
        f"Mount {mount.path!r} used all of its {most} steps (invocation {mount.invocation}). "
        f"Raise max_steps of the child, or mend its loop."
    )
    return Bad(outcome="failed", code="max_steps_exceeded", message=message, error=message)


def bad_mount(mount: MountState, last: NodeState | None, most: int) -> Bad | None:
    """A mount that an earlier worker left badly, as that worker would have said it.

    Args:
        mount: The mount.
        last: The node that finished last; where it is what left the mount, it has the word.
        most: The mount's own bound on steps.
    """
    if mount.outcome not in ("failed", "timed_out"):
        return None
    if last is not None and last.path.startswith(f"{mount.path}/") and (bad := bad_node(last)) is not None:
        return bad
    if mount.code == "max_steps_exceeded":
        return no_steps(mount, most)
    outcome: BadOutcome = "failed" if mount.outcome == "failed" else "timed_out"
    return bad_input(mount, Failure(outcome=outcome, code=mount.code or "node_failed", error=mount.error or ""))


def fail_run(code: str, message: str) -> FailRun:
    """The failure of a run that no node is to blame for."""
    return FailRun(outcome="failed", code=code, phase="execute", message=cut(message, _MAX_SAFE_MESSAGE))


def _what(outcome: BadOutcome) -> str:
    return "ran out of time" if outcome == "timed_out" else "failed"
