"""Header texts: what names a stream, an actor and a command."""

from typing import Any

import pytest

from runwright.eventstore.errors import ValueRefused
from runwright.eventstore.headers import check_actor, check_command, check_generation, check_stream


@pytest.mark.parametrize(
    "stream",
    [
        "log",
        "host",
        "run/01J",
        "session/a.b:c-d",
        "definition/abc",
        "sources/abc",
        "command/cli/key 1",
        "run/" + "x" * 128,
    ],
)
def test_the_streams_of_the_log_are_known(stream: str) -> None:
    """Each kind, with its IDs."""
    check_stream(stream)


@pytest.mark.parametrize(
    "stream",
    [
        "",
        "run",
        "run/",
        "run/a/b",
        "command/a",
        "command/a/b/c",
        "command//b",
        "other/a",
        "log/a",
        "run/a\n",
        "run/a\0",
        "run/\x85",
        "run/\ud800",
        "run/" + "x" * 129,
        "run/" + "é" * 65,
    ],
)
def test_other_streams_are_refused(stream: str) -> None:
    """Slashes inside an ID, control characters, and lengths in bytes."""
    with pytest.raises(ValueRefused) as refused:
        check_stream(stream)
    assert refused.value.path == "stream"


@pytest.mark.parametrize("text", ["", "a\tb", "a\x7fb", "x" * 201, "é" * 101, "\udc00", 1, None])
def test_actors_and_commands_are_bounded_lines(text: Any) -> None:
    """One line of valid text, 1 to 200 bytes."""
    with pytest.raises(ValueRefused):
        check_actor(text)
    if text is not None:
        with pytest.raises(ValueRefused):
            check_command(text)


def test_a_command_may_be_absent() -> None:
    """What no command caused has no key."""
    check_command(None)
    check_command("x" * 200)
    check_actor("client:cli")


@pytest.mark.parametrize("generation", [-1, 2**63, True, "1", 1.0])
def test_a_generation_is_a_whole_number_from_0(generation: Any) -> None:
    """As a column holds it."""
    with pytest.raises(ValueRefused):
        check_generation(generation)
    check_generation(0)
    check_generation(None)
