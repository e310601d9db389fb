"""Writes the pages of `docs/reference/` that follow from the code: `python docs/generate.py`. A test compares them."""

import inspect
import json
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import fields

from runwright.engine import errors as engine_errors
from runwright.engine.codes import COMMAND_CODES, HINTS, RUN_CODES
from runwright.engine.graph.codes import CODES as DEFINITION_CODES
from runwright.engine.protocol import errors as protocol_errors
from runwright.engine.protocol.contract import contract
from runwright.eventstore import errors as store_errors
from runwright.eventstore.events import event as events
from runwright.eventstore.events.registry import MODULES
from runwright.eventstore.transfer import errors as transfer_errors
from runwright.eventstore.verdict import PROBLEMS
from runwright.projections import errors as projection_errors
from runwright.projections.layout import CONTROL

REFERENCE = Path(__file__).parent / "reference"
TRANSITIONS = runpy.run_path(str(Path(__file__).with_name("transition_tables.py")))
PROTOCOL = runpy.run_path(str(Path(__file__).with_name("protocol_page.py")))
COMMAND_LINE = runpy.run_path(str(Path(__file__).with_name("command_line.py")))

_EVENTS_HEAD = """\
# Events

Every event that a log may hold. `data` is what the system decides by; it is hashed into the chain and never erased.
`body` is what people wrote or got; it is erasable, and the chain holds its salted digest. Each value of a body stands
with its media type. The last column names the control projections whose row an event changes: at most one row of each.

Every event also carries its position, stream and version in it, time, actor, the claim's generation, and the key of the
command that caused it. Streams are `run/<run ID>`, `session/<id>`, `definition/<digest>`, `sources/<digest>`,
`command/<client>/<key>`, `host` and `log`.
"""

_ERRORS_HEAD = """\
# Errors

Every error has a stable code, says one sentence, and names the next step. With `--json` it is
`{"error": {"code", "message", "hint"}}`; in Python it is an exception with `code`, `message` and `hint`. No message
holds a private value.
"""


def events_reference() -> str:
    """The text of `docs/reference/events.md`."""
    parts = [_EVENTS_HEAD]
    for module in sorted(MODULES, key=lambda each: each.__name__):
        classes = [
            each
            for each in vars(module).values()
            if inspect.isclass(each) and issubclass(each, events.Event) and each.__module__ == module.__name__
        ]
        parts.append(f"\n## {module.__name__.rpartition('.')[2]}\n\n{module.__doc__}\n")
        parts.append("\n| event | means | data | body | touches |\n| --- | --- | --- | --- | --- |\n")
        parts.extend(_event_row(each) for each in classes)
    return "".join(parts)


def _event_row(cls: type[events.Event]) -> str:
    private = events.body_fields(cls)
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # every event class is an attrs class
    data = ", ".join(f"`{name}`" for name in names if name not in private)
    body = ", ".join(f"`{name}`" for name in names if name in private)
    touches = ", ".join(each.name for each in CONTROL if cls.type in each.listens)
    return f"| `{cls.type}` | {_first_sentence(cls)} | {data or '-'} | {body or '-'} | {touches or '-'} |\n"


def errors_reference() -> str:
    """The text of `docs/reference/errors.md`."""
    parts = [_ERRORS_HEAD]
    parts.append("\n## How runs end, and why starts are refused\n\n| code | next step |\n| --- | --- |\n")
    parts.extend(_code_rows(RUN_CODES))
    parts.append("\n## Refused commands\n\n| code | next step |\n| --- | --- |\n")
    parts.extend(_code_rows(COMMAND_CODES))
    parts.append("\n## What `check` finds\n\n| code | when |\n| --- | --- |\n")
    parts.extend(f"| `{code}` | {_cell(meaning)} |\n" for code, meaning in sorted(DEFINITION_CODES.items()))
    for title, module in (
        ("The store", store_errors),
        ("Exports, imports and backups", transfer_errors),
        ("Projections and queries", projection_errors),
        ("The engine", engine_errors),
        ("Between a client and a host", protocol_errors),
    ):
        parts.append(f"\n## {title}\n\n| code | when |\n| --- | --- |\n")
        parts.extend(f"| `{code}` | {meaning} |\n" for code, meaning in _coded(module))
    parts.append("\n## What a verification finds\n\nThe `problem` of a fault.\n\n| problem | means |\n| --- | --- |\n")
    parts.extend(f"| `{problem}` | {meaning} |\n" for problem, meaning in PROBLEMS.items())
    parts.append(COMMAND_LINE["codes_table"]())
    return "".join(parts)


def client_schema() -> str:
    """The text of `docs/reference/client.v1.schema.json`."""
    return json.dumps(contract(), indent=2, ensure_ascii=False) + "\n"


def _code_rows(codes: Iterable[str]) -> Iterator[str]:
    for code in sorted(codes):
        yield f"| `{code}` | {_cell(HINTS[code])} |\n"


def _coded(module: object) -> Iterator[tuple[str, str]]:
    """Name the codes that a module's error classes bring, each with its first sentence."""
    seen: set[str] = {*RUN_CODES, *COMMAND_CODES}
    for cls in vars(module).values():
        if inspect.isclass(cls) and issubclass(cls, Exception) and cls.__module__ == getattr(module, "__name__", ""):
            code = cls.__dict__.get("code")
            if isinstance(code, str) and code not in seen:
                seen.add(code)
                yield code, _first_sentence(cls)


def _first_sentence(cls: type) -> str:
    text = inspect.getdoc(cls) or ""
    return _cell(" ".join(text.partition("\n\n")[0].split()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {
    "events.md": events_reference,
    "errors.md": errors_reference,
    "cli.md": COMMAND_LINE["cli_reference"],
    "transitions.md": TRANSITIONS["transitions_reference"],
    "protocol.md": PROTOCOL["protocol_reference"],
    "client.v1.schema.json": client_schema,
    "settings.md": COMMAND_LINE["settings_reference"],
}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
