"""Exit codes that tell how a run stands."""

from collections.abc import Iterable

from runwright.cli.failures import ENDED_BADLY, NOT_FINISHED, OK

#: Ends for which `run`, `wait` and a driving `resume` exit 1.
_BAD = frozenset({"failed", "timed_out", "cancelled"})


def code_of_status(run_status: str) -> int:
    """The exit code of a run status: 0 completed, 1 ended badly, 5 not finished."""
    if run_status == "completed":
        return OK
    return ENDED_BADLY if run_status in _BAD else NOT_FINISHED


def worst(codes: Iterable[int]) -> int:
    """The exit code of several: the highest of the single ones."""
    return max(codes, default=OK)
