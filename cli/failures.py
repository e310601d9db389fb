"""What goes wrong, as one sentence, the next step and an exit code."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from attrs import evolve, field, frozen

from runwright.cli.hints import fill, names_of
from runwright.eventstore.values import JsonObject

#: Exit codes (page 09).
OK: Final = 0
ENDED_BADLY: Final = 1
USAGE: Final = 2
CONFLICT: Final = 3
UNAVAILABLE: Final = 4
NOT_FINISHED: Final = 5
INTERRUPTED: Final = 130

#: The codes that only the command line has; every other one comes from the layer that met the failure.
CODES: Final = {
    "usage": "The command was typed in a way that it does not have.",
    "name_invalid": "A name that was typed is no name of a file or folder, or of one that may be used here.",
    "file_unreadable": "A file or folder that was named cannot be used.",
    "setting_unknown": "There is no setting of that name.",
    "setting_invalid": "A setting has a value that does not fit it, or its file cannot be read.",
    "interrupted": "Somebody pressed Ctrl-C.",
    "internal_error": "Runwright met a fault of its own; nothing that was acknowledged is lost.",
}

#: What hints say of programs that embed the engine, and the next steps of those codes on a command line.
_IN_PROGRAMS: Final = "Engine.open("
_HINTS: Final = {
    "agent_missing": "Name one: --agent [NAME=]cmd:COMMAND, or --agent [NAME=]console to answer it yourself.",
}

#: Codes that say: what was typed, or the file it names, is wrong.
_USAGE_CODES: Final = frozenset(
    {
        "usage", "setting_unknown", "setting_invalid", "name_invalid", "file_unreadable",
        "not_found", "ambiguous_id", "run_unknown", "position_unknown",
        "workflow_not_found", "workflow_invalid", "input_invalid", "agent_missing", "interpreter_unusable",
        "value_refused", "payload_too_large", "output_invalid", "input_cleared",
        "query_refused", "unknown_projection", "unknown_field", "unknown_operator", "value_unfit", "query_too_long",
        "head_unreadable", "nothing_to_export", "export_unreadable", "no_export", "export_incomplete", "target_exists",
    }
)  # fmt: skip
#: Codes that say: the store, its file or its process is not there for us.
_UNAVAILABLE_CODES: Final = frozenset(
    {
        "activation_failed", "host_unavailable", "internal_error", "event_unreadable", "unknown_event", "forked",
        "nested_transaction", "unsafe_filesystem", "unsafe_home", "unusable_home", "sqlite_too_old", "impossible_event",
        "already_held", "projection_error", "projection_invalid", "view_failed", "engine_error",
    }
)  # fmt: skip


#: A line to type at the end: it would be copied with the full stop.
_LINE_AT_END: Final = re.compile(r"(?:\bExample: |: runwright )[^`]*$")
#: What no word of a sentence has in it.
_NAME: Final = re.compile(r"[./\\_0-9:=@-]")


def sentence(text: str) -> str:
    """Give a message the one form that all have here: a capital at the beginning, a full stop at the end.

    A name at the beginning (of a file, a setting, a node) stays as it is, and so does a line to type at the end.
    """
    text = text.strip().rstrip(";,")
    first = text.partition(" ")[0].rstrip(".!?:,;")
    if text and text[-1] not in ".!?:" and not _LINE_AT_END.search(text):
        text += "."
    return text if _NAME.search(first) else text[:1].upper() + text[1:]


@frozen(kw_only=True)
class Failure:
    """One failure as every surface shows it.

    Attributes:
        code: A stable code.
        message: One sentence; names, never private values.
        hint: The next step; may be empty.
        exit_code: The exit code.
    """

    code: str
    message: str = field(converter=sentence)
    hint: str = field(default="", converter=sentence)
    exit_code: int = USAGE

    def document(self) -> JsonObject:
        """As machines are told it."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class Refused(Exception):
    """The command cannot be carried out; ends it with its failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @classmethod
    def usage(cls, message: str, hint: str = "", code: str = "usage") -> "Refused":
        """What was typed is wrong."""
        return cls(Failure(code=code, message=message, hint=hint))


def exit_code_of(code: str) -> int:
    """The exit code that belongs to an error's code."""
    if code in _USAGE_CODES:
        return USAGE
    if code == "export_damaged":
        return ENDED_BADLY
    if code == "store_exists":
        return CONFLICT
    if code.startswith("store_") or code in _UNAVAILABLE_CODES:
        return UNAVAILABLE
    return CONFLICT


def failure_of(error: BaseException, names: Mapping[str, str] = MappingProxyType({})) -> Failure | None:
    """The failure that an error of ours stands for; ``None`` for any other exception.

    Args:
        error: What was raised.
        names: What the command knows of what it is about, for the next step; see `hints.fill`.

    Every error of the lower layers has a stable ``code``, writes its own sentence and names the next step as
    ``hint``; nothing of a foreign exception is ever shown.
    """
    if isinstance(error, Refused):
        return evolve(error.failure, hint=fill(error.failure.hint, names))
    code = getattr(error, "code", None)
    message = getattr(error, "message", None) or str(error)
    if not isinstance(code, str) or not type(error).__module__.startswith("runwright."):
        return None
    hint = _HINTS.get(code, "") if _IN_PROGRAMS in str(getattr(error, "hint", "")) else getattr(error, "hint", "")
    message = f"{sentence(str(message))}{_evidence_words(getattr(error, 'evidence', None))}"
    filled = fill(str(hint or ""), {**names, **names_of(error)})
    return Failure(code=code, message=str(message), hint=filled, exit_code=exit_code_of(code))


def _evidence_words(evidence: object) -> str:
    """What the evidence of a refusal adds for people: why."""
    if not isinstance(evidence, Mapping):
        return ""
    detail = evidence.get("detail")
    return f" {sentence(detail)}" if isinstance(detail, str) and detail else ""
