"""Frames: what is written comes back however it was cut, and rubbish is named, never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwright.engine.wire.errors import FrameRefused
from runwright.engine.wire.frames import MAX_FRAME, FrameReader, encode_frame
from runwright.eventstore.errors import PayloadTooLarge
from runwright.eventstore.values import JsonObject, encode
from strategies.values import json_values

messages = st.dictionaries(st.text(max_size=5), json_values, max_size=4)


@given(st.lists(messages, max_size=5), st.lists(st.integers(1, 40), max_size=30))
def test_frames_come_back_however_they_were_cut(sent: list[JsonObject], cuts: list[int]) -> None:
    """Any number of messages in any pieces."""
    stream, reader, got = b"".join(map(encode_frame, sent)), FrameReader(), []
    for cut in cuts:
        got += reader.feed(stream[:cut])
        stream = stream[cut:]
    got += reader.feed(stream)
    reader.end()
    assert [encode(each) for each in got] == [encode(each) for each in sent]


@given(st.binary(max_size=200))
def test_rubbish_is_refused_and_never_shown(rubbish: bytes) -> None:
    """Any bytes are refused with one error."""
    with pytest.raises(FrameRefused) as refused:
        FrameReader().feed(b'"hunter2-marker' + rubbish + b"\n")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\xff\n", "UTF-8"),
        (b"\n", "no JSON"),
        (b"{\n", "no JSON"),
        (b"[1]\n", "no JSON object"),
        (b'{"a":NaN}\n', "NaN"),
        (b'{"a":1e999}\n', "too large"),
        (b'{"a":1,"a":2}\n', "two equal keys"),
        (b'{"a":"\\ud800"}\n', "surrogate"),
        (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}\n", "nested"),
        (b'{"a":' + b"1" * 5000 + b"}\n", "digits"),
    ],
)
def test_the_problem_is_named(line: bytes, problem: str) -> None:
    """Each kind of broken frame says what is wrong with it."""
    with pytest.raises(FrameRefused, match=problem):
        FrameReader().feed(line)


def test_a_line_without_end_is_refused_before_it_is_kept() -> None:
    """No more than one frame is ever held."""
    reader = FrameReader()
    for _ in range(MAX_FRAME // 65_536 - 1):
        assert reader.feed(b"x" * 65_536) == []
    with pytest.raises(FrameRefused, match="bytes"):
        reader.feed(b"x" * 65_536)


def test_a_frame_has_at_most_a_mebibyte() -> None:
    """The newline counts; one byte more is refused on both sides."""
    most: JsonObject = {"a": "x" * (MAX_FRAME - len('{"a":""}\n'))}
    assert len(encode_frame(most)) == MAX_FRAME
    assert FrameReader().feed(encode_frame(most)) == [most]
    with pytest.raises(PayloadTooLarge):
        encode_frame({"aa": most["a"]})


def test_a_frame_that_breaks_off_is_told() -> None:
    """The end in the middle of a line is no end."""
    reader = FrameReader()
    assert reader.feed(b'{"a":1}\n{"b"') == [{"a": 1}]
    with pytest.raises(FrameRefused, match="breaks off"):
        reader.end()
