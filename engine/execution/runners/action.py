"""The runner of action nodes: a function of the user's that changes the world."""

from runwright.engine.authoring.conversion import Shape, shape_of
from runwright.engine.authoring.outputs import return_type
from runwright.engine.execution.effects import perform
from runwright.engine.execution.failures import stored
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk
from runwright.eventstore.values import Json


async def run_action(walk: Walk, visit: Visit) -> Ended | Parked:
    """Apply the action under its contract."""
    return await perform(walk, visit, _Action(walk, visit))


class _Action:
    def __init__(self, walk: Walk, visit: Visit) -> None:
        self._walk = walk
        self._visit = visit
        self._declared = visit.declaration

    async def request(self) -> Json:
        if self._declared.request is None:
            return None
        value = await self._walk.call(self._visit, self._declared.request, self._visit.context)
        return stored(self._request_shape, value, "request")

    async def restate(self, saved: Json) -> Json:
        return saved

    async def apply(self, request: Json) -> Json:
        function = self._declared.function
        assert function is not None
        arguments = () if self._declared.request is None else (self._asked(request),)
        value = await self._walk.call(self._visit, function, self._visit.context, *arguments)
        return stored(self._visit.node.shape, value)

    async def observe(self, request: Json) -> object:
        observe = self._declared.observe
        assert observe is not None
        return await self._walk.call_within(
            self._visit, ASIDE_LIMIT, observe, self._visit.context, self._asked(request)
        )

    def present(self, result: object) -> Json:
        return stored(self._visit.node.shape, result)

    async def output(self, result: Json) -> Json:
        return result

    def _asked(self, request: Json) -> object:
        """The request as its function wrote it, rebuilt from what was saved."""
        try:
            return self._request_shape.load(request)
        except Exception as error:  # noqa: BLE001 (a class of the user's own runs its code here)
            raise self._walk.failed(self._visit, error) from None

    @property
    def _request_shape(self) -> Shape:
        return shape_of(return_type(self._declared.request) if self._declared.request else None)
