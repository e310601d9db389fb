"""What a refusal says of its own facts: the thing it is about by name, and the next step that fits it."""

import copy
import pickle

import pytest

from runwright.engine.errors import ConflictError, EngineError, InputInvalid, NotFound
from runwright.engine.results import Conflict


@pytest.mark.parametrize(
    ("conflict", "message", "hint"),
    [
        (Conflict("claim_lost", {"session": "s-1", "reason": "owner_changed"}), "session s-1", "attach"),
        (Conflict("claim_lost", {"run": "r", "reason": "expired"}), "claim on run r", "another owner"),
        (
            Conflict("parent_invalid", {"run": "r", "node": "sub/a", "mount": "sub"}),
            "sub/a stands in sub",
            "before sub",
        ),
        (Conflict("parent_invalid", {"run": "r", "outcome": "continued", "last": "x"}), "by run x", "restart x"),
        (Conflict("already_terminal", {"run": "r", "outcome": "continued", "last": "x"}), "run x carries", "status x"),
        (
            Conflict("revision_changed", {"effect": "e", "run": "r", "state": "applied"}),
            "Effect e of run r is not ambiguous any more: it is applied",
            "runwright effect EFFECT",
        ),
        (
            Conflict("revision_changed", {"request": "q", "run": "r", "state": "accepted", "source": "agent"}),
            "Request q of run r was answered already by its agent.",
            "show RUN",
        ),
        (
            Conflict("revision_changed", {"request": "q", "run": "r", "state": "accepted", "cause": None}),
            "Request q of run r was answered already.",
            "show RUN",
        ),
        (Conflict("still_live", {"run": "r"}), "Run r is still live", "let the run end"),
        (
            Conflict("still_live", {"run": "r", "queue": "running", "request": "q", "node": "ask"}),
            "executor of node ask is at work on request q of run r",
            "let it answer",
        ),
        (Conflict("input_invalid", {"path": "session", "problem": "is no session ID"}), "session is no", "correct it"),
        (
            Conflict("protocol_rejected", {"run": "r", "rule": "too_many_updates", "limit": 20}),
            "run r comes more often than 20 times a second",
            "in a moment",
        ),
        (
            Conflict("protocol_rejected", {"run": "r", "rule": "too_many_names", "limit": 1024}),
            "run r comes under more than 1024 names",
            "a name that was used before",
        ),
    ],
)
def test_a_conflict_names_what_it_is_about(conflict: Conflict, message: str, hint: str) -> None:
    """No question mark stands where a name belongs."""
    error = ConflictError(conflict)
    assert message in error.message
    assert "?" not in error.message
    assert hint in error.hint


@pytest.mark.parametrize("what", ["run", "effect", "request", "node", "visit of node", "step"])
def test_each_thing_that_is_missing_has_its_own_next_step(what: str) -> None:
    """Only a run is looked for among the runs."""
    hint = NotFound(what, "x").hint
    assert hint
    assert ("`runwright runs`" in hint) == (what == "run")


@pytest.mark.parametrize("what", ["input", "answer", "result"])
def test_what_does_not_fit_is_called_by_its_name(what: str) -> None:
    """And stays so in a copy and across processes."""
    error = InputInvalid("$.a", "not a number", what)
    assert error.message == f"The {what} does not fit at $.a: not a number."
    assert ("--input-schema" in error.hint) == (what == "input")
    again: EngineError
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (again.message, again.hint, again.__dict__) == (error.message, error.hint, error.__dict__)
