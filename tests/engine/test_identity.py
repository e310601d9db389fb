"""Identities: IDs that sort by time, and IDs that follow from facts and from nothing else (fine print, page 06)."""

from random import Random

import pytest

from runwright.engine.identity import ALPHABET, child_id, effect_id, new_id


def test_new_ids_sort_by_time_and_differ() -> None:
    """20 characters of Crockford's base 32: ten of milliseconds, ten random."""
    random = Random(1).randbytes
    start = 1_700_000_000_000_000
    ids = [new_id(start + step * 1_000, random) for step in range(200)]
    assert ids == sorted(ids)
    assert len({each[10:] for each in ids}) == len(ids)
    assert all(len(each) == 20 and set(each) <= set(ALPHABET) for each in ids)
    assert len(ALPHABET) == 32
    assert not set("ilou") & set(ALPHABET)
    one, other = new_id(start, random), new_id(start + 999, random)
    assert one[:10] == other[:10] == "01hf7yat00"


def test_an_answer_has_one_child() -> None:
    """Its ID keeps the request's time and follows from the request alone."""
    request = "01hf7yat00abcdefghjk"
    assert child_id(request) == "01hf7yat00ynkxs0r94f"
    assert child_id(request) != child_id("01hf7yat00abcdefghjm")


GOLDEN = "ef29b2d061ece815decec33f6e681962c34984c4ffa355a40f483564f95b5d6b"


@pytest.mark.parametrize(
    "other",
    [
        ("run-2", "docs/inspect", 1, "shell"),
        ("run-1", "more/inspect", 1, "shell"),
        ("run-1", "docs/inspect", 2, "shell"),
        ("run-1", "docs/inspect", 1, "mail"),
        # Parts have their length before them: what moves from one into the next makes another identity.
        ("run-1d", "ocs/inspect", 1, "shell"),
        ("run-1", "docs/inspect1", 1, "shell"),
    ],
)
def test_each_part_of_an_effect_is_its_identity(other: tuple[str, str, int, str]) -> None:
    """Run, full node path, visit and effect type; the same again is the same, and stays so in every version."""
    one = effect_id("run-1", "docs/inspect", 1, "shell")
    assert one == effect_id("run-1", "docs/inspect", 1, "shell") == GOLDEN
    assert effect_id(*other) != one
