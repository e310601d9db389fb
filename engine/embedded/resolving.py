"""An operator's word about an ambiguous effect, checked against the node's type."""

import asyncio
from typing import Any, Literal, TypeAlias

from runwright.engine.authoring.conversion import NotConvertible, Shape, from_json, shape_of, to_json
from runwright.engine.authoring.shell import ShellResult
from runwright.engine.commands.client import ResolveEffect
from runwright.engine.embedded.programs import Programs
from runwright.engine.errors import ActivationFailed, InputInvalid
from runwright.eventstore.values import Json
from runwright.projections.control.effects import EffectRow
from runwright.projections.control.runs import RunRow

Resolution: TypeAlias = Literal["done", "not_done", "timed_out"]


class Resolving:
    """Makes commands of what operators say."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    async def command(
        self, effect_id: str, resolution: Resolution, *, result: object, reason: str
    ) -> tuple[RunRow, ResolveEffect]:
        """The command for a word about an effect, and its run.

        Raises:
            NotFound: There is no such effect.
            InputInvalid: The result does not fit the node's type.
            PreflightError: The workflow that knows the type cannot be loaded.
        """
        effect, run = self._programs.effect(effect_id)
        stored: Json = None
        output: Json = None
        if resolution == "done":
            stored, output = await self._result(effect, run, result)
        command = ResolveEffect(effect=effect_id, resolution=resolution, result=stored, output=output, reason=reason)
        return run, command

    async def _result(self, effect: EffectRow, run: RunRow, result: object) -> tuple[Json, Json]:
        node = (await self._programs.of(run)).program.nodes.get(effect.path)
        if node is None:
            return checked(result, shape_of(Any)), checked(result, shape_of(Any))
        declared = node.declaration
        if declared.kind != "shell":
            stored = checked(result, node.shape)
            return stored, stored
        shape = shape_of(ShellResult)
        stored = checked(ShellResult("") if result is None else result, shape)
        if declared.parse is None:
            return stored, stored
        try:
            value = await asyncio.to_thread(declared.parse, shape.load(stored))
        except Exception:  # noqa: BLE001 - the user's function may raise anything
            raise ActivationFailed(f"the parse function of {effect.path}") from None
        return stored, checked(value, node.shape)


def checked(result: object, shape: Shape) -> Json:
    """A result as JSON, of a value of the declared type or of JSON already.

    Raises:
        InputInvalid: It does not fit.
    """
    try:
        document = to_json(result, shape if shape.owns(result) else Any)
        from_json(document, shape)
    except NotConvertible as problem:
        raise InputInvalid(problem.path, problem.problem, "result") from None
    return document
