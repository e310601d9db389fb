"""What the process that holds the store asks on its own account."""

from typing import Literal, TypeAlias

from attrs import frozen

from runwright.eventstore.events.event import ProcessIdentity
from runwright.eventstore.values import Json


@frozen(kw_only=True)
class ClaimRun:
    """Claim an eligible run and record the launch of its worker, in one transaction.

    Value: the generation (`int`). Events: ``run.claimed``, ``worker.launched``.
    """

    run_id: str
    owner: str
    token_hash: str
    process: ProcessIdentity


@frozen(kw_only=True)
class RecordExit:
    """A worker's end was observed without its own report (a crash, or another holder's death).

    The decision table of page 05 ("Recovery and progress") says what becomes of effects and run. Value: what the
    run became, ``parked``, ``failed`` or ``queued``.

    Attributes:
        run_id: The run.
        worker: The worker epoch.
        outcome: ``crashed``: it vanished by itself. ``orphaned``: its holder was gone, or went. ``timed_out``: the
            host ended it, because it was silent or overran a limit. ``rejected``: the host ended it, because it broke
            the rules of its channel.
        detail: What it broke or overran, in words that hold no private value.
        end: ``unseen`` where it may live, out of reach in another container: then whatever it was applying is
            ambiguous.
    """

    run_id: str
    worker: str
    outcome: Literal["crashed", "orphaned", "timed_out", "rejected"]
    detail: str | None = None
    end: Literal["seen", "unseen"] = "seen"


@frozen(kw_only=True)
class GiveUpWorker:
    """A worker does not die: its run stops here, and waits until somebody has seen to that (``worker_unkillable``).

    Its end is recorded as any other once it is seen. Value: as for `RecordExit`.
    """

    run_id: str
    worker: str


@frozen(kw_only=True)
class FireTimer:
    """A timer fell due: finish what it waited for and make the run eligible."""

    run_id: str
    kind: str


@frozen(kw_only=True)
class TimeOutRun:
    """The run's own time limit passed: end it in any live state."""

    run_id: str


@frozen(kw_only=True)
class ParkIdleRun:
    """Park a run that nobody can drive (``environment_missing``, ``imported``, ``source_changed``)."""

    run_id: str
    reason: str
    detail: str | None = None


@frozen(kw_only=True)
class PresentRun:
    """Queue the one message that an ended run owes its session. Value: what became of its presentation.

    Attributes:
        run_id: The run.
        instructions: What its workflow wants told, worked out after the end; private.
    """

    run_id: str
    instructions: str | None = None


@frozen(kw_only=True)
class FailPresentation:
    """Record that an end could not be told of this time. Value: as for `PresentRun`."""

    run_id: str
    code: str
    reason: str


@frozen(kw_only=True)
class JudgeSubmission:
    """Settle a candidate that was checked. Value: ``accepted``, ``rejected``, or ``failed`` where that was the last.

    Attributes:
        run_id: The run.
        request: The request.
        submission: The candidate.
        output: The node's output that it comes to, where it is accepted.
        refusal: ``None`` accepts it; else the reason, exact enough for a model to correct it.
        code: The refusal's code: ``output_invalid``, ``validation_failed``, ``worker_crashed`` where nobody could
            finish the check, or why the workflow was not there to be asked.
    """

    run_id: str
    request: str
    submission: str
    output: Json = None
    refusal: str | None = None
    code: str | None = None


HostCommand: TypeAlias = (
    ClaimRun
    | RecordExit
    | GiveUpWorker
    | FireTimer
    | TimeOutRun
    | ParkIdleRun
    | PresentRun
    | FailPresentation
    | JudgeSubmission
)
