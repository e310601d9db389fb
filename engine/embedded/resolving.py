"""An operator's word about an ambiguous effect, checked against the node's type."""

from typing import Literal, TypeAlias

from runwright.engine.commands.client import ResolveEffect
from runwright.engine.embedded.code import Code, ResultGiven
from runwright.engine.embedded.programs import Programs, wanted_by
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RunRow

Resolution: TypeAlias = Literal["done", "not_done", "timed_out"]


class Resolving:
    """Makes commands of what operators say.

    Args:
        programs: The programs of saved runs.
        code: Who is asked about them.
    """

    def __init__(self, programs: Programs, code: Code) -> None:
        self._programs = programs
        self._code = code

    async def command(
        self, effect_id: str, resolution: Resolution, *, result: object, reason: str
    ) -> tuple[RunRow, ResolveEffect]:
        """The command for a word about an effect, and its run.

        Raises:
            NotFound: There is no such effect.
            InputInvalid: The result does not fit the node's type.
            Unloadable: The workflow that knows the type cannot be loaded.
        """
        effect, run = self._programs.effect(effect_id)
        stored: Json = None
        output: Json = None
        if resolution == "done":
            given = ResultGiven(wanted=wanted_by(run), path=effect.path)
            fits = await self._programs.had(run, self._code.result(given, result))
            stored, output = fits.stored, fits.output
        command = ResolveEffect(effect=effect_id, resolution=resolution, result=stored, output=output, reason=reason)
        return run, command
