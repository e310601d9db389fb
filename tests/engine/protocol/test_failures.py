"""Does an error that travelled come back as what it was?"""

import errno
from pathlib import Path

import pytest

from runwright.engine import errors
from runwright.engine.protocol.errors import HostBusy, HostUnavailable, MessageInvalid, OperationUnknown, PeerRefused
from runwright.engine.protocol.failures import error_of, failure_of, outcome_of
from runwright.engine.protocol.fields import document, load
from runwright.engine.reading.errors import OutputMissing, OutputRedacted
from runwright.engine.results import Conflict, RecoveryRequired
from runwright.eventstore import errors as store_errors
from runwright.eventstore.transfer.errors import TargetExists
from runwright.eventstore.values import Json, decode, encode
from runwright.projections.errors import RunUnknown, UnknownProjection, ValueUnfit

CASES = [
    (errors.ConflictError(Conflict("already_terminal", {"run": "r", "outcome": "failed"})), "conflict"),
    (errors.ConflictError(Conflict("claim_lost", {"run": "r", "reason": "expired"})), "claim_lost"),
    (
        errors.RecoveryRequiredError(RecoveryRequired("source_changed", {"run": "r", "files": ["a"]})),
        "recovery_required",
    ),
    (errors.NotFound("run", "r"), "not_found"),
    (OutputMissing("r", "n", "it was never visited"), "not_found"),
    (OutputRedacted("r", None), "not_found"),
    (RunUnknown("r"), "not_found"),
    (errors.AmbiguousId("run", "abcd", ["1abcd", "2abcd"]), "rejected"),
    (errors.WorkflowNotFound("w"), "rejected"),
    (errors.WorkflowInvalid("w", ["a:1: b"]), "rejected"),
    (errors.InputInvalid("$.a", "expected text"), "rejected"),
    (errors.AgentMissing("n", "default"), "rejected"),
    (errors.SourceChanged("w", ["a.py"]), "rejected"),
    (errors.SessionMissing("say"), "rejected"),
    (errors.AnswerRejected("r", "output_invalid", "at $.a: is no text", 3), "rejected"),
    (errors.ActivationFailed("loading"), "rejected"),
    (errors.NameUnsaved("folder", "/x"), "rejected"),
    (UnknownProjection("x", ["runs"]), "rejected"),
    (ValueUnfit("runs", "since", "a number"), "rejected"),
    (MessageInvalid("$.a", "is missing"), "rejected"),
    (OperationUnknown("a.b", ["c.d"]), "rejected"),
    (PeerRefused(), "rejected"),
    (HostBusy("calls"), "unavailable"),
    (HostUnavailable(Path("/x"), "nobody listens"), "unavailable"),
    (store_errors.StoreUnavailable("too much waits"), "unavailable"),
    (store_errors.StoreBusy(Path("/x/log.sqlite")), "unavailable"),
    (store_errors.StoreFull(Path("/x/log.sqlite")), "unavailable"),
    (store_errors.StoreClosed(), "unavailable"),
    (store_errors.ValueRefused("$.a", "is NaN", "use null"), "rejected"),
    (store_errors.PayloadTooLarge("A value", 5, 6), "rejected"),
    (TargetExists(Path("/x")), "rejected"),
]


@pytest.mark.parametrize(("error", "outcome"), CASES, ids=lambda each: type(each).__name__)
def test_an_error_comes_back(error: Exception, outcome: str) -> None:
    """Class, code, sentence, hint and facts are the same on the other side, and the outcome is its word."""
    message = decode(encode(document(failure_of(error))))
    found = error_of(load(type(failure_of(error)), message))
    assert type(found) is type(error)
    assert str(found) == str(error)
    for name in ("code", "message", "hint"):
        assert getattr(found, name) == getattr(error, name)
    for name, value in vars(error).items():
        given = str(value) if isinstance(value, Path) else value
        assert getattr(found, name) == given
    assert outcome_of(error) == outcome


def test_of_a_foreign_error_nothing_is_told() -> None:
    """Text of an exception that is not ours does not travel, and its outcome is not known to anybody."""
    failure = failure_of(OSError(errno.EIO, "token=SECRET"))
    assert failure.code == "host_failed"
    assert "SECRET" not in str(document(failure))
    assert outcome_of(OSError()) == "unavailable"


def test_a_strange_failure_is_an_engine_error() -> None:
    """A failure of a class that is not known here keeps its words; facts cannot touch what an exception is."""
    failure = failure_of(errors.NotFound("run", "r"))
    facts: dict[str, Json] = {"__class__": "x", "with_traceback": "x", "args": "x", "fine": 1}
    found = error_of(type(failure)(kind="NewerError", code="newer", message="m", hint="h", facts=facts))
    assert type(found) is errors.EngineError
    assert (found.code, found.message, found.hint) == ("newer", "m", "h")
    assert found.args == ("m",)
    assert callable(found.with_traceback)
    assert vars(found)["fine"] == 1
