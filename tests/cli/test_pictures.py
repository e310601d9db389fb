"""The graph of a run as `run`, `watch` and `show` draw it: what has to be seen is seen, however long the graph is."""

import time
from typing import Any

import pytest

from runwright.cli.rendering.elision import Stretch, elide
from runwright.cli.rendering.live_graphs import live_lines
from runwright.cli.rendering.pictures import RunPicture
from runwright.cli.rendering.shapes import Shape
from runwright.engine.graph.definition import Case, Definition, MountSpec, Switch
from runwright.eventstore.events.event import Content
from runwright.eventstore.events.node import MountEntered, NodeFinished, NodeStarted, NodeUpdated
from support.graphs import graph, node
from support.told import START, Teller, Told, started, visited

STREAM = "run/r1"


def picture(definition: Definition | None, told: list[Told]) -> RunPicture:
    """A picture of what was told."""
    teller = Teller()
    recorded = [teller.tell(*each) for each in told]
    return RunPicture("r1", definition).follow(each for each in recorded if each.stream == STREAM)


def screen(drawn: RunPicture, *, width: int = 80, height: int = 22, note: str = "") -> list[str]:
    """The lines of the screen, a second after the beginning."""
    return [each.plain for each in live_lines(drawn, START + 1_000_000, width=width, height=height, note=note)]


def at(path: str) -> Told:
    """A node begins."""
    return STREAM, NodeStarted(path=path, visit=1, attempt=1, kind="compute")


def chain(length: int) -> Definition:
    """A chain of nodes."""
    return graph(*(node(f"n{number:04}") for number in range(length)))


def looping() -> Definition:
    """A mount, a switch with a way back, and an end that is written before what leads to it."""
    spec = {each: node(each) for each in ("end", "plan", "docs/write", "judge", "mend")}
    mount = MountSpec(path="docs", workflow="papers", entry="docs/write", exits={}, max_steps=10, input_schema={})
    switch = Switch(on="$", cases=(Case(value="good", to="end"), Case(value="bad", to="mend")))
    return Definition(
        workflow="flow",
        entry="plan",
        nodes=spec,
        mounts={"docs": mount},
        then={"plan": "docs", "docs[ready]": "judge", "mend": "judge"},
        switches={"judge": switch},
    )


def test_places_stand_as_a_run_comes_to_them() -> None:
    """A mount right before what stands in it, and what a loop leads back to is marked as such."""
    shape = Shape.of(looping())
    assert list(shape.places) == ["plan", "docs", "docs/write", "judge", "end", "mend"]
    assert [(way.when, way.to, way.back) for way in shape.places["mend"].ways] == [("", "judge", True)]
    assert [way.back for way in shape.places["judge"].ways] == [False, False]


def test_a_long_chain_is_ordered_without_deep_calls() -> None:
    """A graph of thousands of nodes in a row has a shape."""
    assert len(Shape.of(chain(5_000)).places) == 5_000


def test_the_screen_says_where_the_run_is() -> None:
    """The node at work, in its mount, with its progress; what was done; what was not reached; what loops."""
    update = Content.json({"completed": 3, "total": 10, "unit": "files"})
    note = Content.json({"message": "almost there"})
    facts: dict[str, Any] = {"path": "docs/write", "visit": 1, "attempt": 1}
    told = [
        *started(),
        *visited(path="plan"),
        (STREAM, MountEntered(path="docs", invocation=1)),
        at("docs/write"),
        (STREAM, NodeUpdated(key="overall", number=1, update=update, **facts)),
        (STREAM, NodeUpdated(key="detail", number=2, update=note, **facts)),
    ]
    lines = screen(picture(looping(), told))
    assert lines[0].startswith("● running  report  r1")
    shown = {each.split()[1]: each for each in lines if len(each.split()) > 1}
    assert "✓" in shown["plan"]
    assert "mounts papers" in shown["docs"]
    assert "●" in shown["write"]
    assert "3 of 10 files" in shown["write"]
    assert "○" in shown["mend"]
    assert "↺ judge" in shown["mend"]
    assert lines[-1] == "  │ detail almost there"


@pytest.mark.parametrize(("height", "told"), [(22, ["n3", "n4", "n5"]), (10, ["n5"]), (6, [])])
def test_what_people_were_told_stands_last(height: int, told: list[str]) -> None:
    """The newest notifications, as many as there is room for; before them the progress of parts."""
    events: list[Told] = [*started()]
    for number in range(1, 6):
        facts: dict[str, Any] = {"path": "tell", "visit": number, "attempt": 1, "key": "notification"}
        notice = Content.json({"message": f"n{number}", "notice": "interim"})
        events.append((STREAM, NodeStarted(path="tell", visit=number, attempt=1, kind="notify")))
        events.append((STREAM, NodeUpdated(number=number, update=notice, **facts)))
        events.append((STREAM, NodeFinished(path="tell", visit=number, attempt=1, outcome="completed")))
    lines = screen(picture(None, events), height=height)
    assert [each for each in lines if "»" in each] == [f"  » tell  {each}" for each in told]
    assert not told or lines[-1].endswith(told[-1])


@pytest.mark.parametrize(("width", "height"), [(80, 22), (40, 8), (120, 38), (20, 6)])
def test_a_large_graph_fits_any_screen(width: int, height: int) -> None:
    """A thousand nodes, the run in the middle: no line too many, none too long, and the node at work among them."""
    told = [*started(), *(step for number in range(500) for step in visited(path=f"n{number:04}")), at("n0500")]
    drawn = picture(chain(1_000), told)
    lines = screen(drawn, width=width, height=height, note="pausing at the next step")
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert any("●" in each and "n0500" in each for each in lines[1:])
    if width >= 40:
        assert any("finished" in each for each in lines)
        assert any("not reached" in each for each in lines)


def test_what_went_wrong_is_never_left_out() -> None:
    """A failed node far away from the one at work has its own line."""
    told = [*started(), *visited(path="n0000", outcome="failed"), at("n0900")]
    assert any("✗" in each and "n0000" in each for each in screen(picture(chain(1_000), told)))


def test_a_long_history_costs_no_more_than_a_short_one() -> None:
    """A frame depends on the graph, not on how often its nodes were visited."""
    told = [*started(), *(step for number in range(1, 1_001) for step in visited(path="n0000", visit=number))]
    short, long = picture(chain(20), told[:8]), picture(chain(20), told)
    screen(long)
    assert "1,000 visits" in "".join(screen(long))

    def cost(drawn: RunPicture) -> float:
        begun = time.process_time()
        for _ in range(50):
            screen(drawn)
        return time.process_time() - begun

    assert cost(long) < 5 * cost(short) + 0.1


def test_without_a_definition_what_was_visited_is_shown() -> None:
    """A definition in another version's form cannot be read; the events still can."""
    lines = screen(picture(None, [*started(), *visited(path="a"), at("b")]))
    assert any("✓ a" in each for each in lines)
    assert any("● b" in each for each in lines)


def test_nothing_is_left_out_where_there_is_room() -> None:
    """All rows while they fit; then the most important ones, and the stretches between them."""
    assert elide(3, [0, 1, 2], 3) == [0, 1, 2]
    assert elide(10, [5, 0, 9, 4, 6, 1, 2, 3, 7, 8], 5) == [0, Stretch(1, 5), 5, Stretch(6, 9), 9]
    assert elide(4, [3], 2) == [Stretch(0, 3), 3]


def test_a_stretch_of_one_row_is_the_row() -> None:
    """It takes as much room as the line that would stand for it."""
    assert elide(5, [0, 2, 4], 5) == [0, 1, 2, 3, 4]
    assert elide(6, [0, 2, 3, 4, 5], 6) == [0, 1, 2, 3, 4, 5]
