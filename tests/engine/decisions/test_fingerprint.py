"""Fingerprints of private values."""

from runwright.engine.decisions.facts import Tree
from runwright.engine.decisions.fingerprint import request_fingerprint, without_values

TREE, OTHER = Tree("00" * 32, "in"), Tree("01" * 32, "in")


def test_equal_requests_have_equal_fingerprints() -> None:
    """The order of keys does not matter, the JSON type does, and so does the tree's key."""
    one = request_fingerprint(TREE, {"a": 1, "b": 2})
    assert one == request_fingerprint(TREE, {"b": 2, "a": 1})
    assert one != request_fingerprint(TREE, {"a": 1.0, "b": 2})
    assert request_fingerprint(TREE, 1) != request_fingerprint(TREE, True)
    assert one != request_fingerprint(OTHER, {"a": 1, "b": 2})


def test_the_environment_of_a_command_is_kept_as_fingerprints() -> None:
    """No value of a variable is stored; a changed one still changes the request."""
    kept = without_values(TREE, {"argv": ["x"], "env": {"TOKEN": "s3cr3t"}})
    assert isinstance(kept, dict)
    assert "s3cr3t" not in str(kept)
    assert kept["argv"] == ["x"]
    assert kept != without_values(TREE, {"argv": ["x"], "env": {"TOKEN": "other"}})
    assert without_values(TREE, {"argv": ["x"], "env": {}}) == {"argv": ["x"], "env": {}}
