"""Why there is no host: what it said when it could not serve."""

from runwright.engine.errors import EngineError
from runwright.engine.host.readiness import NotReady


class HostUnstarted(EngineError):
    """A host that was started does not serve; code, sentence and next step are its own."""

    code = "host_unavailable"

    def __init__(self, told: NotReady) -> None:
        super().__init__(told.message, told.hint)
        self.code = told.code
        self._told = told

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._told,)
