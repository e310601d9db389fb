"""From what people type to whole IDs: ``@last``, a whole ID, or its last four or more characters where unique."""

import re
from typing import Any

from runwright.engine.errors import AmbiguousId, NotFound
from runwright.engine.reading.moment import Moment
from runwright.engine.texts import check_name
from runwright.projections.control.effects import EFFECTS
from runwright.projections.control.requests import REQUESTS
from runwright.projections.control.reservations import RESERVATIONS
from runwright.projections.control.runs import RUNS
from runwright.projections.projection import Projection
from runwright.projections.query import Condition, Query

LAST = "@last"

#: How many candidates are named.
CANDIDATES = 5

#: A part of an ID that is long enough to be looked for.
_PART = re.compile(r"[0-9a-z]{4,64}")


def find_run(moment: Moment, text: str, *, project: str | None = None, cwd: str | None = None) -> str:
    """The ID of the run that somebody named.

    Args:
        moment: Where to look.
        text: ``@last``, an ID, or its end.
        project: The project folder that ``@last`` is about: its runs, and those that were started in it.
        cwd: A folder; ``@last`` is about those that were started there, too. Without either it is about all.

    Raises:
        NotFound: There is no such run.
        AmbiguousId: Several end like this.
    """
    if text == LAST:
        return _newest(moment, project, cwd)
    return _find(moment, RUNS, "run", text)


def find_in_session(moment: Moment, session: str) -> str:
    """The ID of the run that holds a session, else of the latest that did.

    Raises:
        NotFound: No run was ever started in it.
    """
    check_name("session", session)
    holding = moment.rows.find(RESERVATIONS, session=session)
    if holding:
        return holding[0].run_id
    where = (Condition("session", "=", session),)
    found = moment.query(Query(projection=RUNS, where=where, sort=(("run_id", True),), limit=1)).items
    if not found:
        raise NotFound("run of session", session)
    return str(found[0]["run_id"])


def find_effect(moment: Moment, text: str) -> str:
    """The ID of the effect that somebody named; raises as `find_run`."""
    return _find(moment, EFFECTS, "effect", text)


def find_request(moment: Moment, text: str) -> str:
    """The ID of the request that somebody named; raises as `find_run`."""
    return _find(moment, REQUESTS, "request", text)


def last_of_chain(moment: Moment, run_id: str) -> str:
    """The run that a continued run's work stands in now.

    Raises:
        NotFound: There is no such run.
    """
    while (after := moment.run(run_id).continued_by) is not None:
        run_id = after
    return run_id


def _newest(moment: Moment, project: str | None, cwd: str | None) -> str:
    """The newest run of a project or of a folder: a file elsewhere is of another project, wherever it is started."""
    told = (("project", project), ("cwd", project), ("cwd", cwd))
    places = [[Condition(field, "=", folder)] for field, folder in told if folder is not None] or [[]]
    found = ""
    for place in places:
        # An ID begins with its time; only newer ones are looked through for the next place.
        where = (*place, Condition("run_id", ">", found))
        for item in moment.query(Query(projection=RUNS, where=where, sort=(("run_id", True),), limit=1)).items:
            found = str(item["run_id"])
    if not found:
        raise NotFound("run", LAST)
    return found


def _find(moment: Moment, projection: Projection[Any], what: str, text: str) -> str:
    check_name(what, text)
    if moment.rows.get(projection, text) is not None:
        return text
    (key,) = projection.key_columns
    part = text.lower()
    if _PART.fullmatch(part) is None:
        raise NotFound(what, text)
    where = (Condition(key, "~", f"*{part}"),)
    found = [
        str(item[key])
        for item in moment.query(Query(projection=projection, where=where, sort=((key, True),), limit=CANDIDATES)).items
    ]
    if not found:
        raise NotFound(what, text)
    if len(found) > 1:
        raise AmbiguousId(what, text, found)
    return found[0]
