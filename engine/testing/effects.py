"""Effects that a test stands in for: nothing happens, and what would have happened is kept for after a crash."""

import asyncio
from collections.abc import Callable
from typing import Final, cast

from runwright.engine.authoring.conversion import PLAIN, NotConvertible, shape_of
from runwright.engine.authoring.observations import Absent, Present
from runwright.engine.authoring.outputs import return_type
from runwright.engine.authoring.shell import ShellResult
from runwright.engine.execution.commands import from_request
from runwright.engine.execution.effects import Effect
from runwright.engine.execution.failures import NodeFailure
from runwright.engine.execution.runners.shell import bad_end
from runwright.engine.execution.visit import Visit
from runwright.engine.execution.walk import Walk
from runwright.engine.testing.faults import Faults
from runwright.engine.testing.functions import called
from runwright.engine.testing.scripts import NoMore, Script
from runwright.engine.testing.virtual_time import VirtualLoop
from runwright.eventstore.values import Json

#: What a stand-in that does not fit should have been.
_RESULT: Final = "a result of its own type, or JSON of it"


class World:
    """What the effects of a test's run did, whatever the log says.

    Args:
        find: The stand-in of a path.
        faults: Told of what does not fit.
    """

    def __init__(self, find: Callable[[str], Script | None], faults: Faults) -> None:
        self._find = find
        self._faults = faults
        #: The stored result of each effect that happened, by run, path and visit, and how often it did.
        self.results: dict[tuple[str, str, int], Json] = {}
        self.happened: dict[tuple[str, str, int], int] = {}

    def stand_in(self, walk: Walk, visit: Visit, effect: Effect) -> Effect:
        """What takes an effect's place."""
        return _StandIn(self, walk, visit, effect)

    async def apply(self, walk: Walk, visit: Visit, effect: Effect, request: Json) -> Json:
        """Let an effect happen, or what stands in for it."""
        script = self._find(visit.path)
        if script is None:
            await self._faults.missing(visit.path, "is about to have its effect, and nothing stands in for it")
        script.asked += 1
        if script.real:
            loop = cast(VirtualLoop, asyncio.get_running_loop())
            with loop.real():
                result = await effect.apply(request)
        else:
            value = await self._value(script, walk, visit, request)
            try:
                result = _fitted(visit, effect, value)
            except NodeFailure as failure:
                await self._faults.wrong(visit.path, f"what stands in for it: {failure.failure.error}", _RESULT)
            if visit.spec.kind == "shell":
                _check_exit(cast(dict[str, Json], result), request)
        key = (walk.state.run_id, visit.path, visit.number)
        self.results[key] = result
        self.happened[key] = self.happened.get(key, 0) + 1
        return result

    async def observe(self, walk: Walk, visit: Visit, effect: Effect, request: Json) -> object:
        """Look whether an effect happened: reality is asked, and a stand-in knows."""
        script = self._find(visit.path)
        if script is not None and script.real:
            return await effect.observe(request)
        key = (walk.state.run_id, visit.path, visit.number)
        return Present(_Stored(self.results[key])) if key in self.results else Absent()

    async def _value(self, script: Script, walk: Walk, visit: Visit, request: Json) -> object:
        if script.function is not None:
            arguments = (visit.context, *_arguments(visit, request))

            async def standing_in() -> object:
                return await called(script, self._faults, visit.path, walk.state.run_id, *arguments)

            return await walk.call(visit, standing_in)
        try:
            value = script.answer((walk.state.run_id, visit.path, visit.number, visit.attempt))
        except NoMore:
            await self._faults.missing(visit.path, script.spent())
        if isinstance(value, BaseException):
            return await walk.call(visit, _raising(value))
        return value


class _Stored:
    """A result as it is stored already."""

    def __init__(self, value: Json) -> None:
        self.value = value


class _StandIn:
    """An effect whose request and output are worked out as ever; only what it does is stood in for."""

    def __init__(self, world: World, walk: Walk, visit: Visit, effect: Effect) -> None:
        self._world = world
        self._walk = walk
        self._visit = visit
        self._effect = effect

    async def request(self) -> Json:
        return await self._effect.request()

    async def restate(self, saved: Json) -> Json:
        return await self._effect.restate(saved)

    async def apply(self, request: Json) -> Json:
        return await self._world.apply(self._walk, self._visit, self._effect, request)

    async def observe(self, request: Json) -> object:
        return await self._world.observe(self._walk, self._visit, self._effect, request)

    def present(self, result: object) -> Json:
        return result.value if isinstance(result, _Stored) else self._effect.present(result)

    async def output(self, result: Json) -> Json:
        return await self._effect.output(result)


def _arguments(visit: Visit, request: Json) -> tuple[object, ...]:
    """What a function that stands in gets after the context: what the effect itself would have got."""
    if visit.spec.kind == "shell":
        return (from_request(request),)
    if visit.declaration.request is None:
        return ()
    return (shape_of(return_type(visit.declaration.request)).load(request),)


def _fitted(visit: Visit, effect: Effect, value: object) -> Json:
    """A result as it is stored: given as the node's own type, as JSON of it, or as text for a program's stdout."""
    if visit.spec.kind == "shell" and isinstance(value, str):
        value = ShellResult(value)
    try:
        return effect.present(value)
    except NodeFailure as failure:
        shape = shape_of(ShellResult) if visit.spec.kind == "shell" else visit.node.shape
        try:
            built = shape.load(PLAIN.dump(value))
        except NotConvertible:
            raise failure from None
        return effect.present(built)


def _check_exit(result: dict[str, Json], request: Json) -> None:
    """What a program's exit code means does not depend on whether there was a program."""
    code = result["exit_code"]
    if isinstance(code, int) and (code < 0 or (from_request(request).check and code != 0)):
        raise NodeFailure(bad_end(code, str(result["stderr"])))


def _raising(error: BaseException) -> Callable[[], object]:
    def raises() -> object:
        raise error

    return raises
