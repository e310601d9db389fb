"""Every control projection, in the order in which their tables are laid out and written."""

from typing import Any

from runwright.projections.control.definitions import DEFINITIONS
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.hosts import HOSTS
from runwright.projections.control.messages import MESSAGES
from runwright.projections.control.mounts import MOUNTS
from runwright.projections.control.processes import PROCESSES
from runwright.projections.control.queue import QUEUE
from runwright.projections.control.receipts import RECEIPTS
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.control.sessions import SESSIONS
from runwright.projections.control.terminal import TERMINAL
from runwright.projections.control.timers import TIMERS
from runwright.projections.control.turns import TURNS
from runwright.projections.control.visits import VISITS
from runwright.projections.control.workers import WORKERS
from runwright.projections.projection import Projection

CONTROL: tuple[Projection[Any], ...] = (
    RUNS,
    QUEUE,
    RESERVATIONS,
    SESSIONS,
    VISITS,
    MOUNTS,
    EFFECTS,
    REQUESTS,
    MESSAGES,
    TURNS,
    TIMERS,
    WORKERS,
    PROCESSES,
    RECEIPTS,
    TERMINAL,
    DEFINITIONS,
    HOSTS,
)
