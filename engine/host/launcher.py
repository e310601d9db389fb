"""Launching runs in workers of their own: a claim, an envelope, supervision, and an end that was seen."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from runwright.engine.commands.client import QueueRun
from runwright.engine.commands.worker import Authority
from runwright.engine.decisions.run_command import check_command
from runwright.engine.embedded.code import ProgramFacts
from runwright.engine.embedded.folders import make_folders
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.launcher import Provisions, waited_for
from runwright.engine.embedded.state import fresh_state, read_launch, read_state
from runwright.engine.errors import NotFound, PreflightError
from runwright.engine.execution.bridge import LoopBridge
from runwright.engine.execution.port import RunState
from runwright.engine.host.claiming import claim, say
from runwright.engine.host.endings import Endings
from runwright.engine.host.errors import EnvironmentMissing
from runwright.engine.host.launching import Needs, Plan, folder_of
from runwright.engine.host.limits import (
    BEATS,
    RECORD_PAUSE,
    RENEWALS,
    SPAWN_PAUSE,
)
from runwright.engine.host.provisioning import Provisioning
from runwright.engine.host.refusing import ended, refuse
from runwright.engine.host.spawning import Child, Children
from runwright.engine.host.supervision import Supervision, Verdict
from runwright.engine.host.unusable import NoProcess
from runwright.engine.reading.moment import moment_of
from runwright.engine.tasks import own_task
from runwright.projections.control.runs import RunRow

_log = logging.getLogger("runwright.host")

T = TypeVar("T")

#: References that only the program which handed the workflow in can resolve.
_HANDED_IN = "object:"


class WorkerLauncher:
    """Carries runs out in workers; a `Launcher`.

    Args:
        holder: The open store.
        children: Where workers come from.
        provisioning: What was handed over for runs.
        user: The user's configuration folder.
        trouble: Told the code of what goes wrong.
    """

    def __init__(
        self,
        holder: Holder,
        children: Children,
        provisioning: Provisioning,
        *,
        user: Path | None,
        trouble: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._holder = holder
        self._bridge = LoopBridge(asyncio.get_running_loop())
        self._children = children
        self._provisioning = provisioning
        self._user = user
        self._trouble = trouble
        self._taken: set[str] = set()
        self._missed: set[str] = set()
        self._working: dict[str, Supervision] = {}
        self._beating: asyncio.Task[None] | None = None
        self._stopping = False
        self._endings = Endings(holder, self._bridge, stopping=lambda: self._stopping, trouble=trouble)

    # --- what is taken ------------------------------------------------------------------------------------------

    def provide(self, run_id: str, provisions: Provisions) -> None:
        """As `Launcher.provide`."""
        self._provisioning.keep(run_id, provisions)
        self._missed.discard(run_id)

    def hand_on(self, run_id: str, to: str) -> None:
        """As `Launcher.hand_on`."""
        self._provisioning.keep(to, self._provisioning.handed(run_id))

    def agents(self, run_id: str) -> Mapping[str, str]:
        """As `Launcher.agents`."""
        try:
            with moment_of(self._holder.log) as moment:
                run = moment.run(run_id)
        except NotFound:
            return self._provisioning.kinds(run_id, None)  # it is only being started
        return self._provisioning.kinds(run_id, folder_of(run.project), Needs.of_saved(run).people)

    def take(self, run_id: str, program: ProgramFacts) -> None:
        """As `Launcher.take`; its worker loads the program anew, and holds it against what the run has saved."""
        del program
        self._taken.add(run_id)

    def taken(self, run_id: str) -> bool:
        """As `Launcher.taken`."""
        return run_id in self._taken

    def takes(self, run: RunRow) -> bool:
        """As `Launcher.takes`; every run is taken but those of objects that a program has handed in.

        Raises:
            EnvironmentMissing: What was handed over for it in memory is not here.
        """
        if run.run_id not in self._taken and run.reference.startswith(_HANDED_IN):
            return False
        try:
            self._provisioning.of(run.run_id, Needs.of_saved(run), folder_of(run.project))
        except EnvironmentMissing as error:
            if not waited_for(run):
                self._miss(run, error)
                raise
        self._taken.add(run.run_id)
        return True

    def _miss(self, run: RunRow, error: EnvironmentMissing) -> None:
        """Say once that a run keeps its place until somebody hands over what it lacks: its rows do not show it."""
        if run.started_at is None and run.run_id not in self._missed:
            self._missed.add(run.run_id)
            _log.warning("run %s was not launched: %s", run.run_id, error.message)
            self._trouble(error.code)

    def forget(self, run_id: str) -> None:
        """As `Launcher.forget`."""
        self._taken.discard(run_id)
        self._missed.discard(run_id)
        self._provisioning.forget(run_id)

    def stop(self) -> None:
        """As `Launcher.stop`."""
        self._stopping = True
        for each in self._working.values():
            each.stop()

    @property
    def working(self) -> int:
        """How many workers there are now."""
        return len(self._working)

    @property
    def launching(self) -> int:
        """How many of them have not said yet that they are ready."""
        return sum(not each.ready for each in self._working.values())

    # --- a launch -----------------------------------------------------------------------------------------------

    async def launch(self, run_id: str, queued: QueueRun | None) -> str | None:
        """As `Launcher.launch`."""
        try:
            return await self._launched(run_id, queued)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run stays where it is and is launched again
            code = getattr(error, "code", type(error).__name__)
            _log.warning("run %s was not launched: %s", run_id, code)
            _log.debug("run %s", run_id, exc_info=True)
            self._trouble(code)
        # Not at once: what stood in the way a moment ago does so still.
        await asyncio.sleep(RECORD_PAUSE)
        return None

    async def _launched(self, run_id: str, queued: QueueRun | None) -> str | None:
        if self._stopping:
            return None
        if await self._endings.blocked(run_id):
            return None
        plan = await asyncio.to_thread(self._plan, run_id) if queued is None else Plan.of_queued(queued)
        try:
            provisions = self._provisioning.of(run_id, plan.needs, plan.project)
            child = await self._spawn(plan.interpreter)
        except PreflightError as error:
            await refuse(self._holder, self._bridge, plan, error)
            return None
        return None if child is None else await self._carry(child, plan, queued, provisions)

    async def _spawn(self, interpreter: str | None) -> Child | None:
        """Have a child, as soon as the system gives one; ``None`` where this host stops meanwhile."""
        while not self._stopping:
            try:
                return await self._children.spawn(interpreter)
            except NoProcess:
                _log.warning("the system gives no process for a worker now")
            await asyncio.sleep(SPAWN_PAUSE)
        return None

    def _plan(self, run_id: str) -> Plan:
        with moment_of(self._holder.log) as moment:
            run = moment.run(run_id)
        return Plan.of_saved(run, self._holder.reader.sources(run.sources))

    async def _carry(self, child: Child, plan: Plan, queued: QueueRun | None, provisions: Provisions) -> str | None:
        """Claim the run for a child and serve that until its end was seen, whoever asks for this end."""
        claiming = own_task(claim(self._holder, self._bridge, plan.run_id, child.identity))
        # On a disk that is being synced this takes as long as a commit, so it is done beside that of the claim.
        folders = own_task(asyncio.to_thread(self._make_folders, plan.run_id))
        supervision = None
        verdict = Verdict("orphaned")
        try:
            # Not given up with the task: a claim that is committed has to be given back.
            authority = await asyncio.shield(claiming)
            if authority is not None:
                state = await self._state(plan, queued, authority, await folders)
                if isinstance(state, RunState):
                    supervision = Supervision(self._holder, self._bridge, child, authority, state)
                    verdict = await self._supervised(supervision, plan, authority, provisions)
                else:
                    verdict = state
        except Exception as error:  # noqa: BLE001 - whatever it is, the worker is put away and the host lives on
            _log.warning("run %s was stopped: %s", plan.run_id, getattr(error, "code", type(error).__name__))
            _log.debug("run %s", plan.run_id, exc_info=True)
        except asyncio.CancelledError:
            # Either the host stops and this worker took too long, or its run was ended by a command.
            verdict = Verdict("orphaned" if self._stopping else "claim_lost")
        return await _to_its_end(self._endings.put_away(child, claiming, supervision, verdict))

    def _make_folders(self, run_id: str) -> str | None:
        folder = self._holder.home.run_folder(run_id)
        return make_folders(folder.parent, folder, folder / "scratch")

    async def _state(
        self, plan: Plan, queued: QueueRun | None, authority: Authority, lacking: str | None
    ) -> RunState | Verdict:
        """The run as it is saved, with a command that fits it; or why it goes no further: a folder is lacking."""
        scratch = self._holder.home.run_folder(plan.run_id) / "scratch"
        if lacking is not None:
            words = ended(began=plan.began, code="activation_failed", message=lacking)
            said = await say(self._holder, self._bridge, authority, words)
            return Verdict("crashed" if said is None else None)
        if queued is not None:
            return fresh_state(queued, scratch)
        return await asyncio.to_thread(self._read, plan.run_id, scratch)

    def _read(self, run_id: str, scratch: Path) -> RunState | Verdict:
        with moment_of(self._holder.log) as moment:
            run = moment.run(run_id)
            state = read_state(run, moment.rows, moment.event, scratch)
            refusal = check_command(state.command, read_launch(run, moment.rows))
        if refusal is None:
            return state
        return Verdict("crashed", f"its command was refused ({refusal.evidence['rule']})")

    async def _supervised(
        self, supervision: Supervision, plan: Plan, authority: Authority, provisions: Provisions
    ) -> Verdict:
        envelope = plan.envelope(
            authority,
            folder=self._holder.home.run_folder(plan.run_id),
            user=self._user,
            agents=provisions.agents,
            environment=provisions.env,
            renewal=self._holder.transitions.leases.seconds / RENEWALS,
        )
        self._working[plan.run_id] = supervision
        if self._beating is None:
            self._beating = own_task(self._beat(), name="beat")
        try:
            if self._stopping:
                supervision.stop()
            return await supervision.carry(envelope)
        finally:
            del self._working[plan.run_id]

    async def _beat(self) -> None:
        """Say that this process is awake while it has workers to listen to."""
        leases = self._holder.transitions.leases
        while self._working:
            leases.beat()
            await asyncio.sleep(leases.seconds / BEATS)
        leases.rest()
        self._beating = None


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Have something done, however often whoever waits for it is told to give up."""
    task = own_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            continue
    return task.result()
