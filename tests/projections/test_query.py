"""Query: the same answers from tables and from memory, and typed errors that name what there is."""

from collections.abc import Iterator

import pytest

from runwright.eventstore.events.run import RunParked
from runwright.eventstore.reader import LogReader
from runwright.projections.answer import answer
from runwright.projections.control.registry import CONTROL
from runwright.projections.errors import QueryTooLong, UnknownField, UnknownOperator, UnknownProjection, ValueUnfit
from runwright.projections.query import (
    CONDITIONS_MAX,
    PATTERN_MAX,
    SORTS_MAX,
    Condition,
    Query,
    describe,
    plan,
    query_rows,
    query_table,
)
from runwright.projections.replay import replay_log
from runwright.projections.views.registry import VIEWS
from support.projected import held, tell
from support.told import completed, started


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogReader]:
    """A store with three runs, two of them ended."""
    home = tmp_path_factory.mktemp("query") / "home"
    with held(home) as log:
        parked = ("run/r3", RunParked(reason="waiting"))
        tell(log, [*completed("r1"), *completed("r2", 5, workflow="re_lease%"), *started("r3"), parked])
    with LogReader.open(home) as opened:
        yield opened


CASES = [
    ("runs", ["status=completed"], [], ["r1", "r2"]),
    ("runs", ["status!=completed"], [], ["r3"]),
    ("runs", ["steps>3"], [], ["r2"]),
    ("runs", ["steps>=3", "steps<=3"], [], ["r1"]),
    ("runs", ["steps<1"], [], ["r3"]),
    ("runs", ["workflow~RE_*"], [], ["r2"]),
    ("runs", ["workflow~*%"], [], ["r2"]),
    ("runs", ["workflow~r?port"], [], ["r1", "r3"]),
    ("runs", ["run_id~[r]1"], [], []),
    ("runs", ["paused=false"], ["-steps"], ["r2", "r1", "r3"]),
    ("runs", ["finished_at=null"], [], ["r3"]),
    ("runs", ["finished_at!=null"], ["-run_id"], ["r2", "r1"]),
    ("runs", ["session!=s"], [], ["r1", "r2", "r3"]),
    ("runs", ["created_at>2001-01-01T00:00:00Z"], ["finished_at", "-run_id"], ["r3", "r1", "r2"]),
    ("runs", ["created_at<2001-01-01T00:00:00+02:00"], [], []),
    ("queue", ["state=parked", "reason = waiting"], [], ["r3"]),
]


def test_what_no_column_holds_is_found_nowhere_and_refused_where_somebody_wrote_it(reader: LogReader) -> None:
    """Half of a character pair: a filter of ours finds nothing, one that was typed is told."""
    (runs,) = [each for each in CONTROL if each.name == "runs"]
    query = Query(projection=runs, where=(Condition("workflow", "=", "\udcff"),))
    with reader.snapshot() as moment:
        assert query_table(moment.connection, query).items == []
    assert query_rows(replay_log(reader).find(runs), query).items == []
    for condition in ("workflow=\udcff", "workflow!=\udcff", "workflow~\udcff*", "session=\udcff", "steps=\udcff"):
        with pytest.raises(ValueUnfit):
            plan(CONTROL, "runs", where=[condition])
    assert list(reader.read("run/\udcff")) == []
    assert list(reader.read_all(types={"\udcff"})) == []
    assert {each.stream for each in reader.read_all(streams={"run/\udcff", "run/r1"})} == {"run/r1"}


@pytest.mark.parametrize(("name", "where", "sort", "expected"), CASES)
def test_tables_and_memory_answer_alike(
    reader: LogReader, name: str, where: list[str], sort: list[str], expected: list[str]
) -> None:
    """Every operator and order means the same over a table and over replayed rows."""
    query = plan(CONTROL, name, where=where, sort=sort)
    with reader.snapshot() as moment:
        page = query_table(moment.connection, query)
    assert [each["run_id"] for each in page.items] == expected
    assert query_rows(replay_log(reader).find(query.projection), query) == page


def test_pages_follow_one_another(reader: LogReader) -> None:
    """A cursor leads to the next page until there is none."""
    seen: list[object] = []
    cursor: str | None = None
    for _ in range(3):
        found = answer(reader, plan(CONTROL, "runs", sort=["-created_at"], limit=1, cursor=cursor))
        seen += [each["run_id"] for each in found.items]
        cursor = found.next
    assert seen == ["r3", "r2", "r1"]
    assert cursor is None


def test_identities_and_hashes_are_not_shown(reader: LogReader) -> None:
    """Neither in rows nor as fields to filter or sort by."""
    (row, *_) = answer(reader, plan(CONTROL, "workers")).items
    assert not {"boot", "namespace", "pid", "start"} & row.keys()
    with pytest.raises(UnknownField):
        plan(CONTROL, "queue", where=["token_hash=ab"])
    with pytest.raises(UnknownField):
        plan(CONTROL, "workers", sort=["-pid"])


def test_errors_name_what_there_is() -> None:
    """Unknown projections, fields and operators list the known ones; a value names its type."""
    with pytest.raises(UnknownProjection, match="runs, queue"):
        plan(CONTROL, "rnus")
    with pytest.raises(UnknownField, match="run_id, workflow") as unknown:
        plan(CONTROL, "runs", where=["stat=1"])
    assert "status" in unknown.value.known
    with pytest.raises(UnknownOperator, match="!= <= >="):
        plan(CONTROL, "runs", where=["status"])
    with pytest.raises(UnknownOperator):
        plan(CONTROL, "runs", where=["=x"])
    for condition in (
        "steps=many",
        "steps=99999999999999999999",
        "steps~1",
        "paused=maybe",
        "finished_at<null",
        "created_at>2001-01-01",
        "created_at>yesterday",
    ):
        with pytest.raises(ValueUnfit):
            plan(CONTROL, "runs", where=[condition])


@pytest.mark.parametrize("cursor", ["-1", "", "1.5", "\N{SUPERSCRIPT TWO}", "9" * 19, "9" * 5000])
def test_a_cursor_is_one_that_a_page_gave(cursor: str) -> None:
    """However many digits somebody wrote: SQLite counts to 2^63, and Python reads 4,300 of them."""
    with pytest.raises(ValueUnfit, match="the cursor of a page before"):
        plan(CONTROL, "runs", cursor=cursor)


def test_the_last_cursor_is_an_empty_page(reader: LogReader) -> None:
    """The largest offset that is taken is one that SQLite takes."""
    assert answer(reader, plan(CONTROL, "runs", cursor="9" * 18)).items == []


def test_what_is_too_long_for_sqlite_is_refused_by_name(reader: LogReader) -> None:
    """As many conditions, fields and characters as may be are answered, one more is refused."""
    most = plan(
        CONTROL,
        "runs",
        where=["steps>=0"] * (CONDITIONS_MAX - 1) + ["run_id~" + "☃" * PATTERN_MAX],
        sort=["steps"] * SORTS_MAX,
    )
    assert answer(reader, most).items == []
    for where, sort in (
        (["steps>=0"] * (CONDITIONS_MAX + 1), []),
        (["run_id~" + "*" * (PATTERN_MAX + 1)], []),
        ([], ["steps"] * (SORTS_MAX + 1)),
    ):
        with pytest.raises(QueryTooLong, match="may have"):
            plan(CONTROL, "runs", where=where, sort=sort)


def test_values_are_bound(reader: LogReader) -> None:
    """What looks like SQL is a value like any other."""
    query = plan(CONTROL, "runs", where=["workflow='; DROP TABLE runs; --"])
    assert not answer(reader, query).items
    assert len(answer(reader, plan(CONTROL, "runs")).items) == 3


def test_what_can_be_asked_is_described() -> None:
    """Every projection says what it holds and which fields it shows."""
    for projection in (*CONTROL, *VIEWS):
        described = describe(projection)
        assert described["fields"]
        assert str(described["holds"]).endswith((".", "``"))
