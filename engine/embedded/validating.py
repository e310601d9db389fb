"""An agent node's own check of an answer that somebody gives in its executor's place."""

import asyncio
from pathlib import Path

from runwright.engine.embedded.catalog import Driven
from runwright.engine.embedded.holder import Holder
from runwright.engine.embedded.state import read_state
from runwright.engine.errors import ActivationFailed, InputInvalid
from runwright.engine.execution.calling import call
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import build_context
from runwright.engine.execution.failures import message_of
from runwright.engine.execution.places import Places
from runwright.engine.execution.port import RunState
from runwright.engine.execution.walk import ASIDE_LIMIT
from runwright.engine.reading.moment import moment_of
from runwright.eventstore.values import Json
from runwright.projections.control.runs import RunRow


async def validate_answer(holder: Holder, run: RunRow, driven: Driven, path: str, document: Json) -> None:
    """Ask the node's ``validate`` function, where it has one, with the context that its executor's answer has.

    Args:
        holder: The open store.
        run: The run, parked at the node.
        driven: Its program.
        path: The node.
        document: The answer as it is stored.

    Raises:
        InputInvalid: The function refuses it, for the reason that it gives.
        ActivationFailed: The function itself failed.
    """
    node = driven.program.nodes[path]
    validate = node.declaration.validate
    if validate is None:
        return
    scratch = holder.home.run_folder(run.run_id) / "scratch"
    state = await asyncio.to_thread(_read, holder, run, scratch)
    at = state.nodes[path]
    with OutputLog(scratch.with_name("output.log")) as log:
        context = build_context(
            driven.program,
            state,
            Places(driven.program.definition, state.nodes, state.mounts, steps=state.steps, max_steps=state.max_steps),
            path=path,
            visit=at.visits,
            attempt=at.attempt,
            deadline=at.deadline,
            log=log,
            report=_nowhere,
        )
        try:
            await call(run.run_id, ASIDE_LIMIT, validate, context, node.shape.load(document))
        except (ValueError, AssertionError) as error:
            raise InputInvalid("$", message_of(error) or type(error).__name__) from None
        except Exception:  # noqa: BLE001 (the user's function may raise anything)
            raise ActivationFailed(f"the validate function of {path}") from None


def _nowhere(_key: str, _update: Json) -> None:
    """The attempt waits for an answer: nobody is at work whose progress this would be."""


def _read(holder: Holder, run: RunRow, scratch: Path) -> RunState:
    with moment_of(holder.log) as moment:
        return read_state(run, moment.rows, moment.event, scratch)
