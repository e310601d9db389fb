"""Fingerprints of private values: HMACs under a run tree's key, so that small values cannot be guessed."""

import hmac
import json
from typing import Final

from runwright.engine.decisions.facts import Tree
from runwright.eventstore.values import Json, encode
from runwright.projections.control.runs import RunRow

_REQUEST: Final = "rw/request/1\0"
_VARIABLE: Final = "rw/variable/1\0"
_END: Final = "rw/end/1\0"
_QUESTION: Final = "rw/question/1\0"


def request_fingerprint(tree: Tree, request: Json) -> str:
    """Fingerprint an effect request, in hex."""
    return _hmac(tree.key, _REQUEST + encode(request))


def question_digest(tree: Tree, question: Json) -> str:
    """Fingerprint what a person is asked, in hex: an answer binds exactly that."""
    return _hmac(tree.key, _QUESTION + encode(question))


def without_values(tree: Tree, request: Json) -> Json:
    """Replace the values of a command's environment by their HMACs: they are worked out again when needed."""
    if not isinstance(request, dict):
        return request
    match request.get("env"):
        case dict() as variables if variables:
            kept: Json = {name: _hmac(tree.key, _VARIABLE + encode([name, value])) for name, value in variables.items()}
            return {**request, "env": kept}
        case _:
            return request


def terminal_fingerprint(tree: Tree | None, run: RunRow, outcome: str, result: str) -> str | None:
    """Fingerprint how a run ended, without times and IDs; ``None`` where the tree's key is gone.

    Args:
        tree: The tree's secret.
        run: The run.
        outcome: How it ended.
        result: Canonical text of its output, or of its error.
    """
    if tree is None:
        return None
    # The canonical text of these texts, without the limit of a stored value: nobody stores it, and a result that
    # fills its own limit is longer once more quoted.
    ended = json.dumps(
        [run.workflow, run.definition, tree.input, outcome, result], ensure_ascii=False, separators=(",", ":")
    )
    return _hmac(tree.key, _END + ended)


def _hmac(key: str, text: str) -> str:
    return hmac.digest(bytes.fromhex(key), text.encode(), "sha256").hex()
