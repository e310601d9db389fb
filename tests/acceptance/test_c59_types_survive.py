"""C59: what the next node gets has the types and values that were declared, whether a crash lay between or not."""

import pytest

from support.command_line import CommandLine
from support.killed import KILLED, drive
from support.sound import check_sound


def test_c59_a_crash_between_changes_no_type(cli: CommandLine) -> None:
    """C59: tuple, enum, times, dataclass, decimal and nested ones arrive equal in both runs, and nothing as None."""
    straight = cli("run", "--inline", "shapes.py:shapes").out
    assert drive(cli.home, cli.project, "shapes.py:shapes", {"die": True}) == KILLED
    assert cli("resume", "@last").out == straight
    assert "pair=(1, 'a')" in straight
    assert "many=(Decimal('1.10'), Decimal('2'))" in straight
    assert "colour=<Colour.RED: 'red'>" in straight
    assert "when=datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)" in straight
    assert "nested={'k': [(<Colour.RED: 'red'>, Point(x=1, y=2.5)), (<Colour.RED: 'red'>, None)]}" in straight
    check_sound(cli.home)


@pytest.mark.parametrize("mode", ["naive", "aware", "tuple", "enum", "dataclass", "counter"])
def test_c59_what_was_not_declared_is_refused_when_it_is_returned(cli: CommandLine, mode: str) -> None:
    """C59: without a declared type only plain JSON is taken; nothing is flattened in silence."""
    status = cli("run", "--inline", "shapes.py:plain", "-s", f"mode={mode}", "--json", code=1).document
    assert status["error"]["code"] == "output_invalid"
    assert status["node"] == "give"


def test_c59_a_time_without_a_zone_is_refused(cli: CommandLine) -> None:
    """C59: a naive datetime has no one meaning, so it is no output."""
    status = cli("run", "--inline", "shapes.py:naive", "--json", code=1).document
    assert status["error"]["code"] == "output_invalid"
