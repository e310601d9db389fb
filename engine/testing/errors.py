"""What a test of a workflow is told when it does not fit the workflow."""


class TestingError(AssertionError):
    """A test and its workflow do not fit each other; every subclass says what to change."""

    __test__ = False


#: What stands in for a node of each kind is given as this argument; the others ask people.
_WHERE = {"agent": "agents", "choose": "agents", "assistant": "agents", "action": "effects", "shell": "effects"}


def _argument(path: str, kind: str) -> str:
    return f"{_WHERE.get(kind, 'decisions')}={{{path!r}: …}}"


class StandInMissing(TestingError):
    """The run reached a node for which the test gives nothing, or nothing more.

    Attributes:
        path: The node's full path.
    """

    def __init__(self, path: str, kind: str, said: str) -> None:
        self.path = path
        real = ', or "real" to let it happen' if _WHERE.get(kind) == "effects" else ""
        super().__init__(f"Node {path!r} ({kind}) {said}. Give {_argument(path, kind)} an answer for it{real}.")


class StandInWrong(TestingError):
    """What the test gives for a node does not fit the node.

    Attributes:
        path: The node's full path, or how the test named it.
    """

    def __init__(self, path: str, said: str) -> None:
        self.path = path
        super().__init__(said)

    @classmethod
    def of(cls, path: str, kind: str, problem: str, give: str) -> "StandInWrong":
        """Say it of a node that was reached.

        Args:
            path: Its full path.
            kind: Its kind.
            problem: What it cannot take, and why.
            give: What to give instead.
        """
        return cls(path, f"Node {path!r} ({kind}) cannot take {problem}. Give {_argument(path, kind)} {give}.")


class StandInUnused(TestingError):
    """The test gives something that the run never asked for."""

    def __init__(self, unused: list[str], ended: str) -> None:
        super().__init__(f"{' '.join(unused)} The run {ended}. Take out what is too much, or mend the workflow.")


class StandInUnknown(TestingError):
    """The test names something that the workflow has no node for."""

    def __init__(self, argument: str, name: str, problem: str) -> None:
        super().__init__(f"{argument} names {name!r}: {problem}")


class StandsStill(TestingError):
    """The run waits for something that will never come.

    Attributes:
        path: The full path of the node that it stands at; ``None`` where it stands at none.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        where = "" if path is None else f" at node {path!r}"
        super().__init__(
            f"The run stands still{where}: a function of the workflow, or a stand-in, waits for something that never "
            "comes, and no timeout bounds it. Let it return, or give the node a timeout."
        )


class CrashChanged(TestingError):
    """A run that crashed came to something else than one that did not.

    Attributes:
        boundary: The commit at which it crashed, from 1, and on which side of it.
    """

    def __init__(self, boundary: str, what: str, undisturbed: object, crashed: object) -> None:
        self.boundary = boundary
        super().__init__(
            f"With a crash {boundary}, the {what} came out as {crashed!r} instead of {undisturbed!r}. What a run comes "
            "to must follow from its input and its nodes' outputs, and not from how often a function was called."
        )


class EffectRepeated(TestingError):
    """An effect that must not happen twice did."""

    def __init__(self, boundary: str, path: str, visit: int, times: int) -> None:
        super().__init__(
            f"With a crash {boundary}, the effect of {path!r} (visit {visit}) happened {times} times. Let `observe=` "
            'find what the first one did, or declare recovery="idempotent" where a repeat does no harm.'
        )
