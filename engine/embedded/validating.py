"""An agent node's own check of an answer that somebody gives in its executor's place."""

from runwright.engine.embedded.catalog import Driven
from runwright.engine.errors import ActivationFailed, AnswerRefused
from runwright.engine.execution.calling import call
from runwright.engine.execution.capture import OutputLog
from runwright.engine.execution.contexts import build_context
from runwright.engine.execution.failures import message_of
from runwright.engine.execution.places import Places
from runwright.engine.execution.port import RunState
from runwright.engine.execution.walk import ASIDE_LIMIT
from runwright.eventstore.values import Json


async def validate_answer(driven: Driven, state: RunState, path: str, document: Json) -> None:
    """Ask the node's ``validate`` function, where it has one, with the context that its executor's answer has.

    Args:
        driven: The run's program.
        state: The run, parked at the node.
        path: The node.
        document: The answer as it is stored.

    Raises:
        AnswerRefused: The function refuses it, for the reason that it gives.
        ActivationFailed: The function itself failed.
    """
    node = driven.program.nodes[path]
    validate = node.declaration.validate
    if validate is None:
        return
    at = state.nodes[path]
    with OutputLog(state.scratch.with_name("output.log")) as log:
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
            await call(state.run_id, ASIDE_LIMIT, validate, context, node.shape.load(document))
        except (ValueError, AssertionError) as error:
            raise AnswerRefused("$", message_of(error) or type(error).__name__, "answer") from None
        except Exception:  # noqa: BLE001 (the user's function may raise anything)
            raise ActivationFailed(f"the validate function of {path}") from None


def _nowhere(_key: str, _update: Json) -> None:
    """The attempt waits for an answer: nobody is at work whose progress this would be."""
