"""``runwright resume``: carry runs on."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click
from attrs import frozen

from runwright.cli.agent_specs import agent_option, build_agents
from runwright.cli.command import intent, takes_store
from runwright.cli.failures import Failure, failure_of
from runwright.cli.hosting import host_if_any
from runwright.cli.invocation import Invocation
from runwright.cli.opening import reading

if TYPE_CHECKING:
    from runwright.cli.driving import Driven
    from runwright.cli.handing import Handed
    from runwright.engine.client.client import Client
    from runwright.engine.embedded.async_engine import AsyncEngine
    from runwright.engine.reading.reader import Reader


@frozen(kw_only=True)
class _Sources:
    """What is to become of files that have changed.

    Attributes:
        accepted: Whether runs go on with them.
        changed: The runs that there is anything to accept for.
    """

    accepted: bool = False
    changed: frozenset[str] = frozenset()

    def resumes(self, status: Mapping[str, Any]) -> bool:
        """Whether a run is resumed: one that goes on when its time has come is only shown, and accepts first."""
        reason = status["reason"]
        parked = status["queue_state"] == "parked" and reason is not None and reason["code"] == "waiting"
        waits = parked and status["status"] == "waiting" and not status["requests"]
        return not waits or status["run_id"] in self.changed


class _Asked:
    """The runs that somebody named, each of which answers for itself; what a single one is refused is raised.

    Args:
        call: The invocation.
        run_ids: The runs.
    """

    def __init__(self, call: Invocation, run_ids: Sequence[str]) -> None:
        self._call = call
        self.run_ids = run_ids
        #: What those are told that cannot go on, by their places.
        self.refused: dict[int, Failure] = {}

    @property
    def carried_on(self) -> list[str]:
        """Those that go on."""
        return [each for place, each in enumerate(self.run_ids) if place not in self.refused]

    @contextmanager
    def one(self, run_id: str) -> Iterator[None]:
        """Carry on one of them."""
        try:
            yield
        except Exception as error:
            failure = failure_of(error, {"RUN": run_id})
            if failure is None or failure.code == "store_in_use" or len(self.run_ids) == 1:
                raise
            self.refused[self.run_ids.index(run_id)] = failure
            if not self._call.out.for_machines:
                self._call.out.fail(failure)

    def say_carried_on(self) -> None:
        """Say so at once: it may take long until there is more to tell."""
        if not self._call.out.for_machines:
            self._call.out.say(*(f"Carrying on {each}" for each in self.carried_on))


@intent("resume", example="runwright resume @last\nrunwright resume 7k2m3x --accept-source")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--accept-source", is_flag=True, help="Go on although the workflow's files have changed.")
@agent_option()
@click.option("--timeout", metavar="T", help="Show them no longer than this; exits 5.")
@click.option("--no-output", is_flag=True, help="Leave the output out.")
@takes_store
def command(
    call: Invocation,
    runs: Sequence[str],
    accept_source: bool,
    timeout: str | None,
    no_output: bool,
) -> int:
    """Carry runs on and show them until they end.

    Whether they are queued, paused, parked or were interrupted. No finished step runs twice. The host drives them;
    where none lives, this process does. Ctrl-C works as in `run`.
    """
    from runwright.cli.durations import parse_duration
    from runwright.cli.handing import Bound, Handed
    from runwright.cli.references import find_run
    from runwright.cli.results import report

    seconds = None if timeout is None else parse_duration(timeout, "--timeout")
    sources = _Sources()
    with reading(call) as store:
        run_ids = list(dict.fromkeys(find_run(call, store, text) for text in runs))
        if accept_source:
            call.printed.settle()
            sources = _Sources(accepted=True, changed=_show_changes(call, store, run_ids))
        rows = [store.query("runs", where=[f"run_id={each}"]).items[0] for each in run_ids]
        after = store.head().position
    handed, asked = [Handed.of(call, Bound.of([row])) for row in rows], _Asked(call, run_ids)
    with host_if_any(call, staying=True) as client:
        if client is not None:
            driven = _hosted(call, client, asked, dict(zip(run_ids, handed, strict=True)), after, sources, seconds)
        else:
            specs = {name: spec for each in handed for name, spec in each.agents.items()}
            driven = _inline(call, asked, specs, sources, seconds)
    return report(call, driven, with_output=not no_output, refused=asked.refused)


def _hosted(
    call: Invocation,
    client: "Client",
    asked: _Asked,
    runs: "Mapping[str, Handed]",
    after: int,
    sources: _Sources,
    seconds: float | None,
) -> "Driven":
    """Have the host carry them on, and show what came after a position: it goes on before the command looks."""
    from runwright.cli.carrying import heeded_interrupts, printed_by, show_hosted

    with heeded_interrupts() as interrupts:
        printed = printed_by(call, list(runs))
        for run_id, handed in runs.items():
            with asked.one(run_id):
                if sources.resumes(client.run_status(run_id)):
                    accept, agents, variables = sources.accepted, handed.agents, handed.pass_env
                    client.run_resume(run_id, accept_source=accept, agents=agents, pass_env=variables)
        asked.say_carried_on()
        return show_hosted(call, client, asked.carried_on, interrupts, timeout=seconds, after=after, printed=printed)


def _inline(
    call: Invocation, asked: _Asked, specs: dict[str, str], sources: _Sources, seconds: float | None
) -> "Driven":
    """Carry them on in this process, and show them."""
    from runwright.cli.driving import drive

    call.printed.settle()  # from here on user code is at work

    async def begin(engine: "AsyncEngine") -> Sequence[str]:
        for run_id in asked.run_ids:
            with asked.one(run_id):
                if sources.resumes(engine.reader.status(run_id).document()):
                    await engine.resume(run_id, accept_source=sources.accepted)
                else:
                    await engine.drive(run_id)
        asked.say_carried_on()
        return asked.carried_on

    return drive(call, build_agents(specs, call.asking), begin, timeout=seconds)


def _show_changes(call: Invocation, store: "Reader", run_ids: Sequence[str]) -> frozenset[str]:
    """Show what there is to accept; the runs that have anything."""
    from runwright.cli.definitions import source_changes

    changed = {run_id: source_changes(store, run_id) for run_id in run_ids}
    for lines in changed.values():
        call.out.say(*(f"  {line}" for line in lines))
    return frozenset(run_id for run_id, lines in changed.items() if lines)
