"""The words that a run's display status is one of; whoever needs only them imports nothing else."""

from typing import Final

#: Every display status, those of a live run first.
STATUSES: Final = (
    "queued",
    "running",
    "waiting",
    "paused",
    "completed",
    "continued",
    "failed",
    "timed_out",
    "cancelled",
    "ambiguous",
)
