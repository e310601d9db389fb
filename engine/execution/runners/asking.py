"""The runners of nodes that somebody outside answers, a session or a person: nothing runs while they work."""

from runwright.engine.commands.worker import AskSession, OpenRequest, ParkRun, Timer
from runwright.engine.execution.failures import NodeFailure
from runwright.engine.execution.runners.texts import text_of
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import Walk
from runwright.eventstore.values import Json, JsonObject

#: Where a run stops that has no session to ask.
_NO_SESSION = "{path!r} asks the run's session, and the run has none. Start it in a session."


async def ask_session(walk: Walk, visit: Visit) -> Ended | Parked:
    """Ask, and park: start, request, message and park are one commit.

    The session's time begins when its message is sent: the attempt itself has no deadline.
    """
    if visit.request is not None:
        # It was asked before; the run only stopped standing here.
        return Parked(park=ParkRun(reason="waiting"))
    if walk.state.session is None:
        detail = _NO_SESSION.format(path=visit.path)
        return Parked(park=ParkRun(reason="environment_missing", code="agent_missing", detail=detail))
    limit = visit.limit
    walk.limit(visit, None)
    try:
        prompt = await walk.aside(text_of(walk, visit, "prompt"))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    ask = AskSession(
        path=visit.path,
        visit=visit.number,
        attempt=visit.attempt,
        kind="assistant" if visit.spec.kind == "assistant" else "agent",
        prompt=prompt,
        contract=_contract(visit),
        limit=limit,
    )
    return Parked(park=ask, before=visit.opening())


async def ask_person(walk: Walk, visit: Visit) -> Ended | Parked:
    """Ask whoever plays the agent at a terminal, and park: start, request, deadline and park are one commit.

    The time was fixed when the attempt started; what remains of it is counted down without a worker.
    """
    timer = None if visit.deadline is None else Timer(kind="deadline", due=visit.deadline)
    park = ParkRun(reason="waiting", timer=timer)
    if visit.request is not None:
        # It was asked before; the run only stopped standing here.
        return Parked(park=park, before=visit.opening())
    try:
        prompt = await walk.aside(text_of(walk, visit, "prompt"))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    ask = OpenRequest(
        path=visit.path,
        visit=visit.number,
        attempt=visit.attempt,
        kind="agent",
        prompt=prompt,
        contract=visit.spec.schema,
        deadline=visit.deadline,
    )
    return Parked(park=park, before=(*visit.opening(), ask))


def _contract(visit: Visit) -> Json:
    """The schema of the answer; of a visible one also how much of it is taken."""
    schema: JsonObject = visit.spec.schema
    return schema if visit.spec.max_chars is None else {**schema, "maxLength": visit.spec.max_chars}
