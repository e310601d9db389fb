"""The status of one run: the one shape that `status`, `run`, `wait` and the items of `runs` share (page 09)."""

from datetime import datetime

from attrs import field, frozen

from runwright.engine.reading.times import moment, moment_or_none
from runwright.eventstore.values import JsonObject
from runwright.projections.views.lines import NO_SPECS, Specs
from runwright.projections.views.status import Standing, controls, display_status, next_lines, status_document


@frozen(kw_only=True)
class Reason:
    """Why a run is parked, and since when."""

    code: str
    detail: str | None
    since: datetime


@frozen(kw_only=True)
class RunError:
    """Why a run ended badly: a stable code and a safe message."""

    code: str
    message: str


@frozen(kw_only=True)
class OpenRequest:
    """A question that the run waits on."""

    request_id: str
    kind: str
    node: str
    deadline: datetime | None


@frozen(kw_only=True)
class Steps:
    """Steps used, the chain's included, and the bound on them."""

    used: int
    max: int


@frozen(kw_only=True)
class EffectCounts:
    """How many of the run's effects nobody can tell the outcome of."""

    ambiguous: int


@frozen(kw_only=True)
class Presentation:
    """How far telling people about the end is; ``none`` while the run lives."""

    state: str
    since: datetime | None


@frozen(kw_only=True)
class Status:
    """One run's facts, as ``status RUN --json`` prints them.

    Attributes:
        status: The display status, one of the ten words of page 03.
        run_status: How far the run is.
        queue_state: What the scheduler may do with it.
        reason: Why it is parked, or ``None``.
        node: The full path of the node started last.
        controls: The commands that would do something now.
        next: The lines to type, the most useful first.
        revision: The version of the run's stream.
        position: The log's head that all of this was read at.
    """

    run_id: str
    workflow: str
    status: str
    run_status: str
    queue_state: str
    reason: Reason | None
    node: str | None
    visit: int | None
    attempt: int | None
    steps: Steps
    session: str | None
    parent_run_id: str | None
    root_run_id: str
    restart_number: int
    continued_by: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error: RunError | None
    requests: tuple[OpenRequest, ...]
    effects: EffectCounts
    presentation: Presentation
    controls: tuple[str, ...]
    next: tuple[str, ...]
    revision: int
    position: int

    _standing: Standing = field(eq=False, repr=False)
    _held: bool = field(eq=False, repr=False)
    _specs: Specs = field(eq=False, repr=False)

    @classmethod
    def of(cls, standing: Standing, *, held: bool, specs: Specs = NO_SPECS) -> "Status":
        """Show a run.

        Args:
            standing: Its facts, all of one moment.
            held: Whether a living process holds the store.
            specs: What is known of executors where the lines to type are read.
        """
        run = standing.run
        state, since = standing.presentation or ("none", None)
        allowed = controls(standing, held=held)
        reason = None
        if standing.reason is not None:
            reason = Reason(code=standing.reason, detail=standing.detail, since=moment(standing.since))
        return cls(
            run_id=run.run_id,
            workflow=run.workflow,
            status=display_status(standing, held=held),
            run_status=run.status,
            queue_state=standing.queue_state,
            reason=reason,
            node=run.node,
            visit=run.visit or None,
            attempt=run.attempt or None,
            steps=Steps(used=run.step_base + run.steps, max=run.max_steps),
            session=run.session,
            parent_run_id=run.parent,
            root_run_id=run.root,
            restart_number=run.restart_number,
            continued_by=run.continued_by,
            created_at=moment(run.created_at),
            started_at=moment_or_none(run.started_at),
            finished_at=moment_or_none(run.finished_at),
            error=None if run.code is None else RunError(code=run.code, message=run.message or ""),
            requests=tuple(
                OpenRequest(
                    request_id=each.request, kind=each.kind, node=each.path, deadline=moment_or_none(each.deadline)
                )
                for each in standing.requests
            ),
            effects=EffectCounts(ambiguous=len(standing.ambiguous)),
            presentation=Presentation(state=state, since=moment_or_none(since)),
            controls=allowed,
            next=tuple(next_lines(standing, allowed, held=held, specs=specs)),
            revision=standing.revision,
            position=standing.position,
            standing=standing,
            held=held,
            specs=specs,
        )

    @property
    def ended(self) -> bool:
        """Whether the run is over for good."""
        return self.finished_at is not None

    @property
    def driven(self) -> bool:
        """Whether a living process holds the store, and can carry the run on."""
        return self._held

    @property
    def turn_open(self) -> bool:
        """Whether a connected coordinator of its session has a turn of it open."""
        return self._standing.turn_open

    @property
    def continues(self) -> bool:
        """Whether it carries its parent on behind an answer, and is no restart of it."""
        return self._standing.run.kind == "continue"

    @property
    def began_at(self) -> str | None:
        """The node that a restart began at; ``None`` for the first one."""
        return self._standing.run.at

    @property
    def held_back(self) -> bool:
        """Whether it waits for its session to come to rest: nothing else lets it begin."""
        return self._standing.held_back

    @property
    def eligible(self) -> bool:
        """Whether it may be carried on now, whatever it was parked for."""
        return self._standing.eligible

    @property
    def resume_line(self) -> str:
        """The line that carries it on, also where another one comes first or it goes on by itself."""
        (line,) = next_lines(self._standing, ["resume"], held=self._held, specs=self._specs)
        return line

    @property
    def resting_until(self) -> datetime | None:
        """When the time is over that the run stands still for; ``None`` where it waits for none."""
        return moment_or_none(self._standing.due)

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The nodes whose manual effects are in application: without their process nobody knows what became of them."""
        return self._standing.uncertain

    def document(self) -> JsonObject:
        """The status as a JSON object: every field is there, ``null`` where there is nothing."""
        return status_document(self._standing, held=self._held, specs=self._specs)
