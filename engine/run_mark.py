"""How what a run starts is known."""

from typing import Final

#: Every program that a run starts finds its run's ID under this name: what outlives a crash is known by it.
RUN_MARK: Final = "RUNWRIGHT_RUN_ID"
