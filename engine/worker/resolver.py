"""Answers one question about a workflow's code; a refusal is an answer, too."""

import asyncio

from runwright.engine.errors import EngineError
from runwright.engine.worker.messages import Ask, Resolved, Unresolved
from runwright.engine.worker.questions import QUESTIONS
from runwright.eventstore.errors import StoreError


def resolve(ask: Ask) -> Resolved | Unresolved:
    """Answer, or say safely why there is no answer."""
    question = QUESTIONS.get(ask.question)
    if question is None:
        return Unresolved(code="unsupported", message="It cannot answer that.", hint="restart the host")
    try:
        return Resolved(answer=asyncio.run(question(ask.payload)))
    except (EngineError, StoreError) as error:
        return Unresolved(code=error.code, message=error.message, hint=error.hint)
