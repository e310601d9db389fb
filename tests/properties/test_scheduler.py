"""Whatever comes in whatever order: no more than the capacity, no idle place, and no project starves another."""

import asyncio

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.engine.embedded.scheduler import Scheduler


@frozen
class Submit:
    """A run becomes eligible."""

    project: str


@frozen
class End:
    """The task of one that runs ends by itself."""

    which: int


@frozen
class Cancel:
    """A run is ended by a command, wherever it is."""

    which: int


ACTIONS = st.lists(
    st.one_of(
        st.builds(Submit, st.sampled_from("abc")),
        st.builds(End, st.integers(0, 30)),
        st.builds(Cancel, st.integers(0, 30)),
    ),
    min_size=15,
    max_size=60,
)


class World:
    """A scheduler whose runs end when they are told to, and what was seen of it."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.scheduler = Scheduler(capacity=capacity, drive=self.drive, after=lambda _: None)
        self.gates: dict[str, asyncio.Event] = {}
        #: The runs that wait, by project, in the order in which they became eligible.
        self.waiting: dict[str, list[str]] = {}
        #: Which others took a place since a project began to wait, or since its own last turn.
        self.passed: dict[str, set[str]] = {project: set() for project in "abc"}
        #: What a task found wrong, which nobody would hear if it raised it.
        self.unfair: list[str] = []
        self.number = 0

    async def drive(self, run_id: str) -> None:
        """Take the run's place, and hold it until its gate opens."""
        project = run_id[0]
        if self.waiting[project].pop(0) != run_id:
            self.unfair.append(f"{run_id} is not the oldest of its project")
        self.turn(project)
        gate = self.gates[run_id] = asyncio.Event()
        try:
            await gate.wait()
        finally:
            del self.gates[run_id]

    def turn(self, project: str) -> None:
        """A project takes a place: no other project that waits all the while lets it pass twice."""
        for other, passed in self.passed.items():
            if other == project or not self.waiting.get(other):
                passed.clear()
                continue
            if project in passed:
                self.unfair.append(f"{project} went twice while {other} waited")
            passed.add(project)

    async def do(self, action: Submit | End | Cancel) -> None:
        """Let one thing happen, and look at what follows from it."""
        match action:
            case Submit(project):
                self.number += 1
                run_id = f"{project}{self.number}"
                self.waiting.setdefault(project, []).append(run_id)
                self.scheduler.submit(run_id, self.number, project)
            case End(which) if self.gates:
                self.gates[sorted(self.gates)[which % len(self.gates)]].set()
            case Cancel(which) if known := sorted(
                [*self.gates, *(each for row in self.waiting.values() for each in row)]
            ):
                run_id = known[which % len(known)]
                if run_id in (row := self.waiting.get(run_id[0], [])):
                    row.remove(run_id)
                if not row:
                    self.passed[run_id[0]].clear()
                self.scheduler.interrupt(run_id)
            case _:
                pass
        for _ in range(6):
            await asyncio.sleep(0)
        assert not self.unfair
        waiting = sum(len(each) for each in self.waiting.values())
        assert len(self.scheduler._tasks) == len(self.gates) <= self.capacity
        assert self.scheduler.waiting == waiting
        assert not waiting or len(self.gates) == self.capacity, "no place is free while a run waits"


@settings(max_examples=150, deadline=None)
@given(capacity=st.integers(1, 3), actions=ACTIONS)
def test_no_project_starves_another(capacity: int, actions: list[Submit | End | Cancel]) -> None:
    """Oldest first within a project, round the projects, within the capacity; a cancelled run frees its place."""

    async def play() -> None:
        world = World(capacity)
        for action in actions:
            await world.do(action)
        world.scheduler.stop()
        await world.scheduler.drain(0)

    asyncio.run(play())
