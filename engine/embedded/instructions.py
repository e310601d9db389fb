"""Asking a workflow's presentation function what is to be told of a completed run."""

import os
from typing import Final

from runwright.engine.embedded.catalog import Driven
from runwright.engine.embedded.code import Ended, Instructions, NotPrepared, Presented
from runwright.engine.execution.calling import OutOfTime, call
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import InputUnfit, build_context
from runwright.engine.execution.failures import describe, trace
from runwright.engine.execution.places import Places
from runwright.engine.safe import handed_on
from runwright.eventstore.values import Json

#: Seconds that a workflow's presentation function may take.
LIMIT: Final = 30.0


async def ask_for_instructions(driven: Driven, ended: Ended) -> Presented:
    """Call the function within its limit; whatever it does, the answer says what came of it.

    What it raises goes to the run's own output log, and nowhere else.
    """
    state, present = ended.state, driven.program.present
    if present is None or not driven.carries(ended.wanted):
        return NotPrepared(code="source_changed", reason="The workflow is not the one that the run was started with.")
    state.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    secrets = handed_on(ended.wanted.pass_env, os.environ)
    with OutputLog(state.scratch.with_name("output.log"), secrets=secrets) as log:
        places = Places(
            driven.program.definition, state.nodes, state.mounts, steps=state.steps, max_steps=state.max_steps
        )
        try:
            context = build_context(
                driven.program, state, places, path="", visit=1, attempt=1, deadline=None, log=log, report=_ignored
            )
            text = await call(state.run_id, LIMIT, present, context, ended.output)
        except InputUnfit as unfit:
            log.line("presentation", trace(unfit.__cause__ or unfit))
            return NotPrepared(code="input_invalid", reason=unfit.message)
        except OutOfTime:
            reason = f"The presentation function took over {LIMIT:.0f} seconds."
            return NotPrepared(code="function_timed_out", reason=reason)
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything
            log.line("presentation", describe(error))
            reason = f"The presentation function raised {type(error).__name__}."
            return NotPrepared(code="function_failed", reason=reason)
    if text is not None and not isinstance(text, str):
        reason = f"The presentation function returned {type(text).__name__}, no text."
        return NotPrepared(code="output_invalid", reason=reason)
    return Instructions(text=text or None)


def _ignored(key: str, update: Json) -> None:
    """Progress after the end is nobody's."""
    del key, update
