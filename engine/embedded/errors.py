"""What the embedded engine itself refuses.

EngineError
└── WrongThread     a blocking call came from the loop that would have to answer it
"""

from runwright.engine.errors import EngineError


class WrongThread(EngineError):
    """A blocking call of `Engine` was made on the engine's own loop, which would wait for itself for ever."""

    code = "wrong_thread"

    def __init__(self) -> None:
        super().__init__(
            "An asynchronous function of a workflow called the engine that drives it.",
            "use `AsyncEngine`, or make the call in a plain function or in another thread",
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), ()
