"""Messages in parts: verified, in order, bounded."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from runwright.engine.wire.errors import FrameRefused, PartRefused
from runwright.engine.wire.frames import MAX_FRAME, FrameReader
from runwright.engine.wire.parts import PART, Assembler, frames_of
from runwright.eventstore.errors import PayloadTooLarge
from runwright.eventstore.values import JsonObject

LARGE: JsonObject = {"type": "large", "text": "hé\n" * 900_000}


def frames(message: JsonObject) -> list[JsonObject]:
    """A message's frames as the other side reads them."""
    reader = FrameReader()
    return [frame for raw in frames_of(message) for frame in reader.feed(raw)]


def test_a_small_message_is_its_own_frame() -> None:
    """Nothing is wrapped that fits."""
    assert frames({"type": "x"}) == [{"type": "x"}]
    assert Assembler().take({"type": "x"}) == {"type": "x"}


def test_a_large_message_comes_back() -> None:
    """In parts of half a mebibyte, other frames and other uploads between them."""
    first, second, assembler = frames(LARGE), frames({**LARGE, "n": 2}), Assembler()
    assert len(first) > 4
    assert all(len(raw) <= MAX_FRAME for raw in frames_of(LARGE))
    small: JsonObject = {"type": "small"}
    got = [assembler.take(frame) for one, other in zip(first, second, strict=True) for frame in (one, small, other)]
    assert [each for each in got if each not in (None, small)] == [LARGE, {**LARGE, "n": 2}]


def test_a_message_over_the_limit_is_not_begun() -> None:
    """The sender learns it, before anything is sent."""
    with pytest.raises(PayloadTooLarge):
        next(frames_of(LARGE, 2_000_000))


def test_what_is_under_way_is_bounded() -> None:
    """By what was announced, before it came, over all uploads together."""
    assembler = Assembler(6_000_000)
    assembler.take(frames(LARGE)[0])
    with pytest.raises(PartRefused, match="under way"):
        assembler.take(frames(LARGE)[0])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda part: part.update(index=2), "order"),
        (lambda part: part.update(index=True), "number"),
        (lambda part: part.update(length=part["length"] + 1), "announced"),
        (lambda part: part.update(sha256="0" * 64), "announced"),
        (lambda part: part.update(data="AAAA"), "size"),
        (lambda part: part.update(data="!!!!"), "base64"),
        (lambda part: part.update(data=""), "text"),
        (lambda part: part.update(upload=7), "text"),
        (lambda part: part.update(more=1), "fields"),
        (lambda part: part.pop("index"), "fields"),
        (lambda part: part.update(upload="other", length=10, index=0), "fit into a frame"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(change: Callable[[dict[str, Any]], object], problem: str) -> None:
    """Its problem is named."""
    first, second, *_ = frames(LARGE)
    assembler = Assembler()
    assembler.take(first)
    part = json.loads(json.dumps(second))
    change(part)
    with pytest.raises(PartRefused, match=problem):
        assembler.take(part)


def test_a_changed_byte_is_noticed() -> None:
    """The SHA-256 of the whole decides, whatever the parts looked like."""
    assembler = Assembler()
    *before, last = frames(LARGE)
    for part in before[:-1]:
        assembler.take(part)
    data = str(before[-1]["data"])
    assembler.take({**before[-1], "data": ("A" if data[0] != "A" else "B") + data[1:]})
    with pytest.raises(PartRefused, match="SHA-256"):
        assembler.take(last)


def test_parts_of_no_message_are_refused() -> None:
    """What they make up has to be one JSON object."""
    import base64
    from hashlib import sha256

    raw = b"[" + b" " * (2 * PART) + b"]"
    assembler = Assembler()
    parts: list[JsonObject] = [
        {
            "type": "part",
            "upload": "u",
            "index": index,
            "length": len(raw),
            "sha256": sha256(raw).hexdigest(),
            "data": base64.b64encode(raw[start : start + PART]).decode(),
        }
        for index, start in enumerate(range(0, len(raw), PART))
    ]
    with pytest.raises(FrameRefused, match="no JSON object"):
        [assembler.take(part) for part in parts]
