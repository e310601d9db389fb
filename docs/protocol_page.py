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

#: Whether a kind of message starts a turn, what its content holds beside `schema`, `messageId`, `runId` and `workflow`,
#: and what its text is; a test compares it with messages that runs wrote.
CONTENTS: dict[str, tuple[str, dict[str, str], str]] = {
    "step": (
        "yes",
        {
            "requestId": "",
            "contract": "the JSON Schema of an answer",
            "kind": "`agent`: takes `request.submit`; `assistant`: takes the text that its turn ended with",
            "node": "",
            "visit": "",
            "attempt": "",
            "reason": "`initial`, `resumed` or `reminder`",
        },
        "what is asked",
    ),
    "decision": (
        "no",
        {
            "requestId": "",
            "kind": "`decision` or `checkpoint`",
            "presentation": "title, facts and choices, for people",
            "digest": "what a decision is bound to",
            "deadline": "",
            "protected": "whether a checkpoint takes a person's answer alone",
            "contract": "",
            "node": "",
            "visit": "",
            "attempt": "",
        },
        "the question, for whoever may answer it",
    ),
    "notification": ("no", {"kind": "`interim` or `final`", "node": ""}, "what the run tells"),
    "launch_failure": ("yes", {"state": "`failed`", "code": "", "message": ""}, "why a run never began"),
    "terminal": (
        "with instructions",
        {
            "outcome": "",
            "code": "",
            "message": "",
            "finishedAt": "",
            "result": "quoted as data",
            "error": "quoted as data",
            "earlier": "the same of the runs that it carried on",
            "earlierLeftOut": "",
            "instructions": "",
        },
        "how a run ended, and the instructions",
    ),
    "follow_up": ("yes", {}, "what was left for after the end"),
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
    rows = []
    for kind, (starts, held, text) in CONTENTS.items():
        fields = ", ".join(f"`{name}`" + (f" ({meaning})" if meaning else "") for name, meaning in held.items())
        rows.append(f"| `{kind}` | {starts} | {fields or 'nothing'} | {text} |\n")
    return "".join(("| kind | starts a turn | holds also | `text` |\n| --- | --- | --- | --- |\n", *rows))


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
