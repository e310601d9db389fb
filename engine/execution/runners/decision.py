"""The runner of decision nodes: a person is asked, and the run waits for the answer or for its deadline."""

from typing import Any, cast

from runwright.engine.authoring.limits import LATEST_US
from runwright.engine.authoring.questions import Choice, Question
from runwright.engine.commands.worker import AskPerson, ParkRun
from runwright.engine.execution.failures import NodeFailure
from runwright.engine.execution.runners.texts import asked
from runwright.engine.execution.visit import Ended, Parked, Visit
from runwright.engine.execution.walk import ASIDE_LIMIT, Walk
from runwright.eventstore.values import Json, JsonObject


async def run_decision(walk: Walk, visit: Visit) -> Ended | Parked:
    """Ask, and park: start, request, its message, its deadline and the park are one commit."""
    if visit.request is not None:
        # It was asked before; the run only stopped standing here.
        return Parked(park=ParkRun(reason="waiting"))
    try:
        ask = await walk.aside(_question(walk, visit))
    except NodeFailure as error:
        return Ended.badly(error.failure)
    return Parked(park=ask, before=visit.opening())


async def _question(walk: Walk, visit: Visit) -> AskPerson:
    function = visit.declaration.function
    assert function is not None
    given = await walk.call_within(visit, ASIDE_LIMIT, function, visit.context)
    question = Question(given) if isinstance(given, str) else given
    if not isinstance(question, Question) or not isinstance(question.title, str):
        raise walk.failed(
            visit, TypeError(f"a decision node returns a Question or its title, not {type(given).__name__}")
        )
    return AskPerson(
        path=visit.path,
        visit=visit.number,
        attempt=visit.attempt,
        deadline=_deadline(walk, visit),
        **_whole(visit, question),
    )


def _whole(visit: Visit, question: Question) -> dict[str, Any]:
    """All that is asked, as it is stored: one digest binds the answer to the whole of it."""
    whole = {
        "title": question.title,
        "facts": question.facts,
        "subject": question.subject,
        "choices": [_shown(each) for each in visit.declaration.choices],
    }
    return cast(dict[str, Any], asked(whole, "question"))


def _deadline(walk: Walk, visit: Visit) -> int | None:
    """When the decision closes, counted from the attempt's start."""
    started, limit = walk.nodes[visit.path].started_at, visit.spec.deadline_us
    if limit is None:
        return None
    return min((walk.port.now() if started is None else started) + limit, LATEST_US)


def _shown(given: str | Choice) -> Json:
    """A choice as people are shown it."""
    choice = Choice(given) if isinstance(given, str) else given
    shown: JsonObject = {"name": choice.name, "label": choice.label, "text": choice.text}
    return shown
