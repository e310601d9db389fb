"""Times that a run has no time for: it ends by its own limit before they are up."""

from collections.abc import Iterable, Iterator
from typing import Any

from runwright.engine.authoring.declaration import DEFAULT_TIMEOUT, Declaration
from runwright.engine.authoring.errors import DefinitionError
from runwright.engine.authoring.limits import limit_us
from runwright.engine.authoring.workflow import Workflow
from runwright.engine.graph.problem import problem


def check_times(root: Workflow[Any], workflows: Iterable[Workflow[Any]]) -> Iterator[DefinitionError]:
    """Deadlines, waits and timeouts that were declared and are never reached.

    Args:
        root: The workflow whose own timeout holds, for what it mounts as well.
        workflows: It and all that it mounts.
    """
    limit = _fixed_us(root.timeout)
    if limit is None:
        return
    for workflow in workflows:
        for node in workflow.nodes:
            for what, value in _declared(node.declaration):
                time = _fixed_us(value)
                if time is not None and time >= limit:
                    yield problem(
                        node.origin,
                        "time_beyond_run",
                        f"The {what} of {node.name!r} is {_words(time)}, and the timeout of {root.name!r} "
                        f"({_words(limit)}) ends the run before that.",
                        "Shorten it, or give the workflow more time: a run's own timeout counts while it waits, too.",
                        "warning",
                    )


def _declared(declared: Declaration) -> Iterator[tuple[str, object]]:
    yield "deadline", declared.deadline
    yield "time", declared.after
    if declared.timeout is not DEFAULT_TIMEOUT:  # which nobody chose for this node
        yield "timeout", declared.timeout


def _fixed_us(value: object) -> int | None:
    """A time in microseconds; ``None`` where there is none, it is worked out later, or it is wrong by itself."""
    try:
        return limit_us(value)
    except ValueError:
        return None


def _words(us: int) -> str:
    """A time in the largest unit that it is a whole number of."""
    for unit, name in ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min")):
        if us % unit == 0:
            return f"{us // unit} {name}"
    return f"{us / 1_000_000:g} s"
