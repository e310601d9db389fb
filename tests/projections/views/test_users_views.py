"""Projections of programs: whatever they declare, raise or answer, they hurt themselves only, and say why."""

import re
import threading
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from runwright.eventstore.envelope import RecordedEvent
from runwright.eventstore.events.run import RunQueued
from runwright.eventstore.log import EventLog
from runwright.projections.answer import answer
from runwright.projections.errors import ProjectionInvalid, ViewFailed
from runwright.projections.follower import Follower
from runwright.projections.projection import Index, Projection, follows
from runwright.projections.query import plan
from runwright.projections.views import registry
from runwright.projections.views.registry import VIEWS, users_views, views_for
from runwright.projections.views.store import Views
from support.projected import held, tell, view_rows
from support.told import completed, queued

HERE = __name__
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "audit.md"


@frozen(kw_only=True)
class Row:
    """A row with a field of each kind."""

    run_id: str
    due: str = "soon"
    many: int = 0
    part: float = 0.0
    sure: bool = False
    raw: bytes = b""


@frozen(kw_only=True)
class TwiceNamed:
    """Two fields that are one to SQLite."""

    run_id: str
    Run_ID: str


def projection(**declared: Any) -> type[Projection[Any]]:
    """A program's projection that answers to `run.queued`, declared as somebody likes."""
    made = declared.pop("answers", lambda recorded: Row(run_id=recorded.stream[4:]))

    class Theirs(Projection[Any]):
        """A program's."""

        name = "theirs"
        row = Row
        key_columns = ("run_id",)

        @follows(RunQueued)
        def answered(self, row: Any, event: RunQueued, recorded: RecordedEvent) -> Any:
            """Answer what was declared."""
            return made(recorded)

    for name, value in declared.items():
        setattr(Theirs, name, value)
    return Theirs


def ends(_: object) -> None:
    """End the process."""
    raise SystemExit(3)


def registered(monkeypatch: pytest.MonkeyPatch, **classes: object) -> None:
    """Register projections, as installed programs do."""
    for name, each in classes.items():
        monkeypatch.setitem(globals(), f"theirs_{name}", each)
    entries = [EntryPoint(name, f"{HERE}:theirs_{name}", registry.GROUP) for name in classes]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A store that is held."""
    with held(tmp_path / "home") as opened:
        yield opened


ANSWERS: list[tuple[Any, str]] = [
    (lambda _: {"run_id": "r1"}, "it answered a dict and no Row"),
    (lambda _: Row(run_id="other"), "its row has another key than its event"),
    (lambda each: Row(run_id=each.stream[4:], many=2**63), "its field many holds what no column of int can"),
    (lambda each: Row(run_id=each.stream[4:], part=float("inf")), "its field part holds"),
    (lambda each: Row(run_id=each.stream[4:], due="\ud800"), "its field due holds"),
    (lambda each: Row(run_id=each.stream[4:], sure=2), "its field sure holds"),  # type: ignore[arg-type]
    (lambda each: Row(run_id=each.stream[4:], raw=None), "its field raw holds"),  # type: ignore[arg-type]
    (ends, "it raised SystemExit"),
]


@pytest.mark.parametrize(("answers", "why"), ANSWERS)
def test_a_row_that_is_none_stops_its_view_alone(
    log: EventLog, monkeypatch: pytest.MonkeyPatch, answers: Any, why: str
) -> None:
    """Read from the log or from the views' file, it says the same, and the others go on."""
    registered(monkeypatch, mine=projection(answers=answers))
    tell(log, completed("r1"))
    query = plan(views_for(), "theirs")
    with pytest.raises(ViewFailed, match=why):
        answer(log, query)
    views = Views(log.home, log, views_for())
    assert views.catch_up() == log.head().position
    assert [(each.projection, why in each.message) for each in views.failures] == [("theirs", True)]
    assert len(view_rows(log, VIEWS[0])[0]) == 1
    with pytest.raises(ViewFailed, match=why):
        answer(log, query)
    views.close()


def test_what_a_row_holds_is_shown_as_it_is(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text stays one also under a name that times have; whole numbers stand in a `float`."""
    registered(monkeypatch, mine=projection(answers=lambda each: Row(run_id=each.stream[4:], part=3, raw=b"\1")))
    tell(log, completed("r1"))
    shown = [{"run_id": "r1", "due": "soon", "many": 0, "part": 3, "sure": False, "raw": "01"}]
    assert answer(log, plan(views_for(), "theirs")).items == shown
    views = Views(log.home, log, views_for())
    views.catch_up()
    assert answer(log, plan(views_for(), "theirs", where=["due=soon"])).items == shown
    views.close()


DECLARED: list[tuple[object, str]] = [
    (projection(name="Run_List"), "the name Run_List is taken"),
    (projection(name="QUEUE"), "the name QUEUE is taken"),
    (projection(name="CURSORS"), "the name CURSORS is taken"),
    (projection(name="SQLite_x"), "SQLite does not take its names"),
    (projection(row=TwiceNamed), "SQLite does not take its names"),
    (projection(indexes=(Index(columns=("many",)), Index(columns=("many",), unique=True))), "SQLite does not take"),
    (projection(indexes=(Index(columns=("many",), where={"less": (1,)}),)), "its row has no field less"),
    (projection(hidden=5), "loading it raised TypeError"),
    (projection(version="2"), "its version is no whole number"),
    (projection(__init__=lambda self: None), "loading it raised AttributeError"),
    (projection(__init__=ends), "loading it raised SystemExit"),
    (5, "it is no Projection"),
]


@pytest.mark.parametrize(("declared", "why"), DECLARED)
def test_one_that_cannot_be_used_says_why_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, declared: Any, why: str
) -> None:
    """By the name of its entry point or its own; who asks for something else does not hear of it."""
    registered(monkeypatch, mine=declared)
    _, (error,) = users_views()
    assert why in error.message
    for name in {"mine", getattr(declared, "name", "mine")} - {"QUEUE"}:
        with pytest.raises(ProjectionInvalid, match=re.escape(why)):
            views_for([name])
    assert views_for(["run_list", "queue", "nothing"]) == VIEWS


def test_two_whose_names_are_one_to_sqlite_are_not_both_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stays."""
    registered(monkeypatch, one=projection(), two=projection(name="THEIRS"))
    usable, errors = users_views()
    assert ([each.name for each in usable], [each.projection for each in errors]) == (["theirs"], ["two"])


def test_the_statements_of_a_view_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host looks programs' views up for each question: none costs memory for ever."""
    registered(monkeypatch, mine=projection())
    assert users_views()[0] == users_views()[0]


def test_a_rebuild_says_that_a_view_stopped(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for it hears of it; who asks for another one does not."""
    registered(monkeypatch, mine=projection(answers=ends))
    tell(log, completed("r1"))
    follower = Follower(log)
    assert follower.rebuild("run_list") == log.head().position
    with pytest.raises(ViewFailed, match="View theirs stopped"):
        follower.rebuild("run_list", "theirs")
    follower.close()


def test_a_view_that_does_not_return_keeps_nobody_from_closing(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a host waits for it only so long, and what it does afterwards is its own affair."""
    entered, free = threading.Event(), threading.Event()

    def stands(recorded: RecordedEvent) -> Row:
        entered.set()
        free.wait()
        return Row(run_id=recorded.stream[4:])

    registered(monkeypatch, mine=projection(answers=stands))
    follower = Follower(log, pause=0.0, patience=0.01)
    follower.start()
    tell(log, completed("r1"))
    assert entered.wait(90)
    follower.close()
    assert follower._thread.is_alive()
    free.set()
    follower._thread.join(90)
    assert not follower._thread.is_alive()


def test_a_long_fill_ends_with_its_next_batch(log: EventLog) -> None:
    """Whoever closes does not wait for the whole log; what was followed stays."""
    tell(log, [queued(f"r{number}") for number in range(1200)], together=256)
    looks = iter((False, True))
    views = Views(log.home, log, VIEWS, stopped=lambda: next(looks))
    assert 1 < views.catch_up() < log.head().position
    views.close()


def test_the_guides_example_follows_the_log(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is usable, and answers as the guide says."""
    (text,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": HERE}
    exec(text, names)
    registered(monkeypatch, mine=names["Deliveries"])
    tell(log, completed("r1"))
    (row,) = answer(log, plan(views_for(["deliveries"]), "deliveries")).items
    assert (row["run_id"], row["workflow"], row["result"]) == ("r1", "report", "delivered")
