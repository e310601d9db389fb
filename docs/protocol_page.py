"""The page of the client protocol, for `docs/generate.py`: the rules in words, every table from the classes."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from runwright.engine.protocol.contract import EVENT_PAYLOADS
from runwright.engine.protocol.envelopes import ENVELOPES, OUTCOMES
from runwright.engine.protocol.fields import parts_of, schema
from runwright.engine.protocol.operations import OPERATIONS, Needs, Operation

#: The rules in words, with places for the tables.
RULES = Path(__file__).with_name("protocol_rules.txt")

#: What each outcome says.
_OUTCOMES = {
    "accepted": "It was done, or the question is answered.",
    "adopted": "An equal command under the same key had been done before; this is its receipt.",
    "rejected": "It cannot be done as it was asked; nothing was written but a candidate of `request.submit`.",
    "conflict": "Another fact stands in the way; nothing was written.",
    "recovery_required": "Somebody has to act first; nothing was written.",
    "not_found": "There is no run, request, effect or value of that name.",
    "claim_lost": "The right to change the run has gone over to somebody else.",
    "unavailable": "Not now, or nobody knows: repeat the call with the same key.",
}
_EVENTS = {
    "events": "Events of the log, in order, each once.",
    "view": "The newest view of a run.",
    "session": "The newest view of a session.",
    "runs": "All live runs.",
    "lines": "Lines of a run's output log.",
    "end": "Nothing follows. The code `finished` says that the run has ended; any other says what went wrong.",
}

#: By kind of message: the schema of its content, whether it starts a turn, and what its text is. A test compares this
#: and `HOLDS` with messages that runs wrote.
CONTENTS: dict[str, tuple[str, str, str]] = {
    "step": (
        "runwright.step.v1",
        "yes",
        "what is asked, as the node's function wrote it, and nothing of how to answer",
    ),
    "decision": ("runwright.decision.v1", "no", "the question, for whoever may answer it"),
    "notification": ("runwright.notification.v1", "no", "what the run tells"),
    "launch_failure": ("runwright.launch-failure.v1", "yes", "why a run never began, and what to do then"),
    "terminal": ("runwright.terminal.v1", "with instructions", "how a run ended, and the instructions"),
    "follow_up": ("runwright.follow-up.v1", "yes", "what was left for after the end"),
}

_ASKED = {
    "requestId": ("text", "The request that an answer names."),
    "node": ("text", "The path of the node that asks."),
    "visit": ("number", "The how-many-th time the run entered it."),
    "attempt": ("number", "The how-many-th try of that visit."),
}
_END = {
    "outcome": ("text", "`completed`, `failed`, `timed_out` or `cancelled`."),
    "code": ("text or null", "Why, where it ended badly: one of [the codes](errors.md)."),
    "message": ("text or null", "The same as one safe sentence."),
    "finishedAt": ("text", "When."),
    "result": (
        "object or null",
        "The output, quoted as data: `value`; or `cut`, its beginning as text, and `bytes`, how long it is; or "
        "`missing`, why it is not there.",
    ),
    "error": ("object or null", "The error that it failed with, likewise."),
}
#: What the content of each kind holds: name, form, meaning. `*` stands for every kind.
HOLDS: dict[str, dict[str, tuple[str, str]]] = {
    "*": {
        "schema": ("text", "Names the kind of content, and its version."),
        "messageId": ("text", "The message's ID; the `message` of the view."),
        "runId": ("text", "The run that it is about."),
        "workflow": ("text", "That run's workflow."),
    },
    "step": {
        **_ASKED,
        "kind": (
            "text",
            "`agent`: answered by `request.submit`. `assistant`: answered by the text of its own turn, and nothing is "
            "submitted.",
        ),
        "reason": (
            "text",
            "`initial`: asked for the first time. `resumed`: asked once more, because the message left the branch, its "
            "run was paused, or the turn ended in an error. `reminder`: the turn before ended without an answer.",
        ),
        "contract": (
            "object or null",
            "The JSON Schema that an answer has to meet; `{}` and null are met by any JSON.",
        ),
    },
    "decision": {
        **_ASKED,
        "kind": ("text", "`decision`: a person's, by `request.decide`. `checkpoint`: by `request.answer`."),
        "protected": ("boolean", "Whether only a person may answer; always so with a decision."),
        "digest": ("text or null", "What a decision is bound to; `request.decide` may name it."),
        "deadline": ("text or null", "When it is decided without an answer."),
        "contract": (
            "object or null",
            "The JSON Schema that an answer has to meet: of a decision the names of choices.",
        ),
        "presentation": (
            "any",
            "What people are shown beside the text. Of a decision an object: `facts`; `choices`, each with `name`, "
            "`label` and `text`, the hint of the text that it takes, or null; `audience`; `on_timeout`, the choice "
            "that is made at the deadline, or null. Of a checkpoint any JSON.",
        ),
    },
    "notification": {
        "kind": ("text", "`interim` or `final`."),
        "node": ("text", "The path of the node that tells it."),
    },
    "launch_failure": {
        "state": ("text", "`failed`."),
        "code": ("text", "Why: one of [the codes](errors.md)."),
        "message": ("text", "The same as one safe sentence."),
    },
    "terminal": {
        **_END,
        "earlier": ("list", "The runs that it carried on, the nearest first: of each `runId` to `error`, as here."),
        "earlierLeftOut": ("number", "How many more there are."),
        "instructions": ("text or null", "What the workflow wants said of it."),
    },
    "follow_up": {},
}


def protocol_reference() -> str:
    """The text of `docs/reference/protocol.md`."""
    text = RULES.read_text(encoding="utf-8")
    for name, table in (
        ("outcomes", _outcomes()),
        ("events", _events()),
        ("contents", _contents()),
        ("operations", _operations()),
        ("classes", _classes()),
    ):
        text = text.replace(f"{{{{{name}}}}}\n", table)
    return text


def _outcomes() -> str:
    rows = [f"| `{word}` | {_OUTCOMES[word]} |\n" for word in OUTCOMES]
    return "".join(("| outcome | says |\n| --- | --- |\n", *rows))


def _events() -> str:
    rows = [f"| `{kind}` | {_link(cls)} | {_EVENTS[kind]} |\n" for kind, cls in EVENT_PAYLOADS.items()]
    return "".join(("| kind | payload | brings |\n| --- | --- | --- |\n", *rows))


def _contents() -> str:
    kinds = [f"| `{kind}` | `{named}` | {starts} | {text} |\n" for kind, (named, starts, text) in CONTENTS.items()]
    fields = [
        f"| {'every' if kind == '*' else f'`{kind}`'} | `{name}` | {form} | {meaning} |\n"
        for kind, held in HOLDS.items()
        for name, (form, meaning) in held.items()
    ]
    return "".join(
        (
            "| kind | `schema` | starts a turn | `text` |\n| --- | --- | --- | --- |\n",
            *kinds,
            "\n| kind | field | holds | means |\n| --- | --- | --- | --- |\n",
            *fields,
        )
    )


def _operations() -> str:
    head = "| operation | does | run | key | payload | answer |\n| --- | --- | --- | --- | --- | --- |\n"
    return "".join((head, *map(_operation_row, OPERATIONS.values())))


def _classes() -> str:
    parts = ["## Envelopes\n\nEach is sent with its `type`.\n"]
    parts.extend(_class(cls, f'`"type": "{name}"`') for name, cls in ENVELOPES.items())
    for title, classes in _sections():
        parts.append(f"\n## {title}\n")
        parts.extend(_class(cls) for cls in classes if attrs.fields(cls))
    return "".join(parts)


def _sections() -> Iterator[tuple[str, list[type]]]:
    payloads = _unique(each.payload for each in OPERATIONS.values())
    answers = _unique([*(cls for each in OPERATIONS.values() for cls in each.answers), *EVENT_PAYLOADS.values()])
    known = {*payloads, *answers, *ENVELOPES.values()}
    parts = set().union(*map(parts_of, known)) - known
    yield "Payloads", payloads
    yield "Answers", [each for each in answers if each not in payloads]
    yield "Parts of messages", sorted(parts, key=lambda each: each.__name__)


def _unique(classes: Iterable[type]) -> list[type]:
    return list(dict.fromkeys(classes))


def _operation_row(operation: Operation) -> str:
    key = "durable" if operation.receipt else "while the host lives" if operation.key is Needs.YES else ""
    run = {Needs.YES: "yes", Needs.MAY: "may", Needs.NO: ""}[operation.run]
    run += ", at a revision" if operation.expected else ""
    answer = " or ".join(map(_link, operation.answers)) + (", then events" if operation.streams else "")
    return f"| `{operation.name}` | {operation.does} | {run} | {key} | {_link(operation.payload)} | {answer} |\n"


def _class(cls: type, note: str = "") -> str:
    document, meanings = schema(cls), _meanings(cls)
    properties = document["properties"]
    assert isinstance(properties, dict)
    text = f"\n### {cls.__name__}\n\n{_plain(document['description'])}{f' {note}.' if note else ''}\n"
    rows = [
        f"| `{name}` | {_words(each)} | {_default(each)} | {meanings.get(name, '')} |\n"
        for name, each in properties.items()
    ]
    return f"{text}\n| field | holds | default | means |\n| --- | --- | --- | --- |\n{''.join(rows)}"


def _meanings(cls: type) -> dict[str, str]:
    """What the docstring of a class says of its fields."""
    text = inspect.getdoc(cls) or ""
    _, _, listed = text.partition("Attributes:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", listed, re.MULTILINE)
    return {name: _plain(" ".join(meaning.split())) for name, meaning in found}


def _plain(text: Any) -> str:
    return str(text).replace("``", "`").replace("|", "\\|")


def _default(given: Any) -> str:
    return f"`{json.dumps(given['default'], ensure_ascii=False)}`" if "default" in given else "needed"


def _words(given: Any) -> str:
    """A field's schema in words."""
    match given:
        case {"$ref": reference}:
            return f"[{reference.rpartition('/')[2]}](#{reference.rpartition('/')[2].lower()})"
        case {"anyOf": [inner, {"type": "null"}]}:
            return f"{_words(inner)}, or null"
        case {"enum": words}:
            return " / ".join(f"`{each}`" for each in words)
        case {"type": "array", "items": items, "maxItems": most}:
            return f"list of up to {most:,}: {_words(items)}"
        case {"type": "object", "additionalProperties": items, "maxProperties": most}:
            return f"object of up to {most:,}: {_words(items)}"
        case {"type": "string", "maxLength": most}:
            kind = "name" if "minLength" in given else "text"
            form = f", `{given['pattern'][4:-2]}`".replace("|", "\\|") if "pattern" in given else ""
            return f"{kind} of up to {most:,} bytes{form}"
        case {"type": "integer", "minimum": least, "maximum": most}:
            return f"whole number from {least:,}" + ("" if most == 2**63 - 1 else f" to {most:,}")
        case {"type": "number", "maximum": most}:
            return f"number from 0 to {most:,.0f}"
        case {"type": kind}:
            return str(kind)
        case _:
            return str(given.get("description", "any JSON value"))


def _link(cls: type) -> str:
    return f"[{cls.__name__}](#{cls.__name__.lower()})" if attrs.fields(cls) else "nothing"
